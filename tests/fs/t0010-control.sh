#!/bin/bash
# Control files: schema, whole rows, mutations, scans.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" "$m/t/.schema/g"
s=$m/t/.schema

same "families are listed" "f g" "$(ls "$s" | xargs)"
same "a new one keeps all" never "$(cat "$s/f/gc")"
echo 'maxversions=2||maxage=30d' >"$s/f/gc"
same "a policy in cbt's words" 'maxversions=2||maxage=30d' \
	"$(cat "$s/f/gc" | tr -d ' ()')"
echo nonsense >nonsense
refuse "a wrong one is refused" cp nonsense "$s/f/gc"
refuse "so is one that a shell writes" sh -c "echo maxversion=3 >'$s/f/gc'"
check "which tells the reason" grep -q 'gc: .*maxversion' "$m/.tabletfs/errors"
refuse "and a type" sh -c "echo intsome >'$s/f/type'"
refuse "and a granularity" sh -c "echo nanos >'$m/t/.granularity'"
refuse "and a level of events" sh -c "echo loud >'$m/.tabletfs/log'"
same "type" bytes "$(cat "$s/g/type")"
check "a type is set" sh -c "echo stringutf8bytes >'$s/g/type'"
same "and read" stringutf8bytes "$(cat "$s/g/type")"
same "granularity" micros "$(cat "$m/t/.granularity")"
errno EEXIST mkdir "$s/f"
errno EINVAL mkdir "$s/a b"
mkdir "$s/h" && check "an empty family is dropped" rmdir "$s/h"
echo maxversions=2 >"$s/f/gc"
mkdir -p "$m/t/r/f"
for i in 1 2 3 4; do echo $i >"$m/t/r/f/q"; done
echo maxversion=1 >"$s/f/gc"
same "why a policy is refused is told, once" 1 "$(tail -n 1 "$m/.tabletfs/errors" |
	grep -o "invalid GC policy: [a-z]" | wc -l)"
refuse "a limit that is none is no name" ls "$m/t/.scan/limit/ten"
check "and told what it has to be" \
	grep -q "ten: wants a number" "$m/.tabletfs/errors"
refuse "there are no links" ln -s x "$m/t/r/f/link"
refuse "nor pipes" mkfifo "$m/t/r/f/pipe"
refuse "nor modes of their own below a table" chmod 600 "$m/t/r/f/q"
for reason in 'link: .* no links' 'pipe: .* no links' 'q: .* chmod the table'; do
	check "told: $reason" grep -q "$reason" "$m/.tabletfs/errors"
done
same "the policy hides old versions" 2 "$(versions t/r/f q)"
errno ENOTEMPTY rmdir "$s/f"
for control in t/.granularity t/.mutate t/.stats t/r/.row.jsonl; do
	errno EPERM rm -f "$m/$control"
done
errno EISDIR rm -f "$m/t/r"

echo '{"set":{"g":{"a":"1","b":"2"}},"delete":{"f":true}}' \
	>"$m/t/r/.row.jsonl" && pass || fail "write .row.jsonl"
same "a row mutation" "g" "$(ls "$m/t/r")"
check "a row is read as JSON" grep -q '"a"' "$m/t/r/.row.jsonl"
echo '{"row":"x","set":{"g":{"a":"1"}}}' >in
refuse "another row's key" cp in "$m/t/r/.row.jsonl"

printf '%s\n' '{"row":"a","set":{"g":{"q":"1"}}}' '{"row":"b","set":{"x":{"y":"z"}}}' \
	'{"row":"c","set":{"g":{"q":"3"}}}' >in
refuse ".mutate stops at a wrong line" cp in "$m/t/.mutate"
same "the lines before it ran" "a r" "$(ls "$m/t" | xargs)"
same "its number is told" 'line 2: unknown family "x"' \
	"$(tail -n 1 "$m/.tabletfs/errors" | grep -o 'line 2.*')"
printf '\n{"row":"a","delete":{"f":true}}\n{"set":{}}' >in
refuse "a last line without newline" cp in "$m/t/.mutate"
same "its number too" 'line 3: no "row" is given' \
	"$(tail -n 1 "$m/.tabletfs/errors" | grep -o 'line 3.*')"
