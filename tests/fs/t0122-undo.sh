#!/bin/bash
# What was deleted, overwritten or dropped by mistake comes back by one command,
# of a store that is mounted, free or served, and is then what it was.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	stop_mount 2>/dev/null
}
export TABLETFS_STORE=$store

# What the store shows, as one hash.
state() { T dump | sha1sum; }
# The present, behind which something is to go wrong.
mark() {
	sleep 1.1
	now=$(date -u -Is)
	was=$(state)
}
# What a restore has said of rows.
counts() { sed -n 's/^As of 20.*Z: //p' out; }
# undone NAME COMMAND...: the mistake shows, and one command undoes it.
undone() {
	local name=$1
	shift
	check "$name: it was one" [ "$(state)" != "$was" ]
	status 0 "$name: undone" T "$@"
	same "$name: equal to before" "$was" "$(state)"
}

# The setting.
start_mount
same "a new store keeps a day" "keep 1d max data" "$(T history | head -n 2 | xargs)"
check "with its first moment at once" grep -q '^oldest 20' <(T history)
T history off
same "none is kept if that was said" off "$(T history)"
remount
same "for good" off "$(T history)"
check "nor a figure of it" sh -c "! grep -q history '$m/.tabletfs/stats'"
status 1 "so there is no past" T read t as-of=1m
told "no history is kept; tabletfs history 24h begins it"
for wrong in 24 0h forever; do
	status 1 "history $wrong" T history "$wrong"
	told "\"$wrong\": history is kept for a time like 24h, or is off"
done
status 1 "a size that is none" T history 24h max=much
told "max=much: not a number, such as 512M"
T history 24h max=1G
same "it is set" "keep 1d max 1073741824 bytes" \
	"$(T history | head -n 3 | sed 's/bytes.*/bytes/' | xargs)"
check "with its first moment" sh -c "'$TABLETFS' history |
	grep -q '^oldest 20.*Z$'"
check "figures tell of it" grep -q '^history_bytes [0-9]' "$m/.tabletfs/stats"
remount
same "it stays" "keep 1d" "$(T history | head -n 1)"
stop_mount
same "also of a store at rest" "keep 1d" "$(T history | head -n 1)"
T history 48h
same "where it is set, too" "keep 2d max data" "$(T history | head -n 2 | xargs)"
start_mount

# Good data: versions, aggregates, a large value, names of any kind.
T createtable t 'families=f,v:never,n:never:intsum,u:never:inthll' || exit 1
for i in $(seq 200); do
	printf '{"row":"r%03d","set":{"f":{"q":"%d","e":""}}}\n' "$i" "$i"
done >"$m/t/.mutate"
for at in 1 2 3 4 5; do
	T set t r001 "v:q=$at@$at"
	T addtocell t r001 "n:c=$at@1000" "n:d=$at@$((at * 1000))" "u:c=$at@1000"
done
head -c 300000 /dev/urandom >"$m/t/r002/f/large"
head -c 3000000 /dev/urandom >large
cp large "$m/t/r002/f/larger"
T compact

# rm -r.
mark
rm -r "$m"/t/r00*
undone "rm -r" restore t as-of="$now"
same "all rows came back" "9 rows restored, 0 deleted" "$(counts)"
same "also as files" 54321 \
	"$(cd "$m/t/r001/v/.versions/q" && ls -U | xargs cat)"
check "with large values" cmp large "$m/t/r002/f/larger"
status 0 "there is nothing more to be undone" T restore t as-of="$now"
same "nor is anything written" "0 rows restored, 0 deleted" "$(counts)"

# What is gone from the files.
mark
T deleteallrows t
T compact
same "there is nothing" 0 "$(T count t)"
same "but in the past" 200 "$(T count t as-of="$now")"
same "a row of it" "$(printf 'f:e=\nf:q=7')" "$(T lookup t r007 as-of="$now" |
	sed -n 's/^  \(f:.\) .*/\1/p; s/^    "\(.*\)"/\1/p' | paste -d= - - )"
undone "deleteallrows" restore t as-of="$now"

