#!/bin/bash
# .as-of/<time>: tables as they were at a moment of the history that a store
# keeps, deletions undone; and .tabletfs/as-of/<time>, dropped tables too.
. "$(dirname "$0")/lib.sh"
start_mount -o xattr || exit 1
all=$m/.tabletfs/as-of

# moment: the name of one that sees all that was changed so far.
moment() {
	local now i
	now=$(date -u +%FT%T.%6NZ)
	echo "$now" >"$m/tick/r/f/q"
	for i in $(seq 200); do
		[[ $(readlink "$all/0s") > $now ]] && break
		sleep 0.05
	done
	readlink "$all/0s"
}
# What a tree holds, how it shows that, and its policies and types. Of a
# directory of today the time is that of the newest change, a deletion's too.
show() {
	(cd "$1" && find . -type f -exec md5sum {} + | sort
	find . -type f -printf '%P %y %s %T@\n' | sort
	find . -mindepth 1 -type d -printf '%P %y\n' | sort)
}
policies() {
	(cd "$1/.schema" && grep -r . | sort)
}
why() {
	tail -n 1 "$m/.tabletfs/errors"
}

mkdir -p "$m/tick/r/f" "$m/t/a/f"
echo 1 >"$m/t/a/f/q"
T history off
same "without history nothing is listed" "" "$(ls "$m/t/.as-of")"
errno ENOENT ls "$m/t/.as-of/5m"
check "how there is some" grep -q 'tabletfs history 24h' <(why)
check "history" T history 48h

for i in 2 3; do
	echo $i >"$m/t/a/f/q"
done
mkdir -p "$m/t/b/g" "$m/t/b/f" "$m/t/.schema/n"
echo intsum >"$m/t/.schema/n/type"
mkdir "$m/t/a/n"
echo 20 >"$m/t/a/n/sum"
echo 22 >"$m/t/a/n/sum"
seq 100000 >"$m/t/b/g/large"
echo '{"row":"b","set":{"f":{"x/y":"slash",".versions":"dot","":"none"}}}' \
	>"$m/t/.mutate"
long=$(printf 'k%.0s' $(seq 300))
echo "{\"row\":\"$long\",\"set\":{\"f\":{\"$long\":\"long\"}}}" >"$m/t/.mutate"
for i in $(seq 300); do
	echo "{\"row\":\"many$i\",\"set\":{\"f\":{\"q\":\"$i\"}}}"
done >"$m/t/.mutate"
show "$m/t" >was
policies "$m/t" >policies
then=$(moment)
before=$m/t/.as-of/$then

# was TEXT DIRECTORY: this is t at that moment.
was() {
	same "$1" "" "$(show "$2" | diff "$work/was" - | head -n 5)"
	same "$1: its schema" "" "$(policies "$2" | diff "$work/policies" -)"
}

was "now" "$before"
rm -r "$m/t/a"
check "all rows" T deleterow t many7
echo '{"row":"b","delete":true}' >"$m/t/.mutate"
T deletefamily t g
echo maxversions=1 >"$m/t/.schema/f/gc"
rm -r "$m/t/k"*
was "removed" "$before"
T deleteallrows t
T compact
same "nothing is left" "" "$(find "$m/t" -type f)"
was "compacted" "$before"
was "of all tables" "$all/$then/t"
same "versions that a policy has ended" "1 2 3" \
	"$(cat "$before/a/f/.versions/q/"* | xargs)"
same "which are listed" 3 "$(ls "$before/a/f/.versions/q" | wc -l)"
same "and read-only" "444 2" \
	"$(stat -c '%a %s' "$before/a/f/.versions/q/"* | head -n 1)"
same "what is shown of data is as in the table" "755 755 644" \
	"$(stat -c %a "$before" "$before/a/f" "$before/a/f/q" | xargs)"
same "a sum" 42 "$(cat "$before/a/n/sum")"
same "its type" intsum "$(cat "$before/.schema/n/type")"
same "extended attributes" "3 b maxversions=10" "$(python3 -c 'import os, sys
get = lambda path, name: os.getxattr(sys.argv[1] + path,
                                     "user.tabletfs." + name).decode()
print(get("/a/f/q", "versions"), get("/b", "key"), get("/a/f", "family_gc"))' \
	"$before")"
