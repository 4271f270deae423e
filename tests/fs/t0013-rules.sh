#!/bin/bash
# Rules of a schema as files show them: age, granularity; and who may enter.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/age" "$m/t/.schema/f"

# until_gone PATH: waits for at most ten seconds.
until_gone() {
	local end=$((SECONDS + 10))
	while [ -e "$1" ]; do
		[ $SECONDS -lt $end ] || return 1
	done
}

echo 'maxage=300ms' >"$m/t/.schema/age/gc"
mkdir -p "$m/t/r/age"
echo x >"$m/t/r/age/q"
same "a cell is there" x "$(cat "$m/t/r/age/q")"
check "until its age hides it" until_gone "$m/t/r/age/q"
same "then it is not listed" "" "$(ls "$m/t/r/age" 2>/dev/null)"
check "and its row ends" until_gone "$m/t/r"
same "nor is that listed" "" "$(ls "$m/t")"
# Not a moment longer, whatever the kernel has cached of it and its directories.
check "nothing is found after its end" python3 - "$m" "$TABLETFS" "$store" <<'PYTHON'
import json, os, subprocess, sys, time
m, tabletfs, store = sys.argv[1:]
subprocess.run([tabletfs, "-store", store, "createtable", "old",
                "families=f:maxage=1500ms,g:maxage=2500ms"], check=True)
now = time.time_ns() // 1000
ends = {}  # path -> when it ends
with open(m + "/old/.mutate", "w") as f:
    for i in range(5):
        at = now - i * 250000
        cells = {"f": {"q": {"value": "x", "timestamp": at}}}
        row = "/old/o%d" % i
        ends[row] = ends[row + "/f"] = ends[row + "/f/q"] = at + 1500000
        if i % 2:
            cells["g"] = {"q": {"value": "x", "timestamp": at - 100000}}
            ends[row] = ends[row + "/g"] = at + 2400000
        f.write(json.dumps({"row": row[5:], "set": cells}) + "\n")
met = set()
while ends:
    for path in list(ends):
        before = time.time_ns() // 1000
        if not os.path.exists(m + path):
            after = time.time_ns() // 1000
            assert after >= ends[path], (path, ends[path] - after)
            assert path in met, path
            del ends[path]
            continue
        assert before < ends[path], (path, before - ends[path])
        met.add(path)
        # What the list has, too, was there when it began.
        before = time.time_ns() // 1000
        name = os.path.basename(path)
        try:
            listed = name in os.listdir(m + os.path.dirname(path))
        except FileNotFoundError:
            listed = False
        assert not listed or before < ends[path], path
assert os.listdir(m + "/old") == []
PYTHON
echo 'maxage=1h' >"$m/t/.schema/age/gc"
mkdir -p "$m/t/r/age"
echo y >"$m/t/r/age/q"
time=$(stat -c %.6Y "$m/t/r/age/q")
errno EINVAL touch -d '2001-01-01 UTC' "$m/t/r/age/q"
same "which keeps the time" "$time" "$(stat -c %.6Y "$m/t/r/age/q")"

echo millis >millis
errno EINVAL cp millis "$m/t/.granularity"
check "not beside other times, which is told" \
	grep -q 'granularity: .*no whole millisecond' "$m/.tabletfs/errors"
mkdir "$m/ms"
check "millis" cp millis "$m/ms/.granularity"
mkdir -p "$m/ms/m/f"
for i in 1 2 3; do echo $i >"$m/ms/m/f/q"; done
same "three versions" 3 "$(versions ms/m/f q)"
same "at whole milliseconds" "" \
	"$(ls "$m/ms/m/f/.versions/q" | grep -v '000$')"
touch -d '2030-01-01 00:00:00.123456 UTC' "$m/ms/m/f/q"
same "touch rounds" 1893456000.123000 "$(stat -c %.6Y "$m/ms/m/f/q")"

head -c 104857600 /dev/zero >big
check "the largest value" cp big "$m/ms/m/f/big"
check "comes back" cmp big "$m/ms/m/f/big"
errno EFBIG dd if=/dev/zero of="$m/ms/m/f/big" bs=1 count=1 \
	oflag=append conv=notrunc
rm big

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	other="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 755 "$work"
	errno EACCES $other ls "$m"
	remount -o allow_other
	check "allow_other lets others read" $other cat "$m/ms/m/f/q" >/dev/null
	errno EACCES $other sh -c "echo >'$m/ms/m/f/q'"
	errno EACCES $other mkdir "$m/x"
else
	skipped=$((skipped + 1))
fi