check "nothing after a wrong line is taken" python3 - "$m/t/.mutate" <<'PYTHON'
import errno, os, sys
from fails import fails

def line(row):
    return b'{"row":"%s","set":{"g":{"q":"1"}}}\n' % row

for begin in [], [line(b"wl1"), b"xx\n"], [line(b"wl1") + b"xx\n"]:
    fd = os.open(sys.argv[1], os.O_WRONLY)
    for part in begin[:1]:
        assert os.write(fd, part) == len(line(b"wl1"))
    for part in begin[1:] or [b"xx\n", line(b"wl2")]:
        fails(errno.EINVAL, os.write, fd, part)
    fails(errno.EINVAL, os.write, fd, line(b"wl2"))
    fails(errno.EINVAL, os.fsync, fd)
    fails(errno.EINVAL, os.close, os.dup(fd))
    fails(errno.EINVAL, os.close, fd)
# Nor what a close takes that has no newline, and whose writer goes on.
fd = os.open(sys.argv[1], os.O_WRONLY)
os.write(fd, b"half")
fails(errno.EINVAL, os.close, os.dup(fd))
fails(errno.EINVAL, os.write, fd, line(b"wl2"))
fails(errno.EINVAL, os.close, fd)
PYTHON
same "but all before it" wl1 "$(cd "$m/t" && ls -d wl*; rm -r wl1)"

for i in $(seq 10 29); do
	echo "{\"row\":\"k$i\",\"set\":{\"g\":{\"q\":\"v$i\",\"r\":\"w\"}}}"
done >"$m/t/.mutate"
echo '{"row":"k10","set":{"f":{"x":"y"}}}' >"$m/t/.mutate"
q=$m/t/.scan
same "keys" 22 "$(wc -l <"$q/keys")"
same "count" 22 "$(cat "$q/count")"
same "prefix" 10 "$(cat "$q/prefix/k1/count")"
same "range" "k12 k13" "$(xargs <"$q/range/k12..k14/keys")"
same "open range" 4 "$(cat "$q/range/k28../count" | head -1 | xargs -I{} expr {} + 1)"
same "limit" "a k10" "$(xargs <"$q/limit/2/keys")"
same "reverse" "k29 k28" "$(xargs <"$q/prefix/k/reverse/limit/2/keys")"
same "in any order" "k29 k28" "$(xargs <"$q/limit/2/reverse/prefix/k/keys")"
same "family" k10 "$(cat "$q/family/f/keys")"
same "regex" "k10 k20" "$(xargs <"$q/regex/k.0/keys")"
same "of the whole key" 0 "$(cat "$q/regex/k1/count")"
same "column" "a b k10" "$(mkdir -p "$m/t/b/g"; echo 5 >"$m/t/b/g/r2"
	xargs <"$q/range/..k11/column/q|r2/keys"; rm -r "$m/t/b")"
same "and not others" "" "$(grep ,r, "$q/prefix/k/column/q/csv")"
same "value" k11 "$(xargs <"$q/value/v11/keys")"
same "of the versions asked for" "0 1" "$(mkdir -p "$m/t/z/g"
	echo old >"$m/t/z/g/q"; echo new >"$m/t/z/g/q"
	cd "$q/prefix/z" && cat value/old%0A/count versions/2/value/old%0A/count |
	xargs; rm -r "$m/t/z")"
errno ENOENT cat "$q/regex/(/keys"
check "with the reason" grep -q 'regex: ' "$m/.tabletfs/errors"
errno ENOENT cat "$q/column/(?=x)/keys"
same "estimate" "~2" "$(cat "$q/range/k10..k12/estimate")"
same "csv" 41 "$(grep -c ^k "$q/prefix/k/csv")"
same "tsv" 41 "$(grep -c ^k "$q/prefix/k/tsv")"
same "jsonl" 20 "$(grep -c '"row"' "$q/prefix/k/jsonl")"
same "cbt" 20 "$(grep -c '^k' "$q/prefix/k/cbt")"
same "rows are links" "k10 k11" "$(ls "$q/prefix/k/limit/2/rows" | xargs)"
same "to the rows" v11 "$(cat "$q/prefix/k/limit/2/rows/k11/g/q")"
errno ENOENT ls "$q/prefix/k/rows/r"
errno ENOENT ls "$q/regex/k.0/rows/k11"

