#!/bin/bash
# Two of everything at once: mounts, umounts, imports, commands; and one thing
# right after the other. Each has its way, or is told who has it. LOOPS=200 goes
# on.
#
# Alone: it is many processes itself.
. "$(dirname "$0")/lib.sh"
unset TABLETFS_STORE
loops=${LOOPS:-8}

on() {
	timeout 120 "$TABLETFS" -store "$store" "$@"
}
# bad: counts it, and keeps of the first one in which round, where, and what all
# said.
bad() {
	wrong=$((wrong + 1))
	[ $wrong != 1 ] || why="round $i, line ${BASH_LINENO[0]}: $(tail -n +1 said*)"
}
# begin: of a loop.
begin() {
	wrong=0 why=
	rm -f said*
}
# both COMMAND OTHER: runs them at once; sets one and two to how they end, and
# leaves what they say in said1 and said2.
both() {
	bash -c "$1" >said1 2>&1 &
	local first=$!
	bash -c "$2" >said2 2>&1 &
	local second=$!
	wait $first
	one=$?
	wait $second
	two=$?
}
tfs="timeout 120 $TABLETFS"
mkdir mnt2
m2=$work/mnt2

# Two mounts at one place, of two stores: one is there.
begin
for ((i = 0; i < loops; i++)); do
	both "$tfs mount $work/a $m" "$tfs mount $work/b $m"
	[ $((one + two)) = 1 ] || bad
	mountpoint -q "$m" || bad
	[ "$("$TABLETFS" mounts | cut -f 2 | grep -cxF "$m")" = 1 ] ||
		bad
	$tfs umount "$m" >said 2>&1 || bad
	! mountpoint -q "$m" || bad
done
same "two mounts at one place: $why" 0 $wrong

# Two mounts of one store at two places: one is there.
begin
for ((i = 0; i < loops; i++)); do
	both "$tfs mount $store $m" "$tfs mount $store $m2"
	[ $((one + two)) = 1 ] || bad
	grep -q "in use by pid" said1 said2 || bad
	[ $one = 0 ] && at=$m || at=$m2
	$tfs umount "$at" >said 2>&1 || bad
done
same "two mounts of one store: $why" 0 $wrong

# Two umounts: the mount ends, and each of them.
begin
for ((i = 0; i < loops; i++)); do
	start_mount
	both "$tfs umount $m" "$tfs umount $m"
	[ $one = 0 ] || [ $two = 0 ] || bad
	! mountpoint -q "$m" || bad
	$tfs -store "$store" ls >/dev/null || bad
done
daemon=
same "two umounts: $why" 0 $wrong

# A device's number goes to the next mount as soon as it is free: here between
# the two steps of an umount, of which that is no part.
mkdir bin
cat >bin/fusermount3 <<SCRIPT
#!/bin/bash
PATH=$PATH
fusermount3 "\$@" && "$TABLETFS" mount "$work/other" "$m2"
SCRIPT
chmod +x bin/fusermount3
start_mount
PATH=$work/bin:$PATH $tfs umount "$m" >said 2>&1
same "an umount before a mount elsewhere: $(cat said)" 0 $?
daemon=
check "which is there" "$TABLETFS" umount "$m2"

# Two commands that open the store, of which one waits.
on createtable t families=f
begin
for ((i = 0; i < loops; i++)); do
	both "$tfs -store $store set t one$i f:q=1" \
		"$tfs -store $store set t two$i f:q=1"
	[ $one$two = 00 ] || bad
done
same "two commands: $why" 0 $wrong
same "both did it" $((2 * loops)) "$(on count t)"

# Two imports at once, with and without a mount.
for kind in one two; do
	seq -f '{"row":"'$kind'%06.0f","set":{"f":{"q":"a value"}}}' 1 500 \
		>$kind.jsonl
done
for mounted in no yes; do
	begin
	[ $mounted = no ] || start_mount
	for ((i = 0; i < loops; i++)); do
		on createtable i families=f
		both "$tfs -store $store import i one.jsonl" \
			"$tfs -store $store import i two.jsonl"
		[ $one$two = 00 ] || bad
		for said in said1 said2; do
			grep -q "Done importing 500 rows" $said ||
				bad
		done
		[ "$(on count i)" = 1000 ] || bad
		on deletetable i
	done
	same "two imports, mounted: $mounted: $why" 0 $wrong
done

# Imports and umounts: an import is whole, or its command says that it is not.
begin
for ((i = 0; i < loops; i++)); do
	[ -d "$m/.tabletfs" ] || start_mount
	on createtable i families=f
	both "$tfs -store $store import i one.jsonl" \
		"kill -TERM \$(sed -n 's/pid \([0-9]*\),.*/\1/p' $store/lock)"
	daemon=
	n=$(on count i)
	[ $one != 0 ] || [ "$n" = 500 ] || bad
	on deletetable i
done
same "an import and the mount's end: $why" 0 $wrong
stop_mount
fusermount3 -u "$m" 2>/dev/null

# One thing right after the other, without a wait.
begin
for ((i = 0; i < loops; i++)); do
	start_mount 2>said || bad
	echo $i >"$m/t/one0/f/q"
	$tfs umount "$m" || bad
done
same "mount after umount: $why" 0 $wrong
for ((i = 0; i < loops; i++)); do
	start_mount 2>said || bad
	mkdir -p "$m/t/after$i/f"
	echo 1 >"$m/t/after$i/f/q"
	umount "$m" || bad
	[ "$(on count t)" = $((2 * loops + i + 1)) ] || bad
done
daemon=
same "a command after umount: $why" 0 $wrong
check "the store is whole" on check >/dev/null
