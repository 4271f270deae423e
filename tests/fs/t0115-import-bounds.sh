#!/bin/bash
# Imports where something is in the way: a quota, which holds for what is loaded
# in bulk as for all else; a dump and a load between two runs.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store

# What the store's files take, in KiB.
stored() {
	du -sk --apparent-size --exclude=lock --exclude=LOG "$store" | cut -f 1
}

# Rows that do not compress, of 1,024 bytes and of one width each.
python3 - <<'PYTHON'
import base64, random
random.seed(1)
with open("rows.jsonl", "w") as j, open("rows.csv", "w") as c:
    c.write("k,v\n")
    for i in range(24000):
        v = base64.b64encode(random.randbytes(720)).decode()
        j.write('{"row":"r%06d","set":{"f":{"v":"%s"}}}\n' % (i, v))
        c.write("r%06d,%s\n" % (i, v))
PYTHON
T createtable a families=f >/dev/null
T createtable b families=f >/dev/null
T createtable c families=f >/dev/null
empty=$(stored)

# within BEFORE NAME: the store has grown by its quota, 4 MiB, at most, and what a
# log and a manifest are beside that.
within() {
	local now=$(stored)
	check "$2: $1 KiB, then $now" [ "$now" -lt $(($1 + 4096 + 1024)) ]
}

start_mount -o quota=4M
errno ENOSPC sh -c "cat rows.jsonl >'$m/a/.import/jsonl'"
within "$empty" "a bulk import ends with its quota"
rows=$(T count a)
check "and what came before stays: $rows rows" [ "$rows" -gt 1000 ]
same "whole lines alone, as its report says" \
	"done $rows 0" "$(awk '/^state/ || /^rows/ || /^refused/ {
		printf "%s%s", sep, $2; sep = " " }' "$m/a/.import/last")"
errno ENOSPC sh -c "head -n 5000 rows.jsonl >'$m/b/.import/jsonl'"
within "$empty" "another is refused then"
status 2 "and a command" T import b rows.csv key={k} set='f:v {v}'
told "No space left on device"
stop_mount

# Of a record half of which was refused nothing is in.
rm -rf "$store"
T createtable b families=f >/dev/null
T recipe b set r - >/dev/null < <(printf "key {k}\nset f:v {v}\n") || fail "a recipe"
start_mount -o quota=4M
errno ENOSPC sh -c "dd if=rows.csv bs=100k status=none \
	>'$m/b/.import/recipe/r/data'"
within 0 "one by a recipe"
T read b | grep -o '"[A-Za-z0-9+/=]*"' | awk '{ print length }' | sort -u >widths
same "all its values are whole" 962 "$(cat widths)"
stop_mount

# A line without an end is room, too.
rm -rf "$store"
T createtable b families=f >/dev/null
start_mount -o quota=4M
errno ENOSPC sh -c "{ printf '{\"row\":\"r\",\"set\":{\"f\":{\"v\":\"'
	tr -d '\n' <rows.jsonl; } >'$m/b/.import/jsonl'"
within 0 "a line that does not end"
check "which is free again" sh -c "head -n 1000 rows.jsonl >'$m/b/.import/jsonl'"
same "for others" 1000 "$(T count b)"
stop_mount

# Where an import goes on is known after a dump and a load, and of which table it
# is, whatever ids the load gives out.
rm -rf "$store"
printf 'k,n\na,1\nb,2\n' >log.csv
adds=(key={k} add='n:sum {n}')
for t in zap users b; do
	T createtable $t families=n:never:intsum >/dev/null
done
T deletetable zap >/dev/null
T createtable zap families=n:never:intsum >/dev/null
status 0 "an import with a name" T import users log.csv "${adds[@]}" resume=l
T dump dump
"$TABLETFS" load dump loaded >/dev/null
"$TABLETFS" -store loaded dump again
check "a dump of what was loaded is the same" cmp dump again
for how in free mounted; do
	export TABLETFS_STORE=$work/loaded
	if [ $how = mounted ]; then
		store=$work/loaded start_mount
	fi
	status 0 "$how: the same goes on" "$TABLETFS" import users log.csv \
		"${adds[@]}" resume=l
	told "Done importing 0 rows"
	for t in b zap; do
		status 2 "$how: into $t it is refused" "$TABLETFS" import $t \
			log.csv "${adds[@]}" resume=l
		told "it is of another table than \"$t\""
	done
	"$TABLETFS" createtable "new$how" families=n:never:intsum >/dev/null
	status 2 "$how: and into a new one" "$TABLETFS" import "new$how" log.csv \
		"${adds[@]}" resume=l
	for i in 1 2; do
		status 0 "$how: which has its own" "$TABLETFS" import "new$how" \
			log.csv "${adds[@]}" resume="new$how"
	done
	same "$how: once" 2 "$("$TABLETFS" read "new$how" |
		grep -cE 'x00.x0[12]"')"
	[ $how = free ] || store=$work/loaded stop_mount
done
"$TABLETFS" dump dump && rm -rf loaded
"$TABLETFS" load dump loaded >/dev/null
status 0 "loaded once more" "$TABLETFS" import newfree log.csv "${adds[@]}" \
	resume=newfree
told "Done importing 0 rows"
if command -v xxhsum >/dev/null; then
	rm -rf loaded
	grep -v '^attribute import-table\|^end' dump >old
	echo "$(tail -n 1 dump | cut -d' ' -f1-4) $(xxhsum -H64 <old |
		cut -c1-16)" >>old
	check "a dump of an older program" "$TABLETFS" load old loaded >/dev/null
	for t in users b zap newfree newmounted; do
		status 2 "does not tell which it is of" "$TABLETFS" import $t \
			log.csv "${adds[@]}" resume=l
		told "of an older tabletfs"
	done
else
	skipped=$((skipped + 11))
fi
