#!/bin/bash
# A dump is all that a store shows, mounted or not, and loads to the same; one
# that is cut off, damaged or could not be written is told and leaves nothing
# that looks whole.
. "$(dirname "$0")/lib.sh"

T createtable odd "families=f,g:maxversions=2,n:never:intsum,h:never:inthll"
T createtable old "families=f:maxage=1h||maxversions=1" granularity=millis
T createtable empty
T addtocell odd total n:a=5@1 n:a=7@1 n:b=-3 h:who=1@5 h:who=2@5
T set old r f:q=gone@1000
python3 - >odd.jsonl <<'PY'
import base64, json, random
r = random.Random(1)
def b(x):
    try:
        return x.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(x).decode()}
keys = [b"a", b"a\0", b"\0", b"\xff\xff", b"line\nline", b"cr\r\n", b" blank ",
        b"'", b"=", b"\\x00", b'"q",', "\u00e9\U0001f600".encode(),
        b"%41", b"..", b"end 1 1 1", b"k" * 4096, bytes(range(256))]
for i, k in enumerate(keys):
    q = base64.b64encode(bytes([i]) * 16384 if i == 3 else k).decode()
    print(json.dumps({"row": b(k), "set": {
        "f": {"base64:" + q: {"base64": base64.b64encode(k).decode()}, "": ""},
        "g": {"v": [{"value": "3", "timestamp": 3}, {"value": "2",
            "timestamp": 2}, {"value": "1", "timestamp": 9223372036854775807}]}}}))
# So many in one write that the store has some of them as it has large ones.
print(json.dumps({"row": "many", "set": {"f": {
    "%04d" % i: "m" * 2000 for i in range(3000)}}}))
print(json.dumps({"row": "large", "set": {"f": {
    "random": {"base64": base64.b64encode(r.randbytes(5000001)).decode()},
    "text": "\u00e4\n" * 200000, "edge": "e" * 49153, "chunk": "c" * 1048576}}}))
PY
check "odd keys come in" T import odd odd.jsonl quiet=yes >/dev/null
# What read shows of all tables, values too.
shown() {
	for t in odd old empty; do
		"$TABLETFS" -store "$1" ls $t && "$TABLETFS" -store "$1" read $t
	done | sha256sum
}
before=$(shown "$store")

check "a dump" T dump whole
same "its first line" "tabletfs-dump 1" "$(head -n 1 whole)"
check "its last line" grep -qE '^end 3 20 [0-9]+ [0-9a-f]{16}$' <(tail -n 1 whole)
said=$("$TABLETFS" load whole loaded)
same "what was loaded is told" "$(tail -n 1 whole | cut -d' ' -f2-4)" \
	"$(echo "$said" | tr -dc '0-9 \n' | xargs)"
same "it shows the same" "$before" "$(shown loaded)"
check "and is sound" "$TABLETFS" -store loaded check >/dev/null
check "a dump of that is the same text" \
	cmp -s whole <("$TABLETFS" -store loaded dump)
refuse "its place is taken" "$TABLETFS" load whole loaded
refuse "what is no dump" "$TABLETFS" load odd.jsonl none
refuse "a dump that is not there" "$TABLETFS" load nothing none
refuse "nothing of these is left" ls -d none none.partial

# Compressed by the name, whatever its case.
for suffix in gz lz4 zst xz BZ2; do
	check "a dump as $suffix" T dump "small.$suffix"
	refuse "$suffix is no text" cmp -s -n 8 whole "small.$suffix"
	check "$suffix loads" "$TABLETFS" load "small.$suffix" from >/dev/null
	check "$suffix has all" cmp -s whole <("$TABLETFS" -store from dump)
	rm -rf from
done
check "gzip takes it" gzip -t small.gz
check "from a pipe" sh -c "zstd -dc small.zst | '$TABLETFS' load - from >/dev/null"
rm -rf from

# Not whole: at each of some places, and with a byte that is another.
size=$(stat -c %s whole)
for at in 0 1 15 16 100 1000 $((size / 2)) $((size - 1)); do
	head -c $at whole >cut
	refuse "cut at $at" "$TABLETFS" load cut none
done
check "the line is told" grep -q "cut off behind line" \
	<("$TABLETFS" load cut none 2>&1)
sed 's/line\\nline/line\\nlime/' whole >changed
check "a changed byte is told" grep -q "hash is not" \
	<("$TABLETFS" load changed none 2>&1)
head -c 300000 small.gz >cut.gz
refuse "a gzip that is cut" "$TABLETFS" load cut.gz none
refuse "nothing of them is left" ls -d none none.partial

# What cannot be written. A file that was there stays.
echo before >kept
for name in kept kept.gz kept.xz; do
	cp -f kept $name 2>/dev/null
	(
		ulimit -f 1000
		T dump $name 2>told
	) && fail "$name beyond the limit" || pass
	check "$name: it is told" grep -q "$name.*File too large" told
	same "$name is as it was" before "$(cat $name)"
