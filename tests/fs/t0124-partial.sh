#!/bin/bash
# Two that make one thing at once: one has made what is there and ends with 0,
# the other is told who makes it, and nothing of it is left or in the other's.
# What a command that was killed has left goes, and nobody else's does. LOOPS=200
# goes on.
. "$(dirname "$0")/lib.sh"
unset TABLETFS_STORE
loops=${LOOPS:-10}
tfs="timeout 120 $TABLETFS"

for kind in a b; do
	for table in t$kind both; do
		"$TABLETFS" -store $kind createtable $table families=f
		"$TABLETFS" -store $kind set $table $kind f:q=$kind@1000
	done
	"$TABLETFS" -store $kind dump dump-$kind
	"$TABLETFS" -store $kind backup "$work/backups-$kind" >/dev/null
done
# What a killed command leaves.
mkdir -m 1700 left
cp -r a left/store
rm left/store/lock
"$TABLETFS" -store left/store createtable tleft families=f

# both COMMAND OTHER: runs them at once; sets one and two to how they end, and
# leaves what they say in said1 and said2.
both() {
	bash -c "exec $1" >said1 2>&1 &
	local first=$!
	bash -c "exec $2" >said2 2>&1 &
	local second=$!
	wait $first
	one=$?
	wait $second
	two=$?
}
# bad: counts it, and keeps of the first one in which round, where, and what all
# said.
bad() {
	wrong=$((wrong + 1))
	[ $wrong != 1 ] || why="round $i, line ${BASH_LINENO[0]}: $(ls; tail -n +1 said*)"
}

# stores NAME LEFT COMMAND OTHER: of which the first makes the store of a, and
# the second that of b, with what a kill has left or without.
stores() {
	wrong=0 why=
	for ((i = 0; i < loops; i++)); do
		rm -rf new
		[ $2 = no ] || cp -rp left new.partial
		both "$tfs $3" "$tfs $4"
		[ $((one + two)) = 1 ] || bad
		[ $one = 0 ] && has=a loser=said2 || has=b loser=said1
		same=$("$TABLETFS" -store new dump 2>&1 | cmp - dump-$has 2>&1) ||
			bad
		grep -qE "process( [0-9]+)? makes it|is there already" \
			$loser || bad
		! grep -q "killed" $loser || [ $2 != no ] || bad
		! compgen -G "new.*" >said || bad
	done
	same "$1, $2 left: $same $why" 0 $wrong
}
for had in no yes; do
	stores "two loads" $had "load dump-a new" "load dump-b new"
	stores "two restores" $had "restore-from backups-a new" \
		"restore-from backups-b new"
	stores "a load and a restore" $had "load dump-a new" \
		"restore-from backups-b new/"
	stores "two repairs" $had "-store a repair new" "-store b repair new"
done
rm -rf new

# files NAME COMMAND: two of it make the file new, with what a kill has left
# beside it or without. One that comes later may make it again.
files() {
	wrong=0 why=
	for ((i = 0; i < loops; i++)); do
		rm -f new
		[ $((i % 2)) = 0 ] || (echo part >new.partial && chmod +t new.partial)
		both "$tfs -store a $2" "$tfs -store b $2"
		[ $one = 0 ] || [ $two = 0 ] || bad
		for said in said1 said2; do
			[ ! -s $said ] || [ $((i % 2)) = 1 ] ||
				grep -qE "process( [0-9]+)? writes it" $said ||
				bad
		done
		[ $one = 0 ] && cmp -s new want-a ||
			{ [ $two = 0 ] && cmp -s new want-b; } || bad
		! compgen -G "new.*" >said || bad
	done
	same "$1: $why" 0 $wrong
}
for kind in a b; do
	cp dump-$kind want-$kind
done
files "two dumps" "dump new"
for kind in a b; do
	"$TABLETFS" -store $kind export both want-$kind
done
files "two exports" "export both new"
same "with the rights of any file" "$(stat -c %a want-a)" "$(stat -c %a new)"
