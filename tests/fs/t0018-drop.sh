#!/bin/bash
# .drop: ranges of rows, looked at and deleted.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f"
fill() {
	for i in $(seq 10 59); do
		echo "{\"row\":\"k#$i\",\"set\":{\"f\":{\"q\":\"v$i\",\"r\":\"w\"}}}"
	done >"$m/t/.mutate"
}
fill
d=$m/t/.drop
p="$d/prefix/k#3"
value() {
	awk -v w="$1" '$1 == w { print $2 }' "$2/preview"
}

same "preview" "rows 10 first k#30 last k#39 cells 20" \
	"$(head -4 "$p/preview" | xargs)"
token=$(value token "$p")
same "the same again" "$token" "$(value token "$p")"
echo nonsense >in
errno EINVAL cp in "$p/apply"
echo 0123456789abcdef >in
errno ESTALE cp in "$p/apply"
touch "$p/apply"
same "touch does nothing" 50 "$(cat "$m/t/.scan/count")"
echo other >"$m/t/k#35/f/q"
echo "$token" >in
errno ESTALE cp in "$p/apply"
same "a range that changed stays" 50 "$(cat "$m/t/.scan/count")"
value token "$p" >in
value token "$d/prefix/k#4" >other
errno ESTALE cp other "$p/apply"
echo x >"$m/t/k#50/f/q"
ls "$m/t" >/dev/null
cat "$m/t/k#31/f/q" >/dev/null
exec 3>"$m/t/k#20/f/q"
check "apply" cp in "$p/apply"
exec 3>&-
same "only that range" "k#29 k#40" "$(ls "$m/t" | sed -n '20,21p' | xargs)"
errno ENOENT cat "$m/t/k#31/f/q"
same "no phantoms" 40 "$(ls "$m/t" | wc -l)"
errno ESTALE cp in "$p/apply"
same "an empty range" "rows 0 cells 0" "$(head -2 "$p/preview" | xargs)"

r="$d/range/k#45..k#50"
same "a range" "rows 5 first k#45 last k#49" "$(head -3 "$r/preview" | xargs)"
value token "$r" >in
remount
same "the token outlives a remount" "$(cat in)" "$(value token "$r")"
check "apply" cp in "$r/apply"
same "its end is open" "k#44 k#50" "$(ls "$m/t" | sed -n '25,26p' | xargs)"
value token "$d/range/k#50.." >in
check "to the end" cp in "$d/range/k#50../apply"
same "all after it" "k#44" "$(ls "$m/t" | tail -1)"
value token "$d/range/b..a" >in
check "nothing" cp in "$d/range/b..a/apply"
errno ENOENT ls "$d/range/b"
errno ENOENT ls "$d/regex"
value token "$d/prefix/%~" >in
check "everything" cp in "$d/prefix/%~/apply"
same "is gone" "" "$(ls "$m/t")"
fill
same "and may come again" 50 "$(cat "$m/t/.scan/count")"
check "a walk through .drop ends" sh -c "find '$d' >/dev/null"
remount
same "after a remount too" 50 "$(ls "$m/t" | wc -l)"

# A family that was deleted, and made again, gets nothing of what was open.
mkdir "$m/t/.schema/g"
mkdir "$m/t/k#10/g"
echo one >"$m/t/k#10/g/q"
check "a close is refused" python3 - "$TABLETFS" "$store" \
	"$m/t/k#10/g/q" <<'PYTHON'
import errno, os, subprocess, sys
tabletfs, store, path = sys.argv[1:]
fd = os.open(path, os.O_RDWR | os.O_APPEND)
subprocess.run([tabletfs, "-store", store, "deletefamily", "t", "g"], check=True)
subprocess.run([tabletfs, "-store", store, "createfamily", "t", "g"], check=True)
os.write(fd, b"more")
try:
    os.close(fd)
    sys.exit("closed")
except OSError as e:
    assert e.errno == errno.ESTALE, e
PYTHON
check "with the reason" grep -q "family g was deleted" "$m/.tabletfs/errors"
errno ENOENT cat "$m/t/k#10/g/q"