# Parts of it.
mark
rm -r "$m/t/r005" "$m/t/r006" "$m/t/r007"
echo new >"$m/t/r008/f/q"
mkdir -p "$m/t/r008b/f" && echo new >"$m/t/r008b/f/q"
T restore t as-of="$now" key=r005 >/dev/null
check "one row" [ -d "$m/t/r005" ]
check "and no other" [ ! -e "$m/t/r006" ]
T restore t as-of="$now" prefix=r006 >/dev/null
check "a prefix" [ -d "$m/t/r006" ]
status 0 "what is left differs" T diff t from="$now" to="$now"
status 1 "which diff tells" T diff t from="$now"
same "by rows" "- r007 - r007 + r008 + r008b" "$(cut -d ' ' -f 1,2 out |
	tr -d '"' | xargs)"
same "of a range" 1 "$(T diff t from="$now" start=r008b | wc -l)"
undone "the rest" restore t as-of="$now" start=r007 end=r009
same "one row had come" "2 rows restored, 1 deleted" "$(counts)"

# A policy.
mark
T setgcpolicy t v maxversions=1
T compact
same "versions are gone" 1 "$(versions t/r001/v q)"
undone "a wrong policy" restore t as-of="$now"
same "it is told" 'family "v": again bytes never' "$(head -n 1 out)"
mark
T setgcpolicy t v maxversions=2
status 0 "rows alone leave it" T restore t as-of="$now" key=r001
same "and tell what it was" 'family "v": keeps its policy, which was bytes never' \
	"$(head -n 1 out)"
undone "until all rows are restored" restore t as-of="$now"

# A family.
mark
T deletefamily t n
T compact
undone "a dropped family" restore t as-of="$now"
same "it is told, too" 'family "n": made again, intsum never' \
	"$(head -n 1 out)"
mark
T deletefamily t n
T createfamily t n
status 1 "one of another type" T restore t as-of="$now"
told 'family "n" had the type intsum and has bytes now; after deletefamily it'
T deletefamily t n
undone "after that" restore t as-of="$now"

# What was added is taken back, and nothing added twice.
mark
T addtocell t r001 n:c=100@1000 n:d=7@9000 u:c=77@1000
undone "sums" restore t as-of="$now"

# An import above good data.
mark
seq 200 | sed 's/.*/r&,wrong/; s/^r\(.\),/r00\1,/; s/^r\(..\),/r0\1,/' \
	>wrong.csv
T import t wrong.csv format=csv key='{id}' set='f:q {v}' header=names:id,v \
	quiet=yes >/dev/null
T compact
undone "an import" restore t as-of="$now"

# A table.
mark
stop_mount
start_mount
rm -r "$m"/t/r1* && T deletetable t
T compact
T history >before
same "the mount has it no more" "" "$(ls "$m")"
status 1 "nothing is restored into none" T restore t as-of="$now"
told 'table "t" not found; undelete brings back one that was dropped'
status 0 "it comes back" T undelete t
same "as it was before the drop" 100 "$(T count t)"
undone "and as it was before that" restore t as-of="$now"
mark
T deletetable t
undone "a dropped table" undelete t
rm -r "$m/t"
undone "rm -r of a table" undelete t as-of="$now"
rm -r "$m/t"
status 0 "without a time it is empty" T undelete t
told "It had no row when it was dropped; tabletfs restore t as-of=TIME brings back"
undone "rm -r, in two steps" restore t as-of="$now"
T deletetable t
T createtable t families=other
status 1 "not by a name that is taken" T undelete t
told 'there is a table "t"; as= brings one that was dropped back under another name, and restore rows of this one'
T undelete t as=back >/dev/null
same "but by another" 200 "$(T count back)"
T deletetable t
T deletetable back
undone "even then" undelete t as-of="$now"
status 1 "what never was" T undelete nothing
told 'history has no table "nothing" that was dropped'
status 1 "a name that is none" T undelete t as=a/b
told 'a table cannot come back as "a/b"'
# A protected one, and one that is killed while it comes back.
mark
T protect t on
mark
T protect t off
T deletetable t
undone "a protected table" undelete t as-of="$now"
same "it is protected" yes "$(T protect t)"
T protect t off
seq 100000 | sed 's/.*/{"row":"&","set":{"f":{"q":"&"}}}/' >many.jsonl
T createtable many families=f && cat many.jsonl >"$m/many/.import/jsonl"
T protect many on
mark
stop_mount
# At any time of what it takes, which is measured by one that goes on.
T protect many off && T deletetable many
begun=${EPOCHREALTIME/./}
T undelete many as-of="$now" >/dev/null
took=$((${EPOCHREALTIME/./} - begun))
for i in $(seq 50); do
	T protect many off && T deletetable many
	"$TABLETFS" undelete many as-of="$now" >/dev/null 2>&1 &
	undeleting=$!
	sleep "$(awk "BEGIN { print $took * $i / 5e7 }")"
	kill -9 $undeleting 2>/dev/null
	wait $undeleting 2>/dev/null
	T ls >tables
	grep -qx many.partial tables && break
	grep -qx many tables || T undelete many as-of="$now" >/dev/null
