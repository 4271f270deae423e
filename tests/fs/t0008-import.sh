#!/bin/bash
# Streams of rows into .import: what is taken, what is refused, and a kill.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/.schema/f" 2>/dev/null || { mkdir "$m/t"; mkdir "$m/t/.schema/f"; }
i=$m/t/.import

figure() {
	sed -n "s/^$1 //p" "$i/last"
}

printf ',f,\n,a,b\nr1,1,2\nr2,3,\n' >in.csv
check "CSV" cp in.csv "$i/csv"
same "its cells" "1 2 3" "$(cat "$m"/t/r[12]/f/* | sed 's/./& /g' | xargs)"
same "last: rows" 2 "$(figure rows)"
same "last: cells" 3 "$(figure cells)"
same "last: refused" 0 "$(figure refused)"
same "last: state" "csv done" "$(figure format) $(figure state)"
printf '\tf\n\ta\nr3\tx\\ty\n' >"$i/tsv" && pass || fail "TSV"
same "its cell" "$(printf 'x\ty')" "$(cat "$m/t/r3/f/a")"

printf '%s\n' '{"row":"j1","set":{"f":{"q":"1"}}}' 'nonsense' \
	'{"row":"j2","set":{"nofamily":{"q":"1"}}}' \
	'{"row":"j3","set":{"f":{"q":"3"}}}' >in.jsonl
refuse "close fails when lines were refused" cp in.jsonl "$i/jsonl"
same "the rest is taken" "1 3" "$(cat "$m"/t/j*/f/q | sed 's/./& /g' | xargs)"
same "and the refused are counted" 2 "$(figure refused)"
check "with number" grep -q '^line 2: ' "$i/last"
check "and reason" grep -q '^line 3: .*nofamily' "$i/last"
check "in errors, too" grep -q 'refused' "$m/.tabletfs/errors"
refuse "a bad header" sh -c "printf 'x,f\n,a\n' >'$i/csv'"
(cat in.csv; printf 'r9,9,9\n') >"$i/csv" && pass || fail "two writers"
same "one stream of two programs" 9 "$(cat "$m/t/r9/f/a")"
printf '{"row":"last","set":{"f":{"q":"no newline"}}}' >"$i/jsonl" &&
	pass || fail "no newline"
same "a last line without newline" "no newline" "$(cat "$m/t/last/f/q")"
# After ftruncate to 0 no close takes a part of a line, until another length.
cat >cut.py <<'PYTHON'
import os, sys
def send(*steps):
    out = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
    os.write(out, b",q\n")
    for step in steps:
        if isinstance(step, int):
            os.ftruncate(out, step)
        else:
            os.write(out, step)
    os.close(out)
send(b"cut1,1\ncut2,2", 0)
send(0, b"cut3,3\n", b"cut4,4")
send(b"cut5,", 0, b"5", 1)
PYTHON
check "imports that are cut" python3 cut.py "$i/family/f/csv"
same "what is whole of them" "1 3 5" \
	"$(cat "$m"/t/cut*/f/q | sed 's/./& /g' | xargs)"
# What ends with a newline may go on, so no close ends it: but what waits there
# for more, and is wrong as it is, each close of its writer tells.
printf ',f\n,q\nv1,"2 inch\nv2,x\n' >quote.csv
missing='line 3.* line 5, column 1: extraneous or missing " in quoted-field'
for way in csv on-error/stop/csv; do
	errno EINVAL cp quote.csv "$i/$way"
	check "$way: why" grep -q "/$way: .*$missing" \
		"$m/.tabletfs/errors"
	errno EINVAL dd if=quote.csv of="$i/$way" conv=notrunc,fsync
	errno EINVAL sh -c "cat quote.csv >'$i/$way'"
done
printf ',f,,\n' >half.csv
errno EINVAL cp half.csv "$i/csv"
check "half a header is told" grep -q 'columns header reader error:EOF' \
	"$m/.tabletfs/errors"
# A shell closes duplicates of what it goes on writing to.
exec 3>"$i/csv"
printf ',f\n,q\nv3,"1\n' >&3
check "why so far" grep -q "^error ${missing/line 5/line 4}" "$i/last"
check "goes on" printf '2"\nv4,"1\n' >&3
echo '2"' >&3
same "is whole again" "" "$(grep ^error "$i/last")"
exec 3>&-
same "its cells" "1 21 2" "$(cat "$m"/t/v[34]/f/q | xargs)"
exec 3>"$i/jsonl"
echo '{"row":"live","set":{"f":{"q":"1"}}}' >&3
same "a complete line is there at once" 1 "$(cat "$m/t/live/f/q")"
check "fsync" python3 -c 'import os; os.fsync(3)' 3>&3
exec 3>&-
refuse "import is not read" cat "$i/csv"

# Steps: one family for all, times in the values.
f=$i/family/f
printf ',a,b\ns1,1@5,2@6\ns2,3@x,\n' >one.csv
check "one family" cp one.csv "$f/csv"
same "has times in values" "1@5 2@6 3@x" "$(cat "$m"/t/s[12]/f/* |
	sed 's/@./& /g' | xargs)"