mkdir "$m/p" "$m/p/.schema/f"
for i in $(seq 10 99); do
	for j in 1 2; do
		echo "{\"row\":\"a$((i % 3))#$i#$j\",\"set\":{\"f\":{\"q\":\"$i\"}}}"
	done
done >"$m/p/.mutate"
printf '{"row":"%s","set":{"f":{"q":"1"}}}\n' a1 a1#10# a1# z >"$m/p/.mutate"
p=$m/p/.scan
same "segments" "a0# a1 a1# a2# z" "$(ls "$p/segments" | xargs)"
same "in reverse" "z a2# a1# a1 a0#" "$(ls -U "$p/reverse/segments" | xargs)"
same "after a prefix" 30 "$(ls "$p/prefix/a0#/segments" | wc -l)"
same "which is a row itself" "%~ 10# 13#" \
	"$(ls "$p/prefix/a1#/segments" | head -3 | xargs)"
same "and deeper" "%~ 1 2" "$(ls "$p/prefix/a1#10#/segments" | xargs)"
same "one leads to its own" "1 2" "$(ls "$p/segments/a2#/segments/11#/segments" |
	xargs)"
same "or to its row" 11 "$(cat "$p/segments/a2#/segments/11#/segments/1/f/q")"
same "other steps stay" "16#" "$(ls "$p/value/16/segments/a1#/segments/" | xargs)"
same "with a limit" "a0# a1" "$(ls "$p/limit/2/segments" | xargs)"
errno ENOENT ls "$p/segments/a3#"
errno ENOENT ls "$p/segments/a"
same "a link's target" "../prefix/a0#/" "$(readlink "$p/segments/a0#")"
errno ENOENT cat "$q/limit/x/keys"
check "with the reason" grep -q 'limit/x' "$m/.tabletfs/errors"
errno ENOENT cat "$q/limit/1/limit/2/keys"
check "and here" grep -q 'limit: no step, or given' "$m/.tabletfs/errors"
errno ENOENT cat "$q/pefix/a/keys"
check "and of a slip" grep -q 'pefix: no step' "$m/.tabletfs/errors"
check "a walk through .scan ends" timeout 60 sh -c "find '$q' >/dev/null"
now=$(date +%s)000000
same "since" 0 "$(cat "$q/since/$((now + 3600000000))/count")"
same "until" 22 "$(cat "$q/until/$((now + 3600000000))/count")"
same "versions" 2 "$(for i in 1 2; do echo $i >"$m/t/a/g/q"; done
	cat "$q/prefix/a/versions/2/cbt" | grep -c g:q)"
same "what jsonl writes, import takes" "$(cat "$q/versions/all/jsonl" | md5sum)" \
	"$(mkdir "$m/u" "$m/u/.schema/f" "$m/u/.schema/g"
	cat "$q/versions/all/jsonl" >"$m/u/.import/jsonl"
	cat "$m/u/.scan/versions/all/jsonl" | md5sum)"
check "rows of a scan are not walked into" \
	[ -z "$(find "$q/prefix/k/rows" -type f)" ]

i=$m/.tabletfs
check "metrics: histograms by operation" sh -c \
	"grep -q 'duration_seconds_bucket{operation=\"lookup\",le=\"+Inf\"}' '$i/metrics'"
cp "$i/metrics" metrics
same "as Prometheus takes them" "" "$(python3 "$fs_tests/metrics.py" metrics)"
check "and the store's figures" grep -q '^tabletfs_writes_total [1-9]' "$i/metrics"
# Half of what is written stays half whoever else closes the file: only who wrote
# it, or the last close of all, ends it.
cat >halves.py <<'PYTHON'
import errno, os, subprocess, sys, threading, time
from fails import fails
os.chdir(sys.argv[1])

def read(name):
    with open(name) as f:
        return f.read()

