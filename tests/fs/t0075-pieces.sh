#!/bin/bash
# Large values are read in pieces, whatever file shows them: the daemon's memory
# does not grow with them.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
size=$((60 << 20))
for version in 1 2; do
	head -c "$size" /dev/urandom >"want$version"
	cp "want$version" "$m/t/r/f/big"
done
newest=$(ls "$m/t/r/f/.versions/big" | sort -n | tail -n 1)
oldest=$(ls "$m/t/r/f/.versions/big" | sort -n | head -n 1)

# From here on the most memory that the daemon has is counted anew.
forget_peak() {
	sync "$m/t/r/f/big"
	echo 5 >"/proc/$daemon/clear_refs"
	before=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' \
		"/proc/$daemon/status")
}

# peak TEXT: it was at most 24 MiB more than before. Sanitizers take more.
peak() {
	local now
	[[ $TABLETFS != */san-* ]] || return 0
	now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' \
		"/proc/$daemon/status")
	same "$1: $before kB became $now" yes \
		"$([ $((now - before)) -lt $((24 << 10)) ] && echo yes)"
}

# Six readers of a part each, all of whom have it open at the end.
cat >read.py <<'PYTHON'
import os, sys
path, want = sys.argv[1:]
want = open(want, "rb").read()
files = [os.open(path, os.O_RDONLY) for _ in range(6)]
for i, f in enumerate(files):
    at = len(want) // 6 * i + 12345
    assert os.pread(f, 100, at) == want[at:at + 100], at
assert os.pread(files[0], 100, len(want) - 7) == want[-7:]
assert os.pread(files[0], 100, len(want)) == b""
PYTHON
for path in ".versions/big/$oldest:1" ".versions/big/$newest:2" \
	"../../.at/now/r/f/big:2" "../../.at/$oldest/r/f/big:1"; do
	file=$m/t/r/f/${path%:*} want=want${path##*:}
	forget_peak
	check "parts of ${path%:*}" python3 read.py "$file" "$want"
	peak "parts of ${path%:*}"
	check "all of ${path%:*}" cmp "$want" "$file"
	peak "all of ${path%:*}"
done

# Text of large values is made in pieces, too: the beginning for six readers, and
# all of it, of values that are text and of others.
head -c 3000001 /dev/urandom | base64 -w 0 | tr A ' ' >want3
cp want3 "$m/t/r/f/words"
python3 -c 'print("\u00e4\u20ac\U0001f600\"\n,\\" * 200001, end="")' >want4
mkdir -p "$m/t/s/f"
cp want4 "$m/t/s/f/runes"
echo small >"$m/t/s/f/small"
cat >text.py <<'PYTHON'
import base64, csv, io, json, os, sys
row, prefix, jsonl = (sys.argv[1] + name for name in
                      ("/r/.row.jsonl", "/.scan/prefix/r/versions/all/",
                       "/.scan/versions/all/jsonl"))
want = [open("want%d" % i, "rb").read() for i in (1, 2, 3, 4)]
files = [os.open(name, os.O_RDONLY) for name in (row, prefix + "csv", jsonl)
         for _ in range(2)]
for f in files:
    assert len(os.read(f, 100)) == 100
    os.lseek(f, 0, 0)


def value(version):
    return (base64.b64decode(version["base64"]) if "base64" in version
            else version["value"].encode())


def check(line, cells):
    got = json.loads(line)["set"]["f"]
    assert {q: [value(v) for v in (x if isinstance(x, list) else [x])]
            for q, x in got.items()} == cells, line[:200]


r = {"big": [want[1], want[0]], "words": [want[2]]}
s = {"runes": [want[3]], "small": [b"small\n"]}
text = open(row, "rb").read()
check(text, r)
assert b'"words": {"value": "' in text
assert text == os.read(files[0], 10) + open(row, "rb").read()[10:]
first, second = open(jsonl, "rb").read().splitlines()
assert first + b"\n" == text
check(second, s)
csv.field_size_limit(1 << 30)
scan = sys.argv[1] + "/.scan/family/f/column/words|runes/"
lines = list(csv.reader(io.StringIO(open(scan + "csv", newline="").read(),
                                    newline="")))
assert [x[4].encode() for x in lines[1:]] == want[2:], [x[:3] for x in lines]
lines = open(scan + "tsv", newline="").read().split("\n")[1:-1]
assert [x.split("\t")[4] for x in lines] == [
    x.decode().replace("\\", "\\\\").replace("\n", "\\n")
    for x in want[2:]]
cbt = open(scan + "cbt").read()
for w in want[2:]:
    assert '    "%s"\n' % w.decode().replace("\\", "\\\\").replace(
        "\n", "\\n").replace('"', '\\"') in cbt
PYTHON
forget_peak
check "text of large values" python3 text.py "$m/t"
peak "text of large values"
forget_peak
same "a pattern sees a value as a whole" 1 \
	"$(wc -l <"$m/t/.scan/column/words/value/[A-Za-z0-9+=%2F ]*/jsonl")"
peak "a pattern"

# Who has a version open reads on, wherever its pieces move.
exec 3<"$m/t/r/f/.versions/big/$oldest"
rm "$m/t/r/f/.versions/big/$newest"
check "a compaction" "$TABLETFS" -store "$store" compact
same "what is open is read on" "$(md5sum <want1)" "$(md5sum <&3)"
kill -TERM "$daemon"
await_end
exec 3<&-
check "and is no reason not to end well" "$TABLETFS" -store "$store" check \
	>/dev/null
