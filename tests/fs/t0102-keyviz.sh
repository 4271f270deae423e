#!/bin/bash
# Heat maps: what a mount and a command show of loads that are known, in all
# forms, with keys that would like to be markup; and the history, which survives
# a kill and which nobody needs.
. "$(dirname "$0")/lib.sh"

T createtable t families=f
start_mount
k=$m/t/.keyviz
evil='</script><b>"&'"'"$'\033[31m'
python3 - "$m" "$evil" <<'PY'
import json, os, sys, time
m, evil = sys.argv[1:]
f = os.open(m + "/t/.mutate", os.O_WRONLY)
def put(rows):
    for at in range(0, len(rows), 200):
        os.write(f, "".join(json.dumps({"row": r, "set": {"f": {"q": "v"}}}) + "\n"
                            for r in rows[at:at + 200]).encode())
for second in range(5):
    put(["event#%08d" % (second * 400 + i) for i in range(400)])
    put([evil] * 600)
    time.sleep(1.01)
os.close(f)
PY

# On the mount: files with their size, of one moment for a minute.
same "nine files" 9 "$(ls "$k" | wc -l)"
for f in reads.tsv writes.tsv writes.svg writes.html bytes.html; do
	size=$(stat -c %s "$k/$f")
	same "$f: size" "$size" "$(wc -c <"$k/$f")"
	same "$f: cat" "$size" "$(cat "$k/$f" | wc -c)"
	check "$f: tail" cmp <(tail -c 100 "$k/$f") <(cat "$k/$f" | tail -c 100)
done
errno ENOENT cat "$k/writes.png"
errno ENOENT cat "$k/writes.text"
errno EACCES tee "$k/writes.svg" </dev/null
same "memory is told" 1 "$(grep -c '^memory_heat [1-9]' "$m/.tabletfs/stats")"

# The numbers: all that was written, the hot row's share, the staircase.
cat >numbers.py <<'PY'
import sys
rows = [l.rstrip("\n").split("\t") for l in open(sys.argv[1])][1:]
total = sum(float(r[6]) * int(r[5]) for r in rows)
hot = sum(float(r[6]) * int(r[5]) for r in rows if r[0].startswith("</script"))
places = {}
for r in rows:
    if r[0].startswith("event"):
        places.setdefault(r[4], []).append((float(r[6]), r[0]))
tops = [max(places[t])[1] for t in sorted(places)][1:]
# By the clock a batch may lie in two seconds; test_heat_picture is strict.
back = sum(a > b for a, b in zip(tops, tops[1:]))
# Of 60 %: of the first second it is not known where in all keys it was.
print(round(total, -3), hot > 0.4 * total,
      back <= 1 and len(tops) > 2 and tops[0] < tops[-1])
PY
cp "$k/writes.tsv" writes.tsv
same "what was written" "5000.0 True True" "$(python3 numbers.py writes.tsv)"

# The same as a command, in each form.
check "text" T keyviz t metric=writes width=100 >out
check "its title" grep -q '^table t: writes/s from ' out
check "its caution" grep -q 'the kernel answers' out
refuse "a key steers no terminal" grep -q $'\033' out
T keyviz t metric=writes colour=yes width=100 >out
check "half blocks" grep -q '▀' out
refuse "nor with colours" grep -qF $'\033[31m' out
check "in a terminal" script -qec "TERM=xterm '$TABLETFS' -store '$store' keyviz t metric=writes" coloured </dev/null
check "there are colours" grep -q '38;5;' coloured
check "in one without" script -qec "NO_COLOR=1 TERM=xterm '$TABLETFS' -store '$store' keyviz t metric=writes" plain </dev/null
refuse "there are none" grep -q '38;5;' plain
for f in svg html tsv; do
	check "a file: $f" T keyviz t metric=writes "out.$f"
done
check "svg is XML" python3 -c "import xml.dom.minidom as d
d.parse('out.svg')"
check "the page is one" python3 - <<'PY'
import html.parser, re
page = open("out.html").read()
class P(html.parser.HTMLParser):
    tags = []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert name not in ("src", "href"), (tag, name, value)
            assert not name.startswith("on"), (tag, name)
P().feed(page)
assert "b" not in P.tags, "a key became a tag"
assert P.tags.count("script") == 1 and page.count("</script>") == 1
assert P.tags.count("svg") == 2
assert set(re.findall("https?://[^\"' ]*", page)) == {"http://www.w3.org/2000/svg"}
PY
# What a viewer does with it. A quiet time is at its right.
if command -v chromium >/dev/null; then
	check "in a browser" timeout $((120 * ${SLOW:-1})) \
		python3 "$fs_tests/browser.py" out.html
else
	skip "there is no chromium: tests/packages-watch"
fi
T keyviz t metric=writes key=event#00000 some.tsv
refuse "other rows are left out" grep -q script some.tsv
check "and these are not" grep -q '^event#00000' some.tsv

# What is wrong.
status 1 "no table" T keyviz none
told 'table "none" not found'
status 1 "no metric" T keyviz t metric=cells
told 'metrics are reads, writes and bytes'
status 1 "no format" T keyviz t out.png
told 'a file ends in .svg, .html or .tsv'
status 1 "no time" T keyviz t from=yesterday
told 'a time is like'
status 1 "no span" T keyviz t from=1m to=2m
told 'from= is not before to='
status 1 "no place" T keyviz t metric=writes none/out.svg
told 'none/out.svg'
T createtable fresh families=f
check "a table without heat" grep -q 'no reads in this time' <(T keyviz fresh)
check "and its page" test "$(stat -c %s "$m/fresh/.keyviz/reads.html")" -gt 1000

# History: a clean end keeps it, a kill all but the last minute, and a file that
# is torn, strange or gone is no harm.
stop_mount
T keyviz t metric=writes after.tsv
same "after the end" "5000.0" "$(python3 numbers.py after.tsv | cut -d ' ' -f 1)"
check "inspect knows it" grep -q "^kind heat" <(T inspect "$store/HEAT" entries=true)
size=$(stat -c %s "$store/HEAT")
truncate -s -3 "$store/HEAT"
check "a tear is no problem" T inspect "$store/HEAT"
check "but told" grep -q '^note .*a record is cut off' <(T inspect "$store/HEAT")
check "check passes over it" T check
T set t one f:q=1
refuse "the next write cuts it" grep -q '^note' <(T inspect "$store/HEAT")
start_mount
mkdir -p "$m/t/row/f" && echo 1 >"$m/t/row/f/q"
kill -9 "$daemon" && await_end
fusermount3 -uz "$m"
check "after a kill" T keyviz t metric=writes killed.tsv
T backup copy
refuse "a backup has none" test -e copy/latest/HEAT
rm "$store/HEAT" && mkdir "$store/HEAT"
check "a directory in its place" T set t two f:q=1
check "is told in LOG" grep -q 'heat_lost why=' "$store/LOG"
rmdir "$store/HEAT" && ln -s /nowhere "$store/HEAT"
check "nor a link followed" T set t three f:q=1
rm "$store/HEAT" && head -c 100000 /dev/urandom >"$store/HEAT"
check "nor noise taken" T set t four f:q=1
same "it is replaced" 0 "$(T inspect "$store/HEAT" | grep -c '^note')"
finish
