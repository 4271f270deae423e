#!/bin/bash
# What was purged is in no file of the store, as it stands there or unpacked: its
# keys, values and large values, those of the past among them; all else is as it
# was, now and at each moment. Of a store at rest, one whose purge is killed, and
# one that is mounted and written to.
. "$(dirname "$0")/lib.sh"
counts() { sed -n 's/^As of 20.*Z: //p' out; }
writer=
at_end() {
	[ -z "$writer" ] || kill "$writer" 2>/dev/null
	stop_mount 2>/dev/null
}
export TABLETFS_STORE=$store

# A key, a text, bytes, a large value; none can be packed with another's.
printf 'key-%s' "$(head -c 12 /dev/urandom | base64 | tr -dc a-zA-Z0-9)" >key
printf 'the secret of %s' "$(head -c 9 /dev/urandom | base64)" >text
head -c 4096 /dev/urandom >bytes
head -c 1048576 /dev/urandom >large
secrets="key text bytes large"
key=$(cat key)
# traces [STORE]: files that have any of them.
traces() {
	(cd "$work" && python3 "$fs_tests/traces.py" "$TABLETFS" \
		"${1:-$store}" $secrets)
}
# What others were at a time, or are, as one hash.
others() {
	T export t format=jsonl start=a end=k ${1:+as-of="$1"} | sha1sum
	T export t format=jsonl start=l ${1:+as-of="$1"} | sha1sum
}
put() {
	T set t "$key" "f:text=$(cat text) $1" || exit 1
	printf '{"row":"%s","set":{"f":{"bytes":{"base64":"%s"}}}}\n' "$key" \
		"$(base64 -w0 bytes)" >line
	T import t line format=jsonl quiet=yes >/dev/null || exit 1
}
# A moment, and what others are there.
declare -a times was
moment() {
	sleep 1.1
	times+=("$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)")
	was+=("$(others "${times[-1]}")")
	sleep 1.1
}
same_others() {
	local i
	for i in "${!times[@]}"; do
		same "$1: others at moment $i" "${was[i]}" "$(others "${times[i]}")"
	done
}

T createtable t families=f || exit 1
T history 24h
for i in $(seq 300); do
	printf '{"row":"r%03d","set":{"f":{"q":"value %d"}}}\n' "$i" "$i"
	printf '{"row":"a%03d","set":{"f":{"q":"value %d"}}}\n' "$i" "$i"
done >rows
T import t rows format=jsonl quiet=yes >/dev/null
put first
start_mount || exit 1
cp large "$m/t/$key/f/large"
head -c 300000 /dev/urandom >"$m/t/r001/f/large"
moment
stop_mount
T compact
put second
T set t r002 f:q=changed
T deletecolumn t "$key" f large
moment
T compact
T deleterow t "$key"
T deleterows t "start=$key" end=key~
put third
moment
T compact
T deleterow t "$key"
put fourth
sync_now=$(others)
all=$(traces)
for what in $secrets; do
	check "there is the $what" grep -qw "$what" <<<"$all"
done
check "in history" grep -q key <<<"$all"
cp -a "$store" whole

T purge t >out 2>err
same "no row is named" 1 $?
status 1 "a word that is none" T purge t row
told '"row": rows are key=, prefix=, start=, after=, end=, through= or rows=all'
status 1 "a start that is empty" T purge t start=
told "no row is named; to erase all rows, say rows=all"
status 1 "no such table" T purge nope key=x
told 'table "nope" not found'
T protect t on
status 1 "a table that is protected" T purge t "key=$key"
told "protected against deletion"
T protect t off
all=$(traces)
for what in $secrets; do
	check "the $what was not purged" grep -qw "$what" <<<"$all"
done

status 0 "a purge" T purge t "key=$key"
check "it tells of rows" grep -qx '1 rows deleted' out
check "and files" grep -qE '^[1-9][0-9]* entries erased from [1-9][0-9]* files and [1-9][0-9]* of history; [1-9]' out
check "and what was not touched" grep -q '^backups, dumps and copies' out
same "nothing is left" "" "$(traces)"
same "others are there" "$sync_now" "$(others)"
same_others "at rest"
refuse "it is in no moment" grep -q f: <(T lookup t "$key" as-of="${times[0]}")
T restore t as-of="${times[0]}" "key=$key" >out
same "of it" "0 rows restored, 0 deleted" "$(counts)"
same "nothing is left then" "" "$(traces)"
check "the store is sound" T check