done
check "one that was killed leaves something" grep -qx many.partial tables
undone "a killed one" undelete many as-of="$now"
check "after which nothing of it is left" sh -c "! '$TABLETFS' ls | grep partial"
same "all rows are there" 100000 "$(T count many)"
start_mount
T protect many off
T deletetable many
for verb in "read t as-of" "restore t as-of" "dump as-of" "undelete back as-of"; do
	status 1 "$verb a time to come" T $verb=2262-01-01T00:00:00Z
	told "2262-01-01T00:00:00Z is a time to come"
done
status 2 "diff from a time to come" T diff t from=2262-01-01T00:00:00Z
status 0 "the oldest moment" T dump as-of=oldest
same "by its name" "$(T dump as-of="$(T history | sed -n 's/^oldest //p')" | sha1sum)" \
	"$(T dump as-of=oldest | sha1sum)"

# Of a store at rest, and a restore undone by a restore.
stop_mount
mark
rest=$now
T deleterow t r010
undone "at rest" restore t as-of="$now"
T set t r010 f:q=better
mark
T restore t as-of="$rest" >/dev/null
undone "a restore" restore t as-of="$now"
mark
T deletetable t
undone "a table at rest" undelete t
status 0 "the store is sound" T check

# A backup has the setting, and nothing of the past; who looks at it changes
# nothing.
T backup backups >/dev/null
same "a backup has the setting" "keep 2d max data bytes 0 oldest -" \
	"$("$TABLETFS" -store backups/latest history | xargs)"
status 1 "and no past" "$TABLETFS" -store backups/latest read t as-of=1s
status 0 "it is one still" "$TABLETFS" restore-from backups restored
same "as is what is made of it" "keep 2d" \
	"$("$TABLETFS" -store restored history | head -n 1)"

# Through a server.
serve
mark
T deleterows t prefix=r01
undone "of a server" restore t as-of="$now"
stop

# What is too old, and the end of it.
status 1 "before the oldest moment" T read t as-of=1000000
told "history begins at 20"
status 1 "or for a restore" T restore t as-of=30h
told "history begins at 20"
status 1 "a time that is none" T restore t as-of=yesterday
told '"yesterday": a time is like'
status 1 "restore wants one" T restore t prefix=r
told "usage: tabletfs restore"
status 2 "so does diff" T diff t prefix=r
T deleteallrows t
T compact
check "history takes space" [ "$(T history | sed -n 's/bytes //p')" -gt 10000 ]
size=$(du -sk --apparent-size "$store" | cut -f 1)
T history off
same "which off gives back" off "$(T history)"
left=$(du -sk --apparent-size "$store" | cut -f 1)
check "at once: $size, then $left" [ $((size - left)) -gt 3000 ]
status 1 "and the past is no more" T restore t as-of="$now"
told "no history is kept"

# What goes within a thousandth of a second after one began was there then.
store=$work/edge
start_mount || exit 1
mkdir -p "$m/t/r/f"
cat >edge.py <<'PYTHON'
import os, sys, time
for i in range(5):
    path = f"{sys.argv[1]}/q{i}"
    with open(path, "w") as f:
        f.write("good")
    second = int(time.time()) + 1
    while time.time() < second:
        pass
    os.unlink(path)
    print(i, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second)))
PYTHON
python3 edge.py "$m/t/r/f" >seconds
while read -r i second; do
	check "it is there at $second" sh -c "'$TABLETFS' -store '$store' lookup \
		t r as-of=$second columns=f:q$i | grep -q good"
done <seconds
stop_mount
finish
