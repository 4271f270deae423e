#!/bin/bash
# Inspecting files: of a mounted store, of one that does not open, of copies;
# damage is told with file and offset, and nothing is changed.
. "$(dirname "$0")/lib.sh"

# inspects STATUS ARGUMENT...: the exit status; what was said is in "said".
inspects() {
	local want=$1 got=0
	shift
	"$TABLETFS" inspect "$@" >said 2>errors || got=$?
	same "status of inspect $*" "$want" "$got"
}
says() { check "it says $1" grep -qE -- "$1" said; }

# poke FILE OFFSET: flips every bit of a byte.
poke() {
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); byte = f.read(1)[0]
    f.seek(int(sys.argv[2])); f.write(bytes([byte ^ 255]))' "$1" "$2"
}
keep() { rm -rf kept && cp -a "$store" kept; }
back() { rm -rf "$store" && cp -a kept "$store"; }
# (But for room that is held, of which the daemon gives some back by itself.)
state() {
	(cd "$store" && ls -I '*.spare' >../names &&
		xargs stat -c '%n %s %y' <../names && xargs md5sum <../names)
}

"$TABLETFS" -store "$store" createtable t families=f,sum:never:intsum
seq -f '{"row": "row%05g", "set": {"f": {"q": "value"}}}' 3000 >lines.jsonl
"$TABLETFS" -store "$store" import t lines.jsonl >import
"$TABLETFS" -store "$store" compact
"$TABLETFS" -store "$store" deleterow t row00007
"$TABLETFS" -store "$store" addtocell t s sum:x=5@1000
start_mount
head -c 300000 /dev/urandom >large
mkdir -p "$m/t/large/f" && cp large "$m/t/large/f/q"
printf 'a\nb' >"$m/t/large/f/n\"x"
state >before
inspects 0 "$store"
says '^file root root 100$'
says '^file [0-9a-f-]*\.log log [0-9]* live$'
says '^file [0-9a-f-]*\.blob blob [0-9]* live$'
says '^file [0-9a-f-]*\.edits edits [0-9]* current$'
says '^file [0-9]*\.spare spare '
says '^problems 0$'
inspects 0 "$(ls "$store"/*.log | tail -n 1)" entries=true
says '^entry table 1 row "large" family "f" qualifier "q" .* large 300000$'
says '^reference 0 [0-9a-f-]*\.blob offset 32 size 300016 crc '
says '^entry .* qualifier "n\\"x" timestamp [0-9]* seq [0-9]* put 3$'
state >after
same "a mounted store is as before" "$(cat before)" "$(cat after)"
for file in "$store"/*; do
	# The daemon may give one of those back meanwhile.
	[[ $file == *.spare ]] || inspects 0 "$file" count=3
done
stop_mount

keep
inspects 0 "$store"
sst=$(ls -S "$store"/*.sst | head -n 1)
cp "$sst" elsewhere
inspects 0 elsewhere entries=true
says '^kind sst$'
says '^part index offset '
says '^entry table 1 row "row00001" family "f" qualifier "q" timestamp .* put 5$'
same "count is a limit" 3 \
	"$("$TABLETFS" inspect elsewhere count=3 | grep -c '^entry ')"
inspects 1 elsewhere kind=log
inspects 0 elsewhere
grep '^found' said >found
ln -s elsewhere link
inspects 0 link
grep '^found' said >again
check "a link is followed" cmp found again

# A flipped bit: the file, the bytes, the part.
poke elsewhere 100
inspects 1 elsewhere
says '^problem .*/elsewhere: offset 0 to [0-9]*: data block 0: checksum is [0-9a-f]{8}, not [0-9a-f]{8}$'
says '^problems 1$'
poke "$sst" $(($(stat -c %s "$sst") - 20))
inspects 1 "$store"
says "^problem $sst: offset [0-9]* to $(stat -c %s "$sst"): footer: "
refuse "which does not open" "$TABLETFS" -store "$store" ls
TABLETFS_STORE=$store inspects 1
says ': footer: '
back

# The last log of a daemon that was killed: a tail is told from damage.
start_mount
for i in 1 2 3; do "$TABLETFS" -store "$store" set t "late$i" f:q=x; done
kill -9 "$daemon"
await_end
fusermount3 -uz "$m"
log=$(ls "$store"/*.log | tail -n 1)
size=$("$TABLETFS" inspect "$log" | sed -n 's/^good_bytes //p')
truncate -s $((size - 3)) "$log"
inspects 0 "$store"
says "^note $log: offset [0-9]* to $((size - 3)): record: a torn tail"
inspects 0 "$log"
says '^manifest live$'
says '^note '
poke "$log" 30
inspects 1 "$log"
says "^problem $log: offset [0-9]* to [0-9]*: record: checksum of a chunk is "
back

# A finished log that is cut is damage if the manifest beside it is known.
log=$(ls "$store"/*.log | tail -n 1)
truncate -s -3 "$log"
inspects 1 "$log"
says "^problem $log: "
back

# What is missing, what is left over, what is not of a store.
blob=$(ls "$store"/*.blob)
mv "$blob" blob
cp elsewhere "$store/00000001-000000ff.sst"
echo hello >"$store/README"
mkdir "$store/directory"
inspects 1 "$store"
says "^problem $blob: offset 0 to [0-9]*: file: is missing"
says '^file 00000001-000000ff\.sst sst [0-9]* left-over$'
says "^note $store/00000001-000000ff\.sst: .*: data block 0: "
says '^file README other 6$'
says '^problems 1$'
inspects 0 blob entries=true
says '^chunk offset 32 size 300016 raw 300000 crc '
back

# What is history is the store's, too, and as-of fails without it.
"$TABLETFS" -store "$store" deleterow t row00008
"$TABLETFS" -store "$store" compact
inspects 0 "$store"
past=$(sed -n 's/^file \(.*\) sst .* history$/\1/p' said | head -n 1)
check "history is told" [ -n "$past" ]
same "nothing is left over" "" "$(grep left-over said)"
inspects 0 "$store/$past"
says '^manifest history$'
mv "$store/$past" past
inspects 1 "$store"
says "^problem $store/$past: offset 0 to [0-9]*: file: is missing"
back

# A root of a newer format, and one that is damaged.
python3 - "$store/root" <<'EOF'
import sys
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return (crc ^ 0xffffffff).to_bytes(4, "little")
root = bytearray(open(sys.argv[1], "rb").read())
root[24] = 3
root[92:96] = crc32c(root[16:92])
root[96:100] = crc32c(root[:96])
open(sys.argv[1], "wb").write(root)
EOF
inspects 1 "$store"
says "^problem $store/root: offset 0 to 100: root: root: format 3 .* is newer than this program, which reads 2$"
poke "$store/root" 20
inspects 1 "$store/root"
says ': root: checksum is '
back

# The former root is of no use: that it is damaged is no problem.
poke "$store/root.spare" 30
inspects 0 "$store"
says "^file root.spare spare-root 100$"
says "^note $store/root.spare: offset 0 to 100: root: checksum is "
inspects 0 "$store/root.spare"
says '^note '
back

chmod 500 "$store"
inspects 0 "$store"
chmod 700 "$store"
inspects 1 nowhere
check "it says why" grep -q '^tabletfs: Inspecting: ' errors
inspects 1 elsewhere kind=word
inspects 1 elsewhere count=x
inspects 1
mkfifo pipe
inspects 1 pipe
check "a pipe is refused" grep -q 'not a regular file' errors
mkdir empty
inspects 1 empty
says 'there is no file tabletfs'
inspects 0 "$fs_tests/../golden/v1/store" entries=true
