#!/bin/bash
# Readers elsewhere of a store in a pool, beside imports and merges for
# FOLLOW_SECONDS: whether the owner keeps what it merges away, or not, in which
# case lists go on in what there is, and paths are walked again. GRACES="60s 0" is
# how long it keeps it, in turns.
# Alone: how old what is shown may be is measured.
. "$(dirname "$0")/../fs/lib.sh"
seconds=${FOLLOW_SECONDS:-40}
prefix=$fs_tests/prefix.py
f=$work/f
mkdir "$f"
at_end() {
	umount -l "$f" 2>/dev/null
	stop_mount 2>/dev/null
}
# beside: imports and merges as long as $writer lives.
beside() {
	local i=0 value
	value=$(printf 'v%.0s' {1..80})
	while kill -0 "$writer" 2>/dev/null; do
		((i++))
		{
			printf ',f\n,q\n'
			seq -f "i$((i % 9))-%07g,$value" 1 30000
		} >rows.csv
		T import t rows.csv quiet=yes && T compact || return
	done
}
# lists: walks of the table as long as $writer lives.
lists() {
	local i=0 before=0 now
	while kill -0 "$writer" 2>/dev/null; do
		((i++))
		now=$(ls -U "$f/t" | wc -l)
		((now >= before)) || echo "from $before rows to $now"
		before=$now
		((now < 30000)) || cat "$f/t/i1-0020000/f/q" >value || return
	done
	echo "$i lists"
}

for grace in ${GRACES:-60s 0}; do
	start_mount -o memory=24M,reader-grace=$grace
	mkdir -p "$m/t/.schema/f"
	check "followed" "$TABLETFS" mount $stale -o follow,memory=24M \
		"$store" "$f"
	python3 "$prefix" write "$m" done "$seconds" 0.01 &
	writer=$!
	sleep 1
	beside >imported 2>&1 &
	merger=$!
	lists >listed 2>&1 &
	lister=$!
	python3 "$prefix" read "$f" done 2 $((seconds - 3)) >read 2>&1
	same "a prefix, and fresh, with $grace: $(tail -n 1 read)" 0 $?
	wait $writer $merger $lister
	same "imports ended well" "" "$(grep -v ^Done imported)"
	same "so did lists: $(tail -n 1 listed)" "" "$(head -n -1 listed)"
	same "a command" "$(T count t)" \
		"$("$TABLETFS" -follow -store "$store" count t)"
	if [ $grace = 0 ]; then
		same "the reason is told, and is no damage" "" "$(grep -v \
			'Stale.*was merged away' "$f/.tabletfs/errors")"
	else
		same "nothing had to be told" "" "$(cat "$f/.tabletfs/errors")"
	fi
	fusermount3 -u "$f"
	stop_mount
	store=$store.2
done