# Killed at any point, all is as before or gone, and once more ends it.
for delay in 0.005 0.02 0.04 0.08 0.12 0.16 0.2 0.3; do
	rm -rf "$store"
	cp -a whole "$store"
	T purge t "key=$key" >/dev/null 2>&1 &
	sleep "$delay"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	check "killed after $delay s it is sound" T check >/dev/null
	status 0 "it is purged again" T purge t "key=$key"
	same "nothing is left after $delay s" "" "$(traces)"
done
same "others are there" "$sync_now" "$(others)"
same_others "after kills"

# Beside a mount that is written to.
rm -rf "$store"
cp -a whole "$store"
start_mount || exit 1
(
	i=0
	while :; do
		i=$((i + 1))
		printf '{"row":"k%06d","set":{"f":{"q":"%d"}}}\n' $i $i
	done | head -c 4000000 >"$m/t/.import/jsonl"
	while :; do
		echo "$SECONDS" >"$m/t/k1/f/q"
	done
) 2>/dev/null &
writer=$!
status 0 "a purge of a mounted store" T purge t "key=$key"
same "nothing is left beside a writer" "" "$(traces)"
kill "$writer"
wait "$writer" 2>/dev/null
writer=
same "nor is it seen" "" "$(ls "$m/t" | grep -F "$key")"
same "nor in a moment" "" "$(ls "$m/t/.as-of/${times[0]}" | grep -F "$key")"
same "where others are" 600 "$(ls "$m/t/.as-of/${times[0]}" | grep -c '^[ar]')"
same_others "mounted"

# Who reads a file that has gone keeps it, and is told of.
cp large "$m/t/$key-open/f/large" 2>/dev/null ||
	{ mkdir -p "$m/t/$key-open/f" && cp large "$m/t/$key-open/f/large"; }
exec 5<"$m/t/$key-open/f/large"
head -c 10 <&5 >/dev/null
status 1 "a value that is open" T purge t "prefix=$key"
told "say it again when"
exec 5<&-
status 0 "and when it is closed" T purge t "prefix=$key"
same "nothing is left then" "" "$(traces)"

# Who has a file of it open to append, with something uncommitted or without, has
# one that was removed.
mkdir -p "$m/t/$key/f"
cp text "$m/t/$key/f/clean"
cp text "$m/t/$key/f/dirty"
exec 6>>"$m/t/$key/f/clean" 7>>"$m/t/$key/f/dirty"
printf more >&7
status 0 "a purge beside files that are open" T purge t "key=$key"
printf '!' >&6
printf '!' >&7
exec 6>&- 7>&-
same "nothing of them comes back" "" "$(traces)"
check "what is made then is there" eval 'mkdir -p "$m/t/$key/f" &&
	echo new >"$m/t/$key/f/clean" && grep -q new "$m/t/$key/f/clean"'
status 0 "and goes with the next" T purge t "key=$key"
stop_mount
same "nor when it was unmounted" "" "$(traces)"

# What a compaction left that was killed becomes held room.
rm -f "$store"/*.spare
{ cat bytes && head -c 300000 large; } >"$store/00000001-0000ffff.sst.tmp"
T stats >/dev/null
T sync
check "there are pieces of such files" grep -q '\.spare ' <<<"$(traces)"
status 0 "a purge overwrites them" T purge t "key=$key"
same "nothing is left of what they were" "" "$(traces)"

# All rows, and those of a table that was dropped.
T createtable u families=f
T set u "$key" "f:q=$(cat text)"
sleep 1.1
T compact
T deletetable u
sleep 1.1
T compact
check "a dropped table is in history" [ -n "$(traces)" ]
status 0 "its rows are purged" T purge u rows=all
same "nothing is left of it" "" "$(traces)"
finish
