#!/bin/bash
# Imports where something is in the way, and what they tell of it: a quota, which
# holds for what is loaded in bulk as for all else; a dump and a load between two
# runs; a full disk beside; a store that is only read.
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

# What a command has in then is told, up to a line behind which nothing is.
rm -rf "$store"
T createtable c families=f >/dev/null
start_mount -o quota=4M
status 2 "a command whose rows are loaded in bulk" T import c rows.csv key={k} \
	set='f:v {v}' quiet=yes
told "No space left on device"
cp err told.err
rows=$(T count c)
same "tells what is in" "Done importing $rows rows." "$(tail -n 1 told.err)"
line=$(sed -n 's/.*committed up to rows.csv://p' told.err)
check "up to line $line of $rows rows" [ "$rows" -gt 1000 -a "$line" -gt 1000 \
	-a "$line" -le $((rows + 1)) ]
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
T dump dump && cp dump first
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
	"$TABLETFS" createtable "new$how" families=n:never:intsum >/dev/null
	for t in b zap "new$how"; do
		for i in 1 2; do
			status 0 "$how: $t has its own" "$TABLETFS" import $t \
				log.csv "${adds[@]}" resume=l
		done
		same "$how: once" 2 "$("$TABLETFS" read $t |
			grep -cE 'x00.x0[12]"')"
	done
	[ $how = free ] || store=$work/loaded stop_mount
done
"$TABLETFS" dump dump && rm -rf loaded
"$TABLETFS" load dump loaded >/dev/null
status 0 "loaded once more" "$TABLETFS" import newfree log.csv "${adds[@]}" \
	resume=l
told "Done importing 0 rows"
# older LINES: the dump of an older program, without these lines.
older() {
	rm -rf loaded
	grep -v "$1" first | grep -v ^end |
		sed "s/^q 'position.*/q 'position/" >old
	echo "$(tail -n 1 first | cut -d' ' -f1-4) $(xxhsum -H64 <old |
		cut -c1-16)" >>old
	check "a dump of an older program" "$TABLETFS" load old loaded >/dev/null
}
if command -v xxhsum >/dev/null; then
	older nothing
	for t in users b users; do
		status 0 "older: $t" "$TABLETFS" import $t log.csv \
			"${adds[@]}" resume=l
		same "once" 2 "$("$TABLETFS" read $t | grep -cE 'x00.x0[12]"')"
	done
	refuse "what is numbered is not there twice" grep -q 'position ' <(
		"$TABLETFS" lookup _imports l)
	older '^attribute import-table'
	for t in users b zap; do
		status 2 "does not tell which it is of" "$TABLETFS" import $t \
			log.csv "${adds[@]}" resume=l
		told "of an older tabletfs"
	done
else
	skipped=$((skipped + 15))
fi