check "with its times" cp one.csv "$f/timestamp/value-encoded/csv"
same "in a family" "5" "$(ls "$m/t/s1/f/.versions/a" | tail -1)"
check "in the other order" cp one.csv "$i/timestamp/now/family/f/csv"
printf ',f\n,a\ns3,4@7\n' >in.csv
check "with its families" cp in.csv "$i/timestamp/value-encoded/csv"
same "a time" 7 "$(ls "$m/t/s3/f/.versions/a")"
same "last is of the table" 1 "$(figure rows)"
errno ENOENT ls "$i/timestamp/then"
errno ENOENT ls "$i/timestamp/now/timestamp"
errno ENOENT ls "$f/family"
errno ENOENT ls "$f/jsonl"
errno ENOENT ls "$f/last"
same "each step once" "csv on-error timestamp tsv" "$(ls "$f" | xargs)"
errno ENOENT ls "$i/on-error/refuse"
printf '{"row":"%s","set":{"%s":{"q":"1"}}}\n' s5 f s6 nope s7 f >stop.jsonl
errno ENOENT cp stop.jsonl "$i/on-error/stop/jsonl"
same "the first wrong line is its end" s5 "$(ls "$m/t" | grep '^s[567]')"
check "which its report tells" grep -qx 'error unknown family "nope"' "$i/last"
refuse "an unknown family" cp one.csv "$i/family/nope/csv"
check "is told" grep -q '^line 2: unknown family "nope"' "$i/last"
check "a walk through .import ends" sh -c "find '$i' >/dev/null"

# A daemon killed in the middle of an import: every line that a write took is
# there, none by half. With 2 MiB in a second it would become a bulk load,
# whose lines are there after fsync: so it slows down before that.
cat >feed.py <<'PYTHON'
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY)
acknowledged = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
n = 0
while True:
    count = 100 if n < 40000 else 1
    time.sleep(0 if n < 40000 else 0.001)
    lines = b"".join(
        b'{"row":"k%07d","set":{"f":{"a":"%d","b":"%d"}}}\n' % (i, i, i)
        for i in range(n, n + count))
    try:
        if os.write(fd, lines) != len(lines):
            break
    except OSError:
        break
    n += count
    os.pwrite(acknowledged, b"%d\n" % n, 0)
PYTHON
python3 feed.py "$i/jsonl" acknowledged &
feeder=$!
until n=$(cat acknowledged 2>/dev/null); [ "${n:-0}" -gt 20000 ]; do
	read -rt 0.01 <> <(:)
done
kill -KILL "$daemon"
await_end
wait "$feeder"
check "remount after kill -9" start_mount
count=$(cat "$m/t/.scan/prefix/k/count")
n=$(cat acknowledged)
check "every acknowledged line ($n) is there ($count)" [ "$count" -ge "$n" ]
cat "$m/t/.scan/prefix/k/jsonl" >rows
same "no row by half" "$count" "$(grep -c '"a".*"b"' rows)"

# A stream that goes by bulk load and falls silent: what it has sent is soon seen
# and survives the daemon; then it goes on, and its half a line becomes a whole.
cat >stream.py <<'PYTHON'
import os, sys, time
table, kept = sys.argv[1:]
count = table + "/.scan/prefix/stream/count"
fd = os.open(table + "/.import/jsonl", os.O_WRONLY)

def lines(begin, end):
    return b"".join(b'{"row":"stream%07d","set":{"f":{"q":"%d"}}}\n' % (i, i)
                    for i in range(begin, end))

def await_rows(n):
    began = time.monotonic()
    while int(open(count).read()) != n:
        assert time.monotonic() - began < 10, open(count).read()
        time.sleep(0.05)
    return time.monotonic() - began

last = lines(3000, 3001)
os.write(fd, lines(0, 3000) + last[:20])
assert int(open(count).read()) == 0, "it is no bulk load, which is meant here"
waited = await_rows(3000)
assert 0.5 < waited < 5, waited
os.write(fd, last[20:] + lines(3001, 6000))
await_rows(6000)
# Rows are seen a moment before the report tells of them.
end = time.monotonic() + 5
while "committed_line 6000\n" not in open(table + "/.import/last").read():
    assert time.monotonic() < end
    time.sleep(0.05)
open(kept, "w").close()
time.sleep(60)
PYTHON
python3 stream.py "$m/t" kept 2>stream.log &
stream=$!
for ((n = 0; n < 400; n++)); do
	[ ! -e kept ] && kill -0 "$stream" 2>/dev/null || break
	read -rt 0.05 <> <(:)
done
check "a silent stream is seen: $(tail -1 stream.log)" [ -e kept ]
kill -KILL "$daemon"
await_end
kill "$stream"
wait "$stream"
check "remount after kill -9" start_mount
same "what it sent before its silence" 6000 "$(cat "$m/t/.scan/prefix/stream/count")"

# A signal that ends the daemon commits the lines of a load that is open.
cat >ended.py <<'PYTHON'
import os, select, signal, sys
table, daemon, name = sys.argv[1:]
fd = os.open(table + "/.import/jsonl", os.O_WRONLY)
os.write(fd, b"".join(b'{"row":"%s%07d","set":{"f":{"q":"1"}}}\n' %
                      (name.encode(), i) for i in range(3000)) + b'{"row":"')
count = open("%s/.scan/prefix/%s/count" % (table, name)).read()
assert int(count) == 0, "it is no bulk load, which is meant here"
ended = os.pidfd_open(int(daemon))
os.kill(int(daemon), getattr(signal, name))
select.select([ended], [], [])
PYTHON
for signal in SIGTERM SIGINT; do
	check "$signal" python3 ended.py "$m/t" "$daemon" $signal
	await_end
	check "remount after $signal" start_mount
	same "$signal commits its lines" 3000 \
		"$(cat "$m/t/.scan/prefix/$signal/count")"
done

stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
