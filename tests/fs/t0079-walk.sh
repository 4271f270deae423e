#!/bin/bash
# Walks of a tree: how many requests one costs, cold, again, and when the kernel
# has it all; that what it keeps ends with every change; that listings without a
# handle go on where their readers were. The other scripts about lists run with
# -o opendir, too.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
export TABLETFS_STORE=$store
rows=300
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" "$m/t/.schema/old"

# jsonl ROWS: so many rows with a cell.
jsonl() {
	seq -f '{"row":"row%05.0f","set":{"f":{"q":"value"}}}' 1 "$1"
}
jsonl $rows >"$m/t/.import/jsonl"

# count KIND...: requests of these kinds so far.
count() {
	sed -n "s/^tabletfs_request_duration_seconds_count{operation=\"\(${*// /\\|}\)\"} //p" \
		"$m/.tabletfs/metrics" | awk '{ n += $1 } END { print n + 0 }'
}
lists='readdir\|readdirplus' names='lookup\|getattr'

# walk EXPECTED...: lists the tree: how many requests that took, of lists, of
# opendir and releasedir, and of names, with the few of looking at the metrics.
walk() {
	local a b c found
	a=$(count "$lists") b=$(count 'opendir\|releasedir') c=$(count "$names")
	found=$(find "$m/t" -type f | wc -l)
	list_requests=$(($(count "$lists") - a))
	open_requests=$(($(count 'opendir\|releasedir') - b))
	name_requests=$(($(count "$names") - c))
	same "all are found" "$1" "$found"
}

# walk, until the kernel has all of it. On a machine that is busy it forgets a
# directory here and there, and asks for the attributes of those once more.
walk_kept() {
	for try in 1 2 3 4 5; do
		walk "$1"
		[ $((list_requests + open_requests)) != 0 ] ||
			[ "$name_requests" -gt 5 ] || break
	done
}

if [ -z "$stale" ]; then
	remount
	walk $rows
	check "four requests a row for lists: $list_requests" \
		[ "$list_requests" -le $((4 * rows + 10)) ]
	check "none to open them, once the kernel knows: $open_requests" \
		[ "$open_requests" -le 2 ]
	walk $rows
	check "again, none for lists, or few: $list_requests" \
		[ "$list_requests" -le $((rows / 10)) ]
	walk_kept $rows
	same "the third time none for lists" 0 $((list_requests + open_requests))
	check "nor for names: $name_requests" [ "$name_requests" -le 5 ]
	"$TABLETFS" set t row00007 f:new=x
	walk $((rows + 1))
	check "after a change all are read again: $list_requests" \
		[ "$list_requests" -ge $((2 * rows)) ]
	walk $((rows + 1))
	walk_kept $((rows + 1))
	same "once" 0 "$list_requests"

	# A small value comes with the answer to open.
	remount
	stat "$m"/t/row0000*/f/q >/dev/null
	reads=$(count read)
	own=$(($(count read) - reads))
	reads=$(count read)
	same "nine values" 9 "$(cat "$m"/t/row0000*/f/q | grep -o value | wc -l)"
	reads=$(($(count read) - reads))
	check "no request for each: $reads, of the metrics $own" \
		[ "$reads" -lt $((own + 9)) ]
fi

check "lists and values" python3 "$here/walk.py" "$m/t" 3000

# What nobody announces: an age rule, and names of control.
echo maxage=4s >"$m/t/.schema/old/gc"
mkdir "$m/t/row00001/old"
echo x >"$m/t/row00001/old/q"
same "two families" "f old" "$(ls "$m/t/row00001" | xargs)"
ls "$m/t/row00001" >/dev/null
sleep 4.2
same "one is too old" f "$(ls "$m/t/row00001" | xargs)"
echo never >"$m/t/.schema/old/gc"
"$TABLETFS" deletefamily t old
for i in 1 2 3; do
	same "versions: $i" "$i" "$(ls "$m/t/row00002/f/.versions/q" | wc -l)"
	same "links: $((rows + i - 1))" $((rows + i - 1)) \
		"$(ls "$m/t/.scan/prefix/row0/rows" | wc -l)"
	same "families: $i" "$i" "$(ls "$m/t/.schema" | wc -l)"
	echo $i >"$m/t/row00002/f/q"
	mkdir "$m/t/.schema/f$i"
	"$TABLETFS" set t row0x$i f:q=x
done
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
stop_mount

# Where the kernel asks at each opendir, as all do before 6.16.
for other in t0005-listing t0015-outside t0051-caches t0056-directories; do
	check "$other, with opendir" env MOUNT="-o opendir" ROWS=5000 \
		bash "$here/$other.sh" >/dev/null
done
