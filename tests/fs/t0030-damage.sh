#!/bin/bash
# Bad input from the disk: each kind of damage is refused or told, in one
# sentence that names the file, and what is whole stays readable.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store

# poke FILE OFFSET: flips every bit of a byte.
poke() {
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); byte = f.read(1)[0]
    f.seek(int(sys.argv[2])); f.write(bytes([byte ^ 255]))' "$1" "$2"
}

# says TEXT COMMAND...: it must fail and its message contain TEXT.
says() {
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		fail "$* succeeded"
	else
		case $out in
		*"$text"*) pass ;;
		*) fail "$*: '$out' does not say '$text'" ;;
		esac
	fi
}

# A store as it was before the damage.
keep() { rm -rf "$work/kept" && cp -a "$store" "$work/kept"; }
back() { rm -rf "$store" && cp -a "$work/kept" "$store"; }
only() { ls "$store"/*."$1" | tail -n 1; }

"$TABLETFS" createtable t families=f
for i in 1 2 3; do "$TABLETFS" set t "row$i" f:q="value $i"; done
keep

# The last log of a daemon that was killed: its torn tail is cut and told, the
# rows before it are there.
start_mount
"$TABLETFS" set t row4 f:q=4
"$TABLETFS" set t row5 f:q=5
kill -9 "$daemon"
await_end
fusermount3 -uz "$m"
log=$(only log)
size=$(python3 -c 'import sys
data = open(sys.argv[1], "rb").read().rstrip(b"\0"); print(len(data))' "$log")
truncate -s $((size - 3)) "$log"
out=$("$TABLETFS" read t 2>&1)
same "rows before a torn tail" "row1 row2 row3 row4" \
	"$(echo "$out" | grep -o '^row.' | xargs)"
same "and it is told, once" 1 "$(echo "$out" | grep -c "$(basename "$log")")"
check "nothing is wrong afterwards" "$TABLETFS" check

# The same byte cut from a log that was closed is damage.
back
"$TABLETFS" set t row4 f:q=4
log=$(only log)
poke "$log" 40
says "$(basename "$log")" "$TABLETFS" read t
says "damaged" "$TABLETFS" read t
says "$(basename "$log")" "$TABLETFS" mount "$store" "$m"
rm "$log"
says "$(basename "$log")" "$TABLETFS" read t

# A data block: reads that need it fail with its file and offset, check tells
# it, other tables can be read.
back
"$TABLETFS" createtable other families=f
"$TABLETFS" set other a f:q=fine
awk 'BEGIN { print ",f"; print ",q"
	for (i = 0; i < 20000; i++) printf "line%05d,%d\n", i, i * i }' >many.csv
"$TABLETFS" import t many.csv 2>/dev/null
"$TABLETFS" compact t >compacted
sst=$(ls -S "$store"/*.sst | head -n 1)
poke "$sst" $(($(stat -c %s "$sst") / 2))
says "$(basename "$sst")" "$TABLETFS" check
says "checksum" "$TABLETFS" check
says "$(basename "$sst")" "$TABLETFS" read t
start_mount
same "a row in another block" "value 1" "$(cat "$m/t/row1/f/q")"
same "another table" fine "$(cat "$m/other/a/f/q")"
errno EIO grep -r nothing "$m/t"
check "the reason is in .tabletfs/errors" \
	grep -q "$(basename "$sst")" "$m/.tabletfs/errors"
stop_mount

# The manifest: its root, its edits, a newer format.
back
poke "$store/root" 12
says "root" "$TABLETFS" read t
back
poke "$(only edits)" 30
says ".edits" "$TABLETFS" read t
back
rm "$(only edits)"
says ".edits" "$TABLETFS" read t
back
python3 - "$store/root" <<'PY'
# The root as a version to come would write it: format 3, checksums right.
import struct, sys
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff
path = sys.argv[1]
data = bytearray(open(path, "rb").read())
at = data.index(b"tabletfs")
struct.pack_into("<I", data, at + 8, 3)
struct.pack_into("<I", data, at + 76, crc32c(data[at:at + 76]))
struct.pack_into("<I", data, len(data) - 4, crc32c(data[:-4]))
open(path, "wb").write(data)
PY
says "newer" "$TABLETFS" read t
back
same "nothing was lost by looking" 3 "$("$TABLETFS" count t)"

# A large value, read through its own path: told to who reads, and noted.
start_mount
head -c 3000000 /dev/urandom >noise
cp noise "$m/t/row1/f/large"
stop_mount
file=$(ls -S "$store" | head -n 1)
poke "$store/$file" $(($(stat -c %s "$store/$file") / 2))
start_mount
errno EIO cat "$m/t/row1/f/large"
check "the damage of $file is noted" \
	grep -q "/t/row1/f/large.*$file" "$m/.tabletfs/errors"
stop_mount
back

# Not a store at all, and no rights.
mkdir "$work/foreign"
echo x >"$work/foreign/file"
says "new or empty directory" "$TABLETFS" -store "$work/foreign" ls
says "no store" "$TABLETFS" -store "$work/nothing" ls
says "Not a directory" "$TABLETFS" -store "$work/foreign/file" ls

# Names, keys and values that are too long, lines that are wrong.
says "row key" "$TABLETFS" set t "$(printf '%5000s' x)" f:q=1
says "qualifier" "$TABLETFS" set t r "f:$(printf '%17000s' x)=1"
says "unknown family" "$TABLETFS" set t r nofam:q=1
says "name" "$TABLETFS" createtable 'a/b'
says "name" "$TABLETFS" createtable "$(printf '%051d' 0)"
printf ',f\n,q\na,1\nb\nc,3\n' >in.csv
says "line 4" "$TABLETFS" import t in.csv
same "the good lines are in" "1 3" "$("$TABLETFS" read t |
	sed -n 's/^ *"\([13]\)"/\1/p' | xargs)"
says "No such file" "$TABLETFS" import t none.csv
