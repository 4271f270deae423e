#!/bin/bash
# What the kernel remembers (names, missing names, lists, attributes, pages) is
# forgotten by every change that does not come through it: after each, the mount
# shows exactly what a scan, which nothing caches, gives.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
export TABLETFS_STORE=$store
"$TABLETFS" createtable t families=f,g

rows="a b c d e" families="f g" qualifiers="p q"

# All cells as "row/family/qualifier value": by names, and by a scan.
view() {
	(cd "$m/t" && find . -type f | LC_ALL=C sort | while read -r file; do
		[ "$(stat -c %s "$file")" = "$(wc -c <"$file")" ] || echo "size?"
		printf '%s %s\n' "${file#./}" "$(cat "$file")"
	done)
}
truth() {
	tail -n +2 "$m/t/.scan/csv" |
		awk -F, '{ print $1 "/" $2 "/" $3 " " $5 }' | LC_ALL=C sort
}

# Names that may come, so that the kernel knows them as missing, and versions.
warm() {
	local r f q
	for r in $rows; do for f in $families; do for q in $qualifiers; do
		stat "$m/t/$r/$f/$q" >/dev/null
		ls "$m/t/$r/$f/.versions/$q"
	done; done; done >/dev/null 2>&1
	view >/dev/null
}

previous=
# changed WHAT COMMAND...: runs it between two looks.
changed() {
	local what=$1 now
	shift
	warm
	"$@" || fail "$what: $*"
	same "$what" "$(truth)" "$(view)"
	now=$("$TABLETFS" read t)
	check "$what made a difference" [ "$now" != "$previous" ]
	previous=$now
	same "$what, versions" "$("$TABLETFS" read t | grep -c @)" \
		"$(for r in $rows; do for f in $families; do
			ls "$m/t/$r/$f/.versions"/* 2>/dev/null
		done; done | grep -c '^[0-9][0-9]*$')"
}

to() { cat >"$m/t/$1"; }
mutate() { printf '%s\n' "$@" | to .mutate; }
bulk() { # more than a write takes by itself, so that it is a bulk load
	python3 -c 'import sys
for i in range(3000):
    print("{\"row\":\"%s\",\"set\":{\"g\":{\"q\":{\"value\":\"bulk%d\",\"timestamp\":%d}}}}"
          % (sys.argv[1], i % 7, 1000 + i % 3))' "$1" | dd bs=1M iflag=fullblock \
		of="$m/t/.import/jsonl" status=none
}
drop() {
	awk '$1 == "token" { print $2 }' "$m/t/.drop/$1/preview" |
		to ".drop/$1/apply"
}
policy() { echo "$1" | to .schema/f/gc; }

changed "a mutation" mutate '{"row":"a","set":{"f":{"p":"1","q":"22"}}}' \
	'{"row":"b","set":{"g":{"p":"333"}}}'
changed "a mutation of what is there" mutate \
	'{"row":"a","set":{"f":{"p":"changed"}},"delete":{"f":["q"]}}'
changed "a row's own" sh -c "echo '{\"set\":{\"g\":{\"q\":\"x\"}}}' \
	>'$m/t/a/.row.jsonl'"
changed "an import" sh -c "printf ',f\n,p\nb,csv\nc,csv\n' >'$m/t/.import/csv'"
changed "a bulk load" bulk d
changed "another over it" bulk a
changed "set" "$TABLETFS" set t a f:p=set g:p=new
changed "many versions" mutate $(for i in 1 2 3 4 5; do
	echo "{\"row\":\"c\",\"set\":{\"f\":{\"q\":{\"value\":\"$i\",\"timestamp\":$i}}}}"
done)
changed "a policy that hides" policy maxversions=2
changed "a policy that is relaxed, and a cell" sh -c "
	echo maxversions=9 >'$m/t/.schema/f/gc'
	echo '{\"row\":\"c\",\"set\":{\"f\":{\"q\":\"6\"}}}' >'$m/t/.mutate'"
changed "deletecolumn" "$TABLETFS" deletecolumn t c f q
changed "deleterow" "$TABLETFS" deleterow t b
changed "and its return" "$TABLETFS" set t b f:q=back
changed "mutate, the verb" "$TABLETFS" mutate t \
	'{"row":"e","append":{"g":{"q":"+"}}}'
changed "a dropped prefix" drop prefix/d
changed "a dropped range" drop range/b..c
changed "deleterows" "$TABLETFS" deleterows t start=c end=d
changed "import, the verb" sh -c "printf ',f,g\n,q,p\nc,i,j\nd,k,l\n' |
	'$TABLETFS' import t -"
version=$(ls "$m/t/a/f/.versions/p" | head -n 1)
changed "a version removed" rm "$m/t/a/f/.versions/p/$version"
changed "deletefamily" "$TABLETFS" deletefamily t g
changed "and made anew" sh -c "'$TABLETFS' createfamily t g &&
	'$TABLETFS' set t a g:p=anew"
"$TABLETFS" compact
same "a compaction changes nothing" "$(truth)" "$(view)"
changed "deleteallrows" "$TABLETFS" deleteallrows t
same "which leaves nothing" "" "$(view)"

# Tables.
check "no such table" [ ! -e "$m/u" ]
"$TABLETFS" createtable u families=f
check "one that was made" [ -d "$m/u" ]
same "listed" "t u" "$(ls "$m" | xargs)"
"$TABLETFS" set u r f:q=1
same "with a cell" 1 "$(cat "$m/u/r/f/q")"
"$TABLETFS" deletetable u
check "and dropped" [ ! -e "$m/u" ]
"$TABLETFS" createtable u families=f
check "does not bring its cells back" [ ! -e "$m/u/r" ]

# While others change: what a reader sees is always one of the values there were.
mutate '{"row":"a","set":{"f":{"p":"0000"}}}'
for i in $(seq 1000 1300); do
	echo "{\"row\":\"a\",\"set\":{\"f\":{\"p\":\"$i\"}}}"
done >lines
while read -r line; do echo "$line" >"$m/t/.mutate"; done <lines &
last=0 wrong=0
while kill -0 $! 2>/dev/null; do
	now=$(cat "$m/t/a/f/p")
	[ "${#now}" = 4 ] && [ "$now" -ge "$last" ] || wrong=$((wrong + 1))
	last=$now
done
same "no value is old, mixed or cut" 0 "$wrong"
same "and the last one stays" 1300 "$(cat "$m/t/a/f/p")"
