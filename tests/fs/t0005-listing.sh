#!/bin/bash
# Listing 100,000 rows: complete, in order, resumable, while others insert.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" || exit 1
seq -f 'row%06.0f' 0 99999 >keys
sed 's/.*/{"row":"&","set":{"f":{"q":"&"}}}/' keys >rows.jsonl
check "import" cp rows.jsonl "$m/t/.import/jsonl"
same "all are counted" 100000 "$(cat "$m/t/.scan/count")"

ls -U "$m/t" >out
check "ls -U lists all in order" cmp keys out
ls -U "$m/t" >out
check "and again, from the kernel's cache" cmp keys out
python3 "$here/getdents.py" "$m/t" 2048 >out
check "with 2 KiB buffers" cmp keys out
python3 "$here/getdents.py" "$m/t/" 2048 rewind >out
check "coming back to earlier entries" cmp keys out
remount
python3 "$here/getdents.py" "$m/t/" 2048 rewind >out
check "the same with nothing cached" cmp keys out
same "ls -l tells each" 100000 "$(ls -lU "$m/t" | grep -c ^d)"
same "ls of the first ones is quick" row000000 "$(ls -U "$m/t" | head -1)"

# Every row that is there all the time is listed once, whatever comes between.
(for i in $(seq 300); do
	echo "{\"row\":\"row0$((RANDOM % 90000 + 10000))x$i\",\"set\":{\"f\":{\"q\":\"\"}}}"
done >"$m/t/.mutate") &
python3 "$here/getdents.py" "$m/t" 2048 >out
wait
grep -v x out >stable
check "others insert meanwhile" cmp keys stable
same "then they are listed, too" 300 "$(ls "$m/t" | grep -c x)"

mkdir -p "$m/t/wide/f"
seq -f '{"row":"wide","set":{"f":{"c%05.0f":"v"}}}' 0 9999 >"$m/t/.import/jsonl"
same "10,000 cells of a row" 10000 "$(ls "$m/t/wide/f" | wc -l)"
same "with their sizes" 10000 \
	"$(find "$m/t/wide/f" -type f -size 1c | wc -l)"
python3 "$here/getdents.py" "$m/t/wide/f" 2048 rewind >out
check "resumable as well" cmp <(seq -f 'c%05.0f' 0 9999) out

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
