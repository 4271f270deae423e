#!/bin/bash
# Imports where something is in the way: a quota, which holds for what is loaded
# in bulk as for all else.
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
