#!/bin/bash
# tabletfs create: a store in a new or empty directory, or a sentence and
# nothing left behind.
. "$(dirname "$0")/lib.sh"
unset TABLETFS_STORE
create() { "$TABLETFS" create "$@"; }

# says TEXT COMMAND...: it must fail with 1 and one line that contains TEXT,
# which must say what to do, and print nothing else.
says() {
	local text=$1 status
	shift
	"$@" >out 2>message
	status=$?
	same "$* fails" 1 "$status"
	same "$*: one line" 1 "$(wc -l <message)"
	same "$*: nothing else" "" "$(cat out)"
	check "$*: '$(cat message)' says '$text'" grep -qF -- "$text" message
	check "and what to do" grep -q '; \|usage: ' message
}
name="; name a new or empty directory"

same "it says nothing" "" "$(create "$store" 2>&1)"
same "only its owner may enter" 700 "$(stat -c %a "$store")"
same "a store without tables" "" "$("$TABLETFS" -store "$store" ls)"
same "and without a fault" "no problem found" \
	"$("$TABLETFS" -store "$store" check)"
check "it can be mounted" start_mount
mkdir -p "$m/t/r/f"
echo x >"$m/t/r/f/q"
says "holds a store already$name" create "$store"
says "$name" create "$m"
says "$name" create "$m/t"
says "; " create "$m/u"
says "; name a directory that is not in a mount" \
	"$TABLETFS" -store "$m/u" createtable v
says "; name a directory that is not in a mount" \
	"$TABLETFS" -store "$store" backup "$m/u"
same "nothing came of that" t "$(ls "$m")"
same "what was there is there" x "$(cat "$m/t/r/f/q")"
stop_mount
says "holds a store already$name" create "$store"
same "nor does a store that is free change" 1 \
	"$("$TABLETFS" -store "$store" count t)"

mkdir -m 750 empty
ln -s empty link
check "in an empty directory, by a link" create link
same "which stays what it is" 750 "$(stat -c %a empty)"
check "it is a store" "$TABLETFS" -store empty check >/dev/null
check "of -store" "$TABLETFS" -store by-option create
check "which is one" "$TABLETFS" -store by-option check >/dev/null
check "of TABLETFS_STORE" env TABLETFS_STORE=by-name "$TABLETFS" create
check "which is one, too" "$TABLETFS" -store by-name check >/dev/null
check "what is named counts first" \
	"$TABLETFS" -store not-made create 'a b/' >/dev/null
same "and only that is made" "a b" "$(ls -d not-made 'a b' 2>/dev/null)"

rm -r by-* 'a b' message out
mkdir -p home/tabletfs
says "home: tabletfs is a directory in it" "$TABLETFS" -store home ls
rm -r home message out
before=$(ls -lA)
says "is empty; say tabletfs create DIR" create ""
says "is empty; say tabletfs create DIR" "$TABLETFS" -store "" create
says "usage: tabletfs create" create
says "usage: tabletfs create" create one two
same "its help is told" "$("$TABLETFS" help create)" "$("$TABLETFS" create --help)"
says "cannot create: No such file or directory; make the directory that" \
	create no/such
: >file
says "Not a directory$name" create file
says "Not a directory$name" create file/store
rm file
mkdir other
echo x >other/thing
says "holds other files, such as thing$name" create other
same "they stay" thing "$(ls -A other)"
echo "TabletFS store, format 99" >other/tabletfs
says "not a format that is known here$name" create other
same "as they were" "tabletfs thing" "$(ls -A other | LC_ALL=C sort | xargs)"
rm -r other
ln -s nowhere dangling
says "No such file or directory; " create dangling
rm dangling
says "File name too long$name" create "$(printf '%300s' | tr ' ' x)"
rm message out
same "nothing of all this is left" "$before" "$(ls -lA)"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	other="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 755 "$work"
	mkdir -m 755 theirs
	says "Permission denied; name a directory where you may write" \
		$other "$TABLETFS" create "$work/theirs/store"
	says "Permission denied; name a directory where you may write" \
		$other "$TABLETFS" create "$work/theirs"
	says "Permission denied; " $other "$TABLETFS" create "$store"
	same "nothing is left" "" "$(ls -A theirs)"
	chmod 777 theirs
	check "where they may" $other "$TABLETFS" create "$work/theirs/store"
	same "it is theirs" 65534 "$(stat -c %u theirs/store/root)"
else
	skipped=$((skipped + 1))
fi

# Disks that end before the store is made, wherever that is.
small=$work/small
mkdir "$small"
if mount -t tmpfs -o nr_inodes=2 none "$small" 2>/dev/null; then
	trap 'stop_mount 2>/dev/null; umount -l "$small"; finish' EXIT
	failures=0
	for inodes in 2 3 4 5 6 7 8 9; do
		mount -o remount,nr_inodes=$inodes "$small"
		create "$small" >/dev/null 2>&1 && break
		says "No space left on device; make room" create "$small"
		same "nothing is left" "" "$(ls -A "$small")"
		failures=$((failures + 1))
	done
	check "files failed one after another: $failures" [ $failures -ge 4 ]
	mount -o remount,nr_inodes=20 "$small"
	check "with enough of them it is a store" \
		"$TABLETFS" -store "$small" check >/dev/null
	rm "$small"/*
	failures=0
	for inodes in 2 3 4 5 6 7 8 9; do
		mount -o remount,nr_inodes=$inodes "$small"
		create "$small/new" >/dev/null 2>&1 && break
		says "No space left on device; make room" create "$small/new"
		same "not even the directory" "" "$(ls -A "$small")"
		failures=$((failures + 1))
	done
	check "again: $failures" [ $failures -ge 4 ]
	rm -r "$small/new"
	mkdir "$small/empty"
	mount -o remount,ro "$small"
	says "Read-only file system; name a directory where you may write" \
		create "$small/new"
	says "Read-only file system; name a directory where you may write" \
		create "$small/empty"
	same "nothing is left" empty "$(ls -AR "$small" | sed -n 2p)"
else
	skipped=$((skipped + 1))
fi

# Of several at the same time, some may be told no; the store is whole.
for i in $(seq 10); do
	seq 4 | xargs -P 4 -I{} "$TABLETFS" create "race$i" 2>/dev/null
	check "a race" "$TABLETFS" -store "race$i" check >/dev/null
done