check "tar" sh -c "tar -C '$before' -c . | (mkdir out && tar -C out -x)"
check "is what it was" diff -r "$before" out
same "grep" "$before/b/f/x%2Fy" "$(grep -rl slash "$before")"
same "du" 2 "$(du -a "$before/a/f" | wc -l)"
check "a row by copying" cp -a "$before/b" "$m/t/"
check "is the row" diff -r "$before/b" "$m/t/b"
same "with its time" "$(stat -c %.6Y "$before/b/g/large")" \
	"$(stat -c %.6Y "$m/t/b/g/large")"
mkdir -p "$m/t/a/f"

# Names of times.
us=$(date -ud "$then" +%s%6N)
was "microseconds" "$m/t/.as-of/$us"
was "between two moments" "$m/t/.as-of/$((us + 1))"
same "a moment's time is its own" "$((us / 1000000))" \
	"$(stat -c %Y "$m/t/.as-of/$((us + 1))")"
same "now is one, too" slash \
	"$(moment >/dev/null; cat "$m/t/.as-of/0s/b/f/x%2Fy")"
same "by a link" l "$(find "$m/t/.as-of/" -name 0s -o -name oldest -printf %y)"
check "which is a time" [ -d "$m/t/.as-of/$(readlink "$m/t/.as-of/oldest")" ]
same "they lead to nothing that is walked" oldest \
	"$(find "$m/t/.as-of/" -mindepth 1 -printf '%P\n' | sort | tail -n 1)"
same "nor is it listed with data" "" "$(find "$m/t" -name .as-of)"
same "no link is one file's" "$(readlink "$m/t/.as-of/oldest")" \
	"$(readlink "$all/oldest")"
errno ENOENT ls "$m/t/.as-of/1h"
check "which moment is the oldest" grep -q 'history begins at 20' <(why)
errno ENOENT ls "$m/t/.as-of/1970-01-01T00:00:01Z"
errno ENOENT ls "$m/t/.as-of/2100-01-01T00:00:00Z"
check "that it is to come" grep -q 'a time to come' <(why)
for name in yesterday 5 5x m 0005 99999999999d 1h30m; do
	errno ENOENT ls "$m/t/.as-of/$name"
done
errno ENOENT ls "$m/t/.as-of/noon"
check "how times are written" grep -q '5m, 2h, 1d' <(why)
errno ENOENT ls "$before/none"
errno ENOENT ls "$before/a/f/none"
errno ENOENT ls "$before/a/f/.versions/q/1"
errno ENOENT ls "$before/.at"
errno ENOENT ls "$before/.schema/none"
errno ENOENT ls "$all/$then/none"

# Read-only.
for c in "mkdir $before/x" "touch $before/a/f/x" "rm $before/a/f/q" \
	"rmdir $before/a" "mv $before/a $before/c" "mkdir $before/.schema/x" \
	"chmod 600 $before/a/f/q" "truncate -s 0 $before/a/f/q" \
	"ln -s x $before/a/f/x" "mkfifo $before/a/f/x" "mkdir $all/$then/x" \
	"rmdir $all/$then/t" "mkdir $m/t/.as-of/x" "rm $m/t/.as-of/oldest" \
	"rm $(ls -d "$before/a/f/.versions/q/"* | head -n 1)" "tee $before/.schema/f/gc"; do
	errno EROFS $c </dev/null
done
check "what to do" grep -q 'does not change; copy' <(why)

# While others write.
(for i in $(seq 400); do echo $i >"$m/t/a/f/q" && rm -r "$m/t/a"; done
mkdir -p "$m/t/a/f" && echo last >"$m/t/a/f/q") 2>/dev/null &
writer=$!
for i in 1 2 3; do
	was "beside writers" "$before"
done
wait $writer

# Tables that are renamed, dropped, made again, while somebody is in the past.
exec 3<"$before/b/g/large"
cd "$before" || exit 1
mv "$m/t" "$m/u"
was "renamed" "$m/u/.as-of/$then"
was "where somebody was" .
same "by its name of then" "t tick" "$(ls "$all/$then" | xargs)"
mkdir -p "$m/t/new/f"
echo new >"$m/t/new/f/q"
was "while another has its name" "$m/u/.as-of/$then"
same "which has its own" new "$(moment >/dev/null; ls "$m/t/.as-of/0s")"
T deletetable u
T compact
was "dropped" "$all/$then/t"
was "where somebody was" .
same "what is open" "$(seq 100000 | md5sum)" "$(md5sum <&3)"
exec 3<&-
same "in no table any more" "t tick" "$(ls "$m" | xargs)"
T deletetable t
mkdir "$m/t"
was "made again" "$m/t/.as-of/$then"
cd "$work" || exit 1
mkdir "$m/later"
errno ENOENT ls "$m/later/.as-of/$then"
check "that it was not there" grep -q 'no such table at' <(why)
cd / && remount -o xattr && cd "$work" || exit 1
was "after a remount" "$m/t/.as-of/$then"
cd / && remount -o ro && cd "$work" || exit 1
was "by who only reads" "$m/t/.as-of/$then"
cd / && remount -o xattr && cd "$work" || exit 1
was "again" "$m/t/.as-of/$then"
check "who holds memory for it" \
	grep -q '^memory_moments [1-9]' "$m/.tabletfs/stats"

