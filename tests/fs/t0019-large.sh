#!/bin/bash
# Values of many megabytes: written once, read and changed in pieces, collected.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
f=$m/t/r/f/big

# Bytes that the daemon has sent to the disk.
written() {
	sed -n 's/^write_bytes: //p' "/proc/$daemon/io"
}

# change COMMAND...: the same change to the cell and to the file beside it.
change() {
	"$@" "$f" && "$@" want
}

append() {
	printf '%s' "more of it" >>"$1"
}

overwrite() {
	head -c 5000 /dev/zero | tr '\0' x |
		dd of="$1" bs=5000 seek=7001 conv=notrunc 2>/dev/null
}

head -c $((100 << 20)) /dev/urandom >want
first=$(md5sum <want)
check "100 MiB are taken" cp want "$f"
check "and come back" cmp want "$f"
same "with their size" $((100 << 20)) "$(stat -c %s "$f")"
errno EFBIG append "$f"
same "a part of it can be read" "$(tail -c 100 want | md5sum)" \
	"$(tail -c 100 "$f" | md5sum)"
before=$(written)
change overwrite
sync "$f"
check "a change in the middle" cmp want "$f"
same "writes no more than it must" yes \
	"$([ $(($(written) - before)) -lt $((3 << 20)) ] && echo yes)"
same "and makes a version" 2 "$(versions t/r/f big)"
change truncate -s 50000000
check "a shorter one" cmp want "$f"
change truncate -s 50000500
check "grown again, by zeros" cmp want "$f"
sync "$f"
before=$(written)
change append
sync "$f"
check "an append" cmp want "$f"
same "writes no more than it must" yes \
	"$([ $(($(written) - before)) -lt $((3 << 20)) ] && echo yes)"
oldest=$(ls "$m/t/r/f/.versions/big" | sort -n | head -n 1)
same "the first version is what it was" $((100 << 20)) \
	"$(stat -c %s "$m/t/r/f/.versions/big/$oldest")"
same "and byte by byte" "$first" "$(md5sum <"$m/t/r/f/.versions/big/$oldest")"

# Renamed and back, with its history, which copies nothing.
count=$(versions t/r/f big)
before=$(written)
mv "$f" "$m/t/r/f/other"
mv "$m/t/r/f/other" "$f"
sync "$f"
same "a rename writes little" yes \
	"$([ $(($(written) - before)) -lt $((3 << 20)) ] && echo yes)"
same "and keeps the versions" "$count" "$(versions t/r/f big)"
mv "$m/t/r" "$m/t/moved"
check "so does one of the row" cmp want "$m/t/moved/f/big"
mv "$m/t/moved" "$m/t/r"

# An open file keeps what it had, whatever becomes of the cell.
exec 3<"$f"
rm "$f"
check "what was removed" "$TABLETFS" -store "$store" compact
check "stays readable while it is open" cmp want /proc/self/fd/3
exec 3<&-
cp want "$f"

# A kill loses nothing that was closed.
change append
kill -KILL "$daemon"
await_end
check "after a kill" start_mount
check "all is there" cmp want "$f"
remount
check "and after a remount" cmp want "$f"
check "an export has all of it" python3 -c 'import base64, re, sys
text = open(sys.argv[1]).read()
want = base64.b64encode(open("want", "rb").read()).decode()
sys.exit(want not in re.findall(r"\"base64\": ?\"([^\"]*)\"", text))' \
	"$m/t/r/.row.jsonl"

for seed in 1 2 3; do
	mkdir "$m/t/r/random" "random$seed"
	check "random changes, seed $seed" "${TABLETFS%/*}/tests/fs/fsx" \
		-seed "$seed" -ops 120 -files 2 -size 9000000 \
		"$m/t/r/random" "random$seed"
	rm -r "$m/t/r/random"
done

# Space comes back, where no history keeps it.
"$TABLETFS" -store "$store" history off
full=$(store_size)
rm -r "$m/t/r"
"$TABLETFS" -store "$store" compact
stop_mount
left=$(store_size)
same "space is given back, of $full MiB all but $left" yes \
	"$([ "$left" -lt 10 ] && echo yes)"
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
