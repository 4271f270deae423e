#!/bin/bash
# Repair: a damaged store is refused with a hint, stays as it is, and what can be
# read of it comes into a new one, with a line for each loss.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store

"$TABLETFS" createtable t families=f
seq -f '{"row": "row%05g", "set": {"f": {"q": "value"}}}' 20000 >lines.jsonl
"$TABLETFS" import t lines.jsonl >/dev/null
"$TABLETFS" compact
head -c 200000 /dev/urandom >large
start_mount
mkdir -p "$m/t/large/f"
cp large "$m/t/large/f/one"
cp large "$m/t/large/f/two"
mkdir "$m/t/last" "$m/t/last/f"
echo last >"$m/t/last/f/q"
refuse "it must not be mounted" "$TABLETFS" repair mounted
stop_mount

check "of a store that is whole" "$TABLETFS" repair whole
same "nothing is lost" "$("$TABLETFS" read t | md5sum)" \
	"$("$TABLETFS" -store whole read t | md5sum)"
refuse "its place is taken" "$TABLETFS" repair whole
mkdir other.partial
refuse "or that of what is not finished" "$TABLETFS" repair other
rmdir other.partial

# A byte of a block in the middle, one of a large value, one of a record.
flip() { # FILE OFFSET
	local byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %x $((byte ^ 255)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
sst=$(ls -S "$store"/*.sst | head -n 1)
blob=$(ls -S "$store"/*.blob | head -n 1)
flip "$sst" $(($(stat -c %s "$sst") / 3))
flip "$blob" 100000
refuse "check finds it" "$TABLETFS" check
md5sum "$store"/*-* "$store/root" >sums
"$TABLETFS" repair new >told
same "repair" 0 "$?"
check "leaves no file out" grep -q "written anew, 0 left out, 2 losses" told
check "leaves the store as it was" md5sum --status -c sums
check "tells of the block" \
	grep -q "$(basename "$sst"): block at offset .* to table t row" told
check "and of the value" grep -q "blob: .*; lost: table t row \"large\" f:" told
check "nothing is wrong with the new store" "$TABLETFS" -store new check
"$TABLETFS" -store new read t >after
count=$(grep -c '^row' after)
check "most rows are there" [ "$count" -gt 15000 -a "$count" -lt 20000 ]
check "and what was in the log" grep -q last after

# Without a manifest, marker and lock.
rm "$store"/root "$store"/*.edits "$store"/tabletfs "$store"/lock
refuse "it does not open" "$TABLETFS" ls
"$TABLETFS" repair again >told
same "repair without a manifest" 0 "$?"
same "gives the same" "$(md5sum <after)" \
	"$("$TABLETFS" -store again read t | md5sum)"

# A damaged edit log is refused with a hint.
flip new/"$(basename new/*.edits)" 10
"$TABLETFS" -store new ls 2>told
check "the error says what to do" grep -q "repair <dir>" told

# Nothing to repair, and no trace of the attempt.
mkdir empty
touch empty/other file
for none in empty file missing; do
	refuse "$none is no store" "$TABLETFS" -store $none repair nothing
done
check "it says so" grep -q "empty: no store, there is no file of one" \
	<("$TABLETFS" -store empty repair nothing 2>&1)
same "it is as it was" other "$(ls empty)"
refuse "nor is there anything new" ls -d nothing*

# Nor of one that did not succeed: the next is not in its way.
(
	trap '' XFSZ
	ulimit -f 8
	"$TABLETFS" repair big 2>told
)
check "it says why" grep -q "File too large" told
refuse "what was made is gone" ls -d big*
check "and now it succeeds" "$TABLETFS" repair big

# A log that was finished has its size in the manifest: zeros at its end, or
# nothing but zeros, are no room that was held.
"$TABLETFS" -store logs create
"$TABLETFS" -store logs createtable t families=f
for row in a b c; do
	"$TABLETFS" -store logs set t $row f:q=1
done
log=$(ls logs/*.log | sed -n 3p)
size=$(stat -c %s "$log")
for at in 19 0; do
	head -c $((size - at)) /dev/zero |
		dd of="$log" bs=1 seek=$at conv=notrunc status=none
	refuse "check finds zeros from $at on" "$TABLETFS" -store logs check
	"$TABLETFS" -store logs repair logs-$at >told
	check "repair tells of zeros from $at on" \
		grep -q "$(basename "$log"): offset $at: .* to offset $size" told
	check "as of a loss" grep -q ", 1 losses" told
done

# The content of another sst, whose size is not the manifest's.
"$TABLETFS" -store ssts create
"$TABLETFS" -store ssts history off
"$TABLETFS" -store ssts createtable t families=f
"$TABLETFS" -store ssts createtable u families=f
for t in t u; do
	"$TABLETFS" -store ssts set $t row f:$t$t$t=1
	"$TABLETFS" -store ssts compact $t
done
set -- ssts/*.sst
cp "$1" "$2"
refuse "check finds another sst's content" "$TABLETFS" -store ssts check
"$TABLETFS" -store ssts repair ssts-new >told
check "repair tells of it" grep -q "$(basename "$2"): has $(stat -c %s "$1") " told
check "as of a loss" grep -q "1 losses" told
same "what is there is read once" 1 "$("$TABLETFS" -store ssts-new count t)"
check "the new store is whole" "$TABLETFS" -store ssts-new check

# Without a root: its files are those of a store, not of backups.
cp -a ssts rootless
rm rootless/root
for command in check ls "set t row f:q=1" "mount $m"; do
	"$TABLETFS" -store rootless $command 2>told
	same "status of $command" 1 $?
	check "$command tells that there is no root" \
		grep -q "but there is no root; run tabletfs repair" told
done
mkdir marked
cp ssts/tabletfs marked
"$TABLETFS" -store marked ls 2>told
check "what has no files is no store, nor backups" \
	grep -q "marked: there is no store in it; create" told

# A marker that is damaged or missing is no hindrance; one of a newer format is.
for marker in "TabletFS store, fOrmat 1" "tabletFS store, format 1" "" none; do
	echo "$marker" >ssts/tabletfs
	[ "$marker" != none ] || rm ssts/tabletfs
	"$TABLETFS" -store ssts ls 2>told
	check "with the marker '$marker', ls tells to repair" \
		grep -q "ssts/tabletfs: .* repair" told
	rm -rf unmarked
	check "repair goes on" eval '"$TABLETFS" -store ssts repair unmarked >told'
	check "and tells of it" grep -q "ssts/tabletfs: " told
	check "the new store is whole" "$TABLETFS" -store unmarked check
done
echo "TabletFS store, format 2" >ssts/tabletfs
refuse "a newer format is not repaired" "$TABLETFS" -store ssts repair newer

# History is left out, with and without a manifest, and called so.
"$TABLETFS" -store past createtable t families=f
"$TABLETFS" -store past set t row f:q=1
"$TABLETFS" -store past set t row f:q=2
"$TABLETFS" -store past compact
"$TABLETFS" -store past deleterow t row
"$TABLETFS" -store past compact
"$TABLETFS" -store past repair past-new >told
check "repair tells of history" \
	grep -q ": left out: history, in [1-9][0-9]* files; " told
refuse "and of no file that is of no use" grep -q "no use" told
check "history is left out" grep -q ", [1-9][0-9]* left out, 0 losses" told
rm past/root past/*.edits
"$TABLETFS" -store past repair past-again >told
check "and without a manifest" grep -q ": left out: history, in " told
