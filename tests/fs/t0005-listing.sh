#!/bin/bash
# Listing many rows: complete, in order, resumable at every offset, in bounded
# memory, while others insert and delete. ROWS=1000000 is what make check-fs-long
# does.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
rows=${ROWS:-20000} seed=${SEED:-1}
width=${#rows}
start_mount -o memory=32M || exit 1
mkdir "$m/t" "$m/t/.schema/f" || exit 1
seq -f "row%0$width.0f" 0 $((rows - 1)) >keys
sed 's/.*/{"row":"&","set":{"f":{"q":"&"}}}/' keys >rows.jsonl
check "import" cp rows.jsonl "$m/t/.import/jsonl"
same "all are counted" "$rows" "$(cat "$m/t/.scan/count")"
remount -o memory=32M

# list SIZE [SEED]: by getdents with buffers of so many bytes.
list() {
	python3 "$here/getdents.py" "$m/t/" "$@" >out
}

check "with 2 KiB buffers, nothing cached" list 2048
check "all in order" cmp keys out
check "and again" list 2048
check "all in order" cmp keys out
check "with buffers for one entry" list 48
check "all in order" cmp keys out
ls -U "$m/t" >out
check "ls -U lists all in order" cmp keys out
ls -U "$m/t" >out
check "and again, from the kernel's cache" cmp keys out
for size in 2048 300 32768; do
	check "coming back to earlier offsets, by $size" list $size "$seed"
	check "the same" cmp keys out
	remount -o memory=32M
done
same "ls of the first ones is quick" "$(head -n 1 keys)" \
	"$(ls -U "$m/t" | head -n 1)"
# A sanitizer keeps what was freed.
peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status")
[ -n "${SAN:-}" ] || check "memory is bounded, $peak KiB" \
	[ "$peak" -le $((96 << 10)) ]
same "ls -l tells each" "$rows" "$(ls -lU "$m/t" | grep -c ^d)"

# Every row that is there all the time is listed once, whatever comes and goes.
awk 'NR % 7 == 0 { print "{\"row\":\"" $0 "y\",\"set\":{\"f\":{\"q\":\"\"}}}" }' \
	keys >"$m/t/.import/jsonl"
mkfifo stop
python3 "$here/churn.py" "$m/t" "$rows" <stop >changes &
churn=$!
exec 3>stop
until grep -q begun changes; do
	kill -0 "$churn" || break
done
for size in 2048 32768; do
	check "others insert and delete, by $size" list $size
	check "in order" env LC_ALL=C sort -c out
	check "what stays is there" cmp keys <(grep -v '[xy]' out)
	check "offsets stay" list $size "$seed"
	check "what stays is there" cmp keys <(grep -v '[xy]' out)
done
ls -U "$m/t" >out
check "ls -U" cmp keys <(grep -v '[xy]' out)
exec 3>&-
wait "$churn"
same "the others went well" 0 $?
check "they made $(tail -n 1 changes) changes" [ "$(tail -n 1 changes)" -gt 20 ]
list 2048
check "then the table is what .scan says" cmp out "$m/t/.scan/keys"

mkdir -p "$m/t/wide/f"
seq -f '{"row":"wide","set":{"f":{"c%06.0f":"v"}}}' 0 $((rows / 10 - 1)) \
	>"$m/t/.import/jsonl"
seq -f 'c%06.0f' 0 $((rows / 10 - 1)) >columns
same "cells of a row" $((rows / 10)) "$(ls "$m/t/wide/f" | wc -l)"
same "with their sizes" $((rows / 10)) \
	"$(find "$m/t/wide/f" -type f -size 1c | wc -l)"
python3 "$here/getdents.py" "$m/t/wide/f" 2048 "$seed" >out
check "resumable as well" cmp columns out

# Who goes back after a pause, in which most names went.
mkdir "$m/t/back" "$m/t/back/f"
seq -f '{"row":"back","set":{"f":{"b%04.0f":"v"}}}' 0 1499 >"$m/t/.import/jsonl"
check "going back after a pause" python3 "$here/goback.py" 6 "$m/t/back/f"

# Who removes a tree comes back to a large list after many small ones, of which
# all was given and nobody asked for the end, as rm does.
"$TABLETFS" -store "$store" createtable tree families=f
seq -f '{"row":"%05.0f","set":{"f":{"q":"v"}}}' 3000 >"$m/tree/.import/jsonl"
check "a tree is removed whole" python3 - "$m/tree" <<'PYTHON'
import os, shutil, sys
removed = 0
with os.scandir(sys.argv[1]) as rows:
    for row in rows:
        with os.scandir(row.path) as families:
            next(families)
        shutil.rmtree(row.path)
        removed += 1
assert removed == 3000 and not os.listdir(sys.argv[1]), removed
os.rmdir(sys.argv[1])
PYTHON

# Who comes back to one of more lists than are kept whole, of which names that
# were given have gone.
"$TABLETFS" -store "$store" createtable wide families=f
python3 -c '
for row in range(150):
    cells = ",".join("\"q%03d\":\"v\"" % i for i in range(600))
    print("{\"row\":\"%03d\",\"set\":{\"f\":{%s}}}" % (row, cells))
' >"$m/wide/.import/jsonl"
check "150 lists read in turn lack no name" python3 - "$m/wide" <<'PYTHON'
import os, sys
lists, names = [], []
for row in range(150):
    path = "%s/%03d/f" % (sys.argv[1], row)
    lists.append((path, os.scandir(path)))
    names.append({next(lists[-1][1]).name})
for path, _ in lists:
    for i in range(50):
        os.unlink("%s/q%03d" % (path, i))
for (path, entries), seen in zip(lists, names):
    for entry in entries:
        seen.add(entry.name)
    lacking = {"q%03d" % i for i in range(600)} - seen
    assert not lacking, (path, len(lacking), sorted(lacking)[:3])
PYTHON

# Who has a directory open and starts over sees what came meanwhile by ways that
# the kernel does not follow.
check "rewinddir shows an outside change" python3 - "$m/t" <<'PYTHON'
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for i in range(3):
    before = set(os.listdir(fd))
    assert before == set(os.listdir(fd))
    with open(sys.argv[1] + "/.mutate", "w") as f:
        f.write('{"row":"zz%d","set":{"f":{"q":"1"}}}\n' % i)
    assert set(os.listdir(fd)) - before == {"zz%d" % i}
PYTHON
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