def write(name, *parts):
    """A child that has nothing to do with it ends after each part."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
    for part in parts:
        os.write(fd, part.encode())
        subprocess.run(["true"], check=True)
    return fd

os.close(write(".import/csv", ",f\n,q\nr1,1000", "00\nr2,5\n", "r3,7"))
assert [read(r + "/f/q") for r in ("r1", "r2", "r3")] == ["100000", "5", "7"]
os.close(write(".schema/f/gc", "maxversions=1", "00"))
assert read(".schema/f/gc") == "maxversions=100\n"
os.close(write("r1/.row.jsonl", '{"set":{"f":', '{"q":"8"}}}'))
assert read("r1/f/q") == "8"
os.close(write(".mutate", '{"row":"r4",', '"set":{"f":{"q":"1"}}}'))
assert read("r4/f/q") == "1"
os.mkdir("r1/sum")
os.close(write("r1/sum/n", "1", "0\n2", "0"))
assert read("r1/sum/n") == "30\n"
token = read(".drop/prefix/r2/preview").split("token ")[1]
os.close(write(".drop/prefix/r2/apply", token[:7], token[7:]))
assert not os.path.exists("r2")

# Of a child's own half a line, its close tells what is wrong.
fd = os.open(".schema/f/gc", os.O_WRONLY)
assert subprocess.run(["cat"], input=b"nonsense", stdout=fd,
                      stderr=subprocess.DEVNULL).returncode != 0
os.close(fd)
fd = write(".mutate", "nonsense")
fails(errno.EINVAL, os.close, fd)

def write_late(name, text):
    """Writes when its only descriptor is closed already."""
    fd = os.open(name, os.O_WRONLY)
    r, w = os.pipe()
    thread = threading.Thread(target=os.splice, args=(r, fd, 4096))
    thread.start()
    waiting = [hex(r), hex(fd)]
    while read("/proc/self/task/%d/syscall" % thread.native_id
               ).split()[1:4:2] != waiting:
        time.sleep(0.01)
    os.close(fd)
    os.write(w, text.encode())
    thread.join()

def await_text(name, text):
    end = time.monotonic() + 10
    while not os.path.exists(name) or text not in read(name):
        assert time.monotonic() < end, (name, text)
        time.sleep(0.02)

write_late(".schema/f/gc", "maxversions=3")
await_text(".schema/f/gc", "maxversions=3")
write_late(".mutate", '{"row":"late","set":{"f":{"q":"1"}}}')
await_text("late/f/q", "1")
write_late(".mutate", '{"row":"late","set":{"nobody":{"q":"1"}}}')
await_text("../.tabletfs/errors", 'line 1: unknown family "nobody"')
write_late(".import/jsonl", '{"row":"late2","set":{"f":{"q":"2"}}}')
await_text("late2/f/q", "2")
PYTHON
mkdir "$m/h" "$m/h/.schema/f" "$m/h/.schema/sum"
echo intsum >"$m/h/.schema/sum/type"
check "a child that ends takes no half of a line" python3 halves.py "$m/h"

remount -o delimiter=:
mkdir -p "$m/t/x:y/g" "$m/t/x:z/g"
for i in y z; do echo 1 >"$m/t/x:$i/g/q"; done
same "another delimiter" "x:" "$(ls "$q/prefix/x/segments" | sed s/^/x/ | xargs)"
same "that separates" "y z" "$(ls "$q/prefix/x:/segments" | xargs)"
rm -r "$m/t/x:y" "$m/t/x:z"

if command -v getfattr >/dev/null; then
	remount -o xattr
	x() {
		getfattr --only-values -n "user.tabletfs.$1" "$2" 2>/dev/null
	}
	same "xattr: versions" 3 "$(x versions "$m/t/a/g/q")"
	same "xattr: timestamp" "$(ls -U "$m/t/a/g/.versions/q" | head -1)" \
		"$(x timestamp "$m/t/a/g/q")"
	same "xattr: key" k11 "$(x key "$m/t/k11")"
	same "xattr: family_gc" never "$(x family_gc "$m/t/a/g")"
	same "they are not listed" "" "$(getfattr -m - "$m/t/a/g/q")"
	refuse "there is no other" x nonsense "$m/t/a/g/q"
else
	skipped=$((skipped + 1))
fi