# What is committed is told, also if what is refused cannot be put aside.
export TABLETFS_STORE=$work/told
store=$TABLETFS_STORE
T createtable t families=f >/dev/null
mkdir small
if mount -t tmpfs -o size=1m none small 2>/dev/null; then
	trap 'stop_mount 2>/dev/null; umount -l "$work/small"; finish' EXIT
	awk 'BEGIN { print "k,v"; pad = sprintf("%900d", 1)
		for (i = 0; i < 20000; i++) {
			print "r" i "," i "-" pad
			if (i >= 2000) print "r" i "," i "," pad } }' >bad.csv
	start_mount
	status 2 "rejects on a full disk" T import t bad.csv key={k} \
		set='f:v {v}' rejects=small/bad quiet=yes
	cp err told.err
	rows=$(T count t)
	check "some rows are in: $rows" [ "$rows" -gt 0 ]
	same "as it says" "Done importing $rows rows." "$(tail -n 1 told.err)"
	check "up to some line" grep -q 'committed up to bad.csv:[0-9]' told.err
	stop_mount
	T deleteallrows t >/dev/null
	rm -f small/*
	status 2 "and without a mount" T import t bad.csv key={k} \
		set='f:v {v}' rejects=small/bad quiet=yes
	cp err told.err
	rows=$(T count t)
	check "of $rows rows" grep -qE "committed up to|no line is committed" \
		told.err
	[ "$rows" = 0 ] ||
		same "it says so" "Done importing $rows rows." "$(tail -n 1 told.err)"
else
	skipped=$((skipped + 6))
fi
T deleteallrows t >/dev/null
printf '[{"k":"1","v":1},{"k":"2","v":1}' >open.json
printf 'key {k}\nset f:v {v}\n' >set.recipe
T recipe t set r set.recipe >/dev/null
printf '%s\n' '{"k":"a","v":1,"items":[{"n":1},{"n":2}]}' '{"k":"b","v":2}' \
	'{"k":"a","v":3,"items":null}' '{"k":"d"}' '{"k":"e","items":[]}' >items.jsonl
for how in free mounted; do
	[ $how = free ] || start_mount
	for name in "$how" "$how"; do
		status 2 "$how: an array without its end" T import t open.json \
			recipe=r resume="$name"
		told "a part of what begins at open.json:1 is committed"
	done
	status 0 "$how: a field that no record has" T import t items.jsonl \
		key={k} explode={itms} set='f:n {itms.n}'
	told "records without the field that explode names: 5"
	status 0 "$how: one that some have" T import t items.jsonl \
		key={k} explode={items} set='f:n{items.n} {items.n}'
	told "records without the field that explode names: 3"
	status 0 "$how: a dry run tells the same" T import t items.jsonl \
		key={k} explode={itms} set='f:n {itms.n}' dry-run=9
	told "records without the field that explode names: 5"
	status 0 "$how: and what has no cell, or is skipped" T import t \
		items.jsonl key={k} set='f:v {w}' skip='{k} = b' dry-run=9
	told "skipped records: 1"
	told "records without a cell: 4"
	status 2 "$how: a name that is too long" T import t items.jsonl \
		recipe=r resume="$(printf 'n%.0s' $(seq 300))"
	told "a name has 255 bytes at most"
done

# The report of a mount counts, too.
printf 'key {k}\nset f:v {v}\nskip {k} = b\n' >skip.recipe
T recipe t set s skip.recipe >/dev/null
exec 3<>"$m/t/.import/recipe/s/data"
cat items.jsonl >&3
python3 -c 'import os; os.fsync(3)'
for report in "$m/t/.import/last" /dev/fd/3; do
	same "what is told by $report" "skipped 1 empty 2 replaced 1 hidden 0" "$(
		python3 - "$report" <<'PYTHON'
import os, sys
p = sys.argv[1]
text = os.pread(3, 65536, 0).decode() if p == "/dev/fd/3" else open(p).read()
print(*[l for l in text.splitlines()
        if l.split()[0] in ("skipped", "empty", "replaced", "hidden")])
PYTHON
	)"
done
exec 3>&-
gzip -k items.jsonl
refuse "what is compressed" sh -c "cat items.jsonl.gz >'$m/t/.import/recipe/r/data'"
check "is told so" grep -q "it is compressed; tabletfs import undoes that" \
	"$m/t/.import/last"
stop_mount

# What keeps an import from its end is 2, and a dry run writes nothing.
words=(import t items.jsonl key={k} set='f:v {v}')
status 2 "no store" "$TABLETFS" -store "$work/nothing" "${words[@]}"
status 2 "none named" env -u TABLETFS_STORE "$TABLETFS" "${words[@]}"
status 1 "in cbt's form" "$TABLETFS" -store "$work/nothing" import t items.jsonl
start_mount -o ro
status 2 "a store that is only read" T "${words[@]}"
status 0 "of which a dry run is none" T "${words[@]}" dry-run=1
check "with its row" grep -q '"row": "a"' out
stop_mount
before=$(cat "$store"/* | cksum)
status 0 "and changes nothing" T "${words[@]}" dry-run=1
same "of the store" "$before" "$(cat "$store"/* | cksum)"
status 2 "a full standard output" sh -c '"$@" >/dev/full' sh "$TABLETFS" \
	"${words[@]}" dry-run=1

# A compressor that outlives its command by a moment is waited for.
echo part >d2.xz.partial
chmod +t d2.xz.partial
(flock 9 && sleep 0.5) 9<d2.xz.partial &
holder=$!
for i in $(seq 100); do
	flock -n d2.xz.partial true || break
	sleep 0.01
done
status 0 "a dump whose file is locked yet" T dump d2.xz
wait $holder