done
refuse "and nothing beside it" ls kept.partial
refuse "a full device" T dump /dev/full
(
	trap '' PIPE
	T dump 2>told
	echo $? >status
) | head -c 10 >out
check "a reader who leaves is told" grep -q "standard output" told
same "and fails it" 1 "$(cat status)"
refuse "a directory" T dump .
touch private
chmod 600 private
check "a private file" T dump private
same "stays private" 600 "$(stat -c %a private)"
echo theirs >taken.partial
status 1 "a file of the user's" T dump taken
told "taken.partial is there, and is nothing that such a command has left"
same "which stays" theirs "$(cat taken.partial)"
chmod 1600 taken.partial
exec 7<taken.partial
flock 7
status 1 "a name that another writes" T dump taken
check "who is told" grep -qE "taken.partial: (another )?process .*writes it" err
same "whose file stays, too" theirs "$(cat taken.partial)"
exec 7<&-
status 0 "what a kill left is removed" T dump taken
told "taken.partial was left by a command that was killed"
check "and has all" cmp whole taken
same "and the rights of a new file" "$(stat -c %a whole)" "$(stat -c %a taken)"
refuse "and its name" ls taken.partial
ln -s whole link.partial
refuse "a link is nothing that was left" T dump link
mkdir -p none.partial/sub
refuse "nor is a directory" "$TABLETFS" load whole none
mkdir -m 1700 none.partial/store
refuse "nor is what only has such a part" "$TABLETFS" load whole none
rm -r none.partial link.partial

# A signal ends it, and what was begun: here a program waits, or the input.
mkdir slow
printf '#!/bin/sh\nexec sleep 1000\n' >slow/zstd
chmod +x slow/zstd
# until COMMAND...: tries it for a while.
until_so() {
	for i in $(seq 600); do
		"$@" 2>/dev/null && return
		sleep 0.05
	done
	fail "never: $*"
}
stops() {
	local way=$1
	shift
	for number in TERM INT; do
		PATH=$work/slow:$PATH env --default-signal=INT "$TABLETFS" \
			-store "$store" "$@" stopped.zst 2>err & writer=$!
		until_so test -e stopped.zst.partial
		sleep 0.3
		kill -$number $writer
		wait $writer
		same "$way: SIG$number" 1 $?
		told "stopped by SIG$number"
		refuse "$way: nothing is left" ls stopped.zst stopped.zst.partial
	done
}
stops "a dump" dump
stops "an export" export odd
mkfifo input
# begin: a load that has a part of its input.
begin() {
	env --default-signal=INT "$TABLETFS" load input loading \
		2>loader.err &
	loader=$!
	exec 7>input
	head -c 300000 whole >&7
	until_so test -e loading.partial/store/lock
}
begin
status 1 "a load of the same name" "$TABLETFS" load whole loading
told "loading.partial: process $loader makes it; wait for its end"
kill -INT $loader
wait $loader
same "a load that is stopped" 1 $?
exec 7>&-
check "is told" grep -q "stopped by SIGINT" loader.err
refuse "leaves nothing" ls -d loading loading.partial
begin
kill -KILL $loader
wait $loader 2>/dev/null
exec 7>&-
check "a kill leaves a part" ls loading.partial >/dev/null
status 0 "which is removed" "$TABLETFS" load whole loading
told "loading.partial was left by a command that was killed"
refuse "all of it" ls -d loading.partial loading.partial.*
check "and it is whole" cmp -s whole <("$TABLETFS" -store loading dump)
# Who waits for the store has not begun.
mkfifo lines
"$TABLETFS" -store "$store" import odd lines format=jsonl quiet=yes 2>/dev/null &
holder=$!
exec 7>lines
until_so grep -q "pid $holder" "$store/lock"
for words in "2 import odd odd.jsonl" "1 dump never" "1 export odd never"; do
	rm -f err
	"$TABLETFS" -store "$store" ${words#* } 2>err & waiter=$!
	until_so grep -q "waiting for the end" err
	kill -TERM $waiter
	wait $waiter
	same "${words#* }: a signal while it waits" ${words%% *} $?
	told "stopped by SIGTERM before it began"
done
refuse "and has made nothing" ls never never.partial
exec 7>&-
wait $holder

# While it is mounted: one moment, and no room in the daemon's place for files.
start_mount
check "a dump through the mount" T dump mounted
check "is the same text" cmp -s whole mounted
check "by the place of the mount" cmp -s whole \
	<("$TABLETFS" -store "$m" dump)
check "compressed" sh -c "'$TABLETFS' -store '$store' dump m.gz && zcat m.gz |
	cmp -s whole"
(
	ulimit -f 1000
	T dump kept 2>told
) && fail "beyond the limit" || pass
same "told once" 1 "$(wc -l <told)"
same "the file is as it was" before "$(cat kept)"
stops "a dump of a mount" dump
stops "an export of a mount" export odd
mkfifo fifo
T dump fifo &
reader=$!
exec 5<fifo
head -c 70000 <&5 >first
mkdir -p "$m/odd/zzz/f"
echo late >"$m/odd/zzz/f/late"
T deleterow odd large
cat <&5 >rest
exec 5<&-
wait $reader
check "what changes meanwhile is not in it" cmp -s whole <(cat first rest)
# Who goes away leaves nothing pinned; what is dropped meanwhile is in it.
T dump fifo 2>/dev/null &
dumper=$!
exec 5<fifo
head -c 10 <&5 >first
kill -KILL $dumper
exec 5<&-
wait $dumper 2>/dev/null
T import odd odd.jsonl quiet=yes >/dev/null 2>/dev/null
T dump before >/dev/null
T dump fifo &
dumper=$!
exec 5<fifo
head -c 70000 <&5 >first
T deletetable odd
T createtable odd families=other
T compact
cat <&5 >rest
exec 5<&-
wait $dumper
same "a table that is dropped" 0 $?
check "is all in it" cmp -s before <(cat first rest)
# The daemon ends while one reads.
T dump fifo 2>told &
dumper=$!
exec 5<fifo
head -c 10 <&5 >first
kill -TERM "$daemon"
await_end
cat <&5 >rest
exec 5<&-
wait $dumper
check "the store is sound" T check >/dev/null