# What is given up.
exec 4<"$before/b"
check "history off" T history off
errno ESTALE ls /proc/self/fd/4/.
check "with its reason" grep -q 'no longer kept' <(why)
exec 4<&-
errno ENOENT ls "$before"
same "nothing is listed" "" "$(ls "$all")"

# What was closed is known, though the next mount is killed.
T history 48h
mkdir -p "$m/t/kept/f" && echo closed >"$m/t/kept/f/q"
sleep 2.2
between=$(date -u +%FT%T.%6NZ)
sleep 1
remount -o xattr || exit 1
opened=$(date -u +%FT%T.%6NZ)
echo killed >"$m/t/kept/f/q" && sync "$m/t/kept/f/q"
kill -9 "$daemon"
fusermount3 -uz "$m"
await_end
start_mount -o xattr || exit 1
same "what is there after a kill" killed "$(cat "$m/t/kept/f/q")"
same "a time before the store was closed" closed \
	"$(cat "$m/t/.as-of/$between/kept/f/q")"
errno ENOENT cat "$m/t/.as-of/$opened/kept/f/q"
check "since when it is not known" grep -q 'between 20.* is not known' <(why)

# Who may read it.
[ "$(id -u)" = 0 ] || { skip "no other users"; exit 0; }
chmod 755 "$work"
T history 1h
remount -o allow_other || exit 1
user() {
	setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}
for name in open closed given dropped; do
	mkdir -p "$m/$name/r/f" && chmod 700 "$m/$name"
	chown 1001:1001 "$m/$name" && echo secret >"$m/$name/r/f/q"
done
chmod 755 "$m/closed"
then=$(moment)
chmod 755 "$m/open"
chmod 700 "$m/closed"
chown 1002:1002 "$m/given" && chmod 755 "$m/given"
T deletetable dropped
for name in open closed given dropped; do
	same "its owner reads $name" "$([ $name = given ] || echo secret)" \
		"$(user 1001 cat "$all/$then/$name/r/f/q" 2>/dev/null)"
	for who in 1002 1003; do
		errno EACCES user $who cat "$all/$then/$name/r/f/q"
		errno EACCES user $who ls "$all/$then/$name"
	done
	same "root reads $name" secret "$(cat "$all/$then/$name/r/f/q")"
done
# Of a dropped table nobody reads more than they could at its end.
mkdir -p "$m/ended/r/f" && echo secret >"$m/ended/r/f/q"
mkdir -p "$m/sold/r/f" && echo secret >"$m/sold/r/f/q"
chmod 755 "$m/ended" "$m/sold"
open=$(moment)
chmod 700 "$m/ended"
chown 1001:1001 "$m/sold" && chmod 700 "$m/sold"
T deletetable ended
rm -r "$m/sold"
same "root reads what was closed before its end" secret \
	"$(cat "$all/$open/ended/r/f/q")"
errno EACCES user 1003 cat "$all/$open/ended/r/f/q"
errno EACCES user 1003 ls "$all/$open/ended"
errno EACCES user 1003 cat "$all/$open/sold/r/f/q"
remount -o allow_other || exit 1
errno EACCES user 1003 cat "$all/$open/sold/r/f/q"
same "root reads what was sold" secret "$(cat "$all/$open/sold/r/f/q")"
for name in open closed given; do
	errno EACCES user 1003 ls "$m/$name/.as-of/$then"
done
same "as in the table itself" secret \
	"$(user 1001 cat "$m/open/.as-of/$then/r/f/q")"
# Two users in the same one; then one may not any more.
moment=$(moment)
same "what is open" secret "$(user 1003 cat "$m/open/.as-of/$moment/r/f/q")"
same "for all" secret "$(user 1001 cat "$m/open/.as-of/$moment/r/f/q")"
chmod 700 "$m/open"
errno EACCES user 1003 cat "$m/open/.as-of/$moment/r/f/q"
errno EACCES user 1003 cat "$all/$moment/open/r/f/q"
same "for its owner" secret "$(user 1001 cat "$all/$moment/open/r/f/q")"
