#!/bin/bash
# Backups of a store that is mounted and goes on to change, and of one that is
# not; they open for writing and hold what was there. The daemon of a mount only
# pins: it opens nothing, and nothing stays pinned when the command has ended.
#
# Alone: its namespaces of mounts keep those of others.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store

dump() { "$TABLETFS" -store "$1" read t; }

start_mount
"$TABLETFS" createtable t families=f
for i in 1 2 3 4 5; do "$TABLETFS" set t "row$i" f:q="value $i"; done
"$TABLETFS" compact
head -c 300000 /dev/urandom >large
mkdir -p "$m/t/row6/f"
cp large "$m/t/row6/f/large"
sync "$m/t/row6/f/large"
"$TABLETFS" read t >before
check "a backup through the mount" "$TABLETFS" backup backups
online=$(readlink -f backups/latest)
"$TABLETFS" -store "$work/foreign" createtable t
foreign=$("$TABLETFS" -store "$work/foreign" backup backups 2>&1 |
	sed 's/and this is store .*//')
touch plain
taken=$("$TABLETFS" backup plain 2>&1)
rm -r "$m/t/row2"
echo new >"$m/t/row1/f/q"
"$TABLETFS" compact
same "the backup is as the store was" "$(cat before)" "$(dump "$online")"
check "and nothing is wrong with it" "$TABLETFS" -store "$online" check
check "what shows something changes nothing" eval '
	"$TABLETFS" -store "$online" protect t &&
	"$TABLETFS" -store "$online" recipe t &&
	! "$TABLETFS" -store "$online" recipe t show none &&
	"$TABLETFS" -store "$online" history' >/dev/null 2>&1
check "it is a backup still" "$TABLETFS" restore-from "$online" shown
check "it can be written" "$TABLETFS" -store "$online" set t row9 f:q=nine
check "which the store does not see" \
	sh -c "! '$TABLETFS' read t | grep -q nine"
stop_mount

same "what is wrong is told alike, mounted or not" \
	"tabletfs: Backing up: plain: cannot open: Not a directory" "$taken"
same "when it is not" "$taken" "$("$TABLETFS" backup plain 2>&1)"
same "also of another store" "$foreign" \
	"tabletfs: Backing up: backups: holds backups of store $(sed -n 2p \
	backups/backups), "

# One that was written to is a store, which is backed up as any other.
mv "$store" lost
status 1 "it is no backup any more" "$TABLETFS" restore-from "$online" "$store"
told "was written to since"
check "but can be backed up" "$TABLETFS" -store "$online" backup again
check "and be restored" "$TABLETFS" restore-from again "$store"
start_mount
same "a row of before" "value 2" "$(cat "$m/t/row2/f/q")"
check "a large value" cmp large "$m/t/row6/f/large"
stop_mount
check "nothing is wrong" "$TABLETFS" check

# To another file system files are copied.
if [ -d /dev/shm ] && other=$(mktemp -d /dev/shm/tabletfs-test.XXXXXX); then
	check "a backup elsewhere" "$TABLETFS" backup "$other/copy"
	same "has it all" "$("$TABLETFS" read t | md5sum)" \
		"$(dump "$other/copy/latest" | md5sum)"
	rm -r "$other"
fi
errno ENOENT "$TABLETFS" backup "$work/no/such/place"

# files: those of the store that a backup would have.
files() { (cd "$store" && ls ./*.sst ./*.blob 2>/dev/null); }

# gone FILE...: waits for the daemon to remove them.
gone() {
	local tries
	for tries in $(seq 100); do
		(cd "$store" && ls "$@" >/dev/null 2>&1) || return 0
		sleep 0.1
	done
	return 1
}

# change: what all files of the store are made anew by.
change() {
	"$TABLETFS" deletetable t && "$TABLETFS" createtable t families=f &&
		"$TABLETFS" set t row f:q="now $RANDOM" && "$TABLETFS" compact
}

# A pin is the open file's, and ends with it. No history has these files, too.
start_mount
"$TABLETFS" history off
"$TABLETFS" compact
before=$("$TABLETFS" read t | md5sum)
exec 7<>"$m/.tabletfs/ctl"
printf 'w4\npin\0' >&7
same "it is pinned" "x 0" \
	"$(python3 -c 'import os; print(os.pread(7, 1 << 20, 0)[-4:].decode())')"
pinned=$(files)
check "the store changes" change
check "what is pinned stays" sh -c "cd '$store' && ls \$1 >/dev/null" - "$pinned"
check "and counts" sh -c \
	"[ \"\$('$TABLETFS' stats | sed -n 's/obsolete_bytes //p')\" -gt 300000 ]"
(exec 8<&7) # a copy of the descriptor ends nothing
check "still" sh -c "cd '$store' && ls \$1 >/dev/null" - "$pinned"
exec 7<&-
check "then it goes" gone $pinned

# Unframed, or of a verb that names a path, it is refused.
refuse "words without a length" \
	sh -c "echo backup '$work/by-hand' 1<>'$m/.tabletfs/ctl' >&1"
check "and says what to do" \
	grep -q 'ctl: .*; tabletfs VERB sends it so' "$m/.tabletfs/errors"
exec 7<>"$m/.tabletfs/ctl"
printf 'w%d\nbackup\0%s\0' $((8 + ${#work})) "$work" >&7
same "so are those with one" "tabletfs: backup does not run in a daemon, \
which opens no path; run tabletfs backup <dir> [keep=<n>] [link=yes|no]" \
	"$(python3 -c 'import os; print(os.pread(7, 4096, 0).decode())' |
		sed -n 2p)"
exec 7<&-
check "nothing came of them" [ ! -e "$work/by-hand" ]

# Two at once, while tables come, go and change.
"$TABLETFS" createtable kept families=f
for i in $(seq 20); do
	printf '{"row":"r%s","set":{"f":{"q":"%s"}}}\n' "$i" "$i"
done >"$m/kept/.mutate"
kept=$("$TABLETFS" read kept | md5sum)
(
	while [ ! -e "$work/enough" ]; do
		"$TABLETFS" createtable u families=f
		cp large "$m/kept/.import/jsonl" 2>/dev/null
		"$TABLETFS" set u r f:q=v
		head -c 100000 large >"$m/u/r/f/large"
		mv "$m/u" "$m/v"
		"$TABLETFS" compact
		"$TABLETFS" deletetable v
	done
) >/dev/null 2>&1 &
changer=$!
for i in 1 2 3 4; do
	"$TABLETFS" backup "$work/one$i" >/dev/null &
	one=$!
	check "backup $i of a store in change" "$TABLETFS" backup "$work/two$i"
	check "and the one beside it" wait $one
	for copy in one two; do
		check "$copy$i is whole" "$TABLETFS" -store "$work/$copy$i/latest" check
		same "$copy$i has what did not change" "$kept" \
			"$("$TABLETFS" -store "$work/$copy$i/latest" read kept | md5sum)"
	done
done
touch "$work/enough"
wait $changer
rm -r "$work"/one? "$work"/two?

# Where only the command sees the target, the daemon cannot have opened it.
if unshare -m mount -t tmpfs none "$work" 2>/dev/null; then
	mkdir private
	same "a place that only the command sees" "no problem found" \
		"$(unshare -m sh -c "mount -t tmpfs none private &&
			'$TABLETFS' backup private/copy >/dev/null &&
			'$TABLETFS' -store private/copy/latest check" 2>&1)"
	same "nothing is at it here" "" "$(ls private)"
	head -c 3000000 /dev/urandom >"$m/t/row/f/large"
	out=$(unshare -m sh -c "mount -t tmpfs -o size=1m none private &&
		'$TABLETFS' backup private/copy" 2>&1)
	same "a full target fails" 1 $?
	case $out in
	*private/copy/*.partial/*"No space left on device") pass ;;
	*) fail "a full target: $out" ;;
	esac
	check "the store goes on" "$TABLETFS" set t row f:q=more
	rm "$m/t/row/f/large"
fi

# stop_amid DIR: a backup to DIR, where it has to be copied, is stopped while it
# is; command is its process, and text what it says.
stop_amid() {
	local tries
	text=$work/text
	for tries in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$1"
		"$TABLETFS" backup "$1" >"$text" 2>&1 &
		command=$!
		until compgen -G "$1/*.partial/*.blob.tmp" >/dev/null ||
			compgen -G "$1/*/root" >/dev/null; do :; done
		kill -STOP $command
		compgen -G "$1/*.partial" >/dev/null &&
			! compgen -G "$1/*/root" >/dev/null && return
		kill -CONT $command
		wait $command
	done
	fail "a backup is never met amid: $(cat "$text")"
	return 1
}

# Values that take a while to be copied; and nothing is left to be merged, so
# that the files that are there are those that a backup pins.
set_large() {
	local i
	for i in 1 2 3; do
		head -c 8000000 /dev/urandom >"$m/t/row/f/large$i"
	done
	"$TABLETFS" compact
}

if [ -d /dev/shm ] && other=$(mktemp -d /dev/shm/tabletfs-test.XXXXXX); then
	set_large
	stop_amid "$other/copy"
	pinned=$(files)
	check "changes go on beside a backup that stands" change
	check "what it copies stays" \
		sh -c "cd '$store' && ls \$1 >/dev/null" - "$pinned"
	out=$(timeout 10 "$TABLETFS" umount "$m" 2>&1)
	same "the mount is in use: $out" 1 $?
	kill -CONT $command
	check "the backup goes on" wait $command
	check "then what it copied goes" gone $pinned
	check "and is whole" "$TABLETFS" -store "$other/copy/latest" check
	refuse "with nothing beside it" compgen -G "$other/copy/*.partial"
	same "with what was there" "row" \
		"$("$TABLETFS" -store "$other/copy/latest" read t keys-only=true |
			sed -n 2p)"

	set_large
	stop_amid "$other/copy"
	pinned=$(files)
	check "changes" change
	kill -KILL $command
	wait $command 2>/dev/null
	check "of a command that was killed nothing stays pinned" gone $pinned
	same "nor is there a backup" "" "$("$TABLETFS" backups "$other/copy")"
	refuse "what it left is no store" \
		"$TABLETFS" -store "$(compgen -G "$other/copy/*.partial")" ls
	check "it may be done again" "$TABLETFS" backup "$other/copy"
	refuse "and removes that" compgen -G "$other/copy/*.partial"

	for signal in TERM KILL; do
		for i in 1 2 3; do
			head -c 8000000 /dev/urandom >"$m/t/row/f/large$i"
		done
		stop_amid "$other/copy"
		check "changes" change
		kill -$signal "$daemon"
		await_end
		# Whoever is next removes what was pinned.
		start_mount
		kill -CONT $command
		wait $command
		same "the daemon's end by $signal fails the backup" 1 $?
		case $(cat "$text") in
		"tabletfs: Backing up: the mount at $m ended before all was"*) pass ;;
		*) fail "$signal: $(cat "$text")" ;;
		esac
		same "there is none" "" "$("$TABLETFS" backups "$other/copy")"
		refuse "and nothing is left of it" compgen -G "$other/copy/*.partial"
	done
	rm -r "$other"
fi
stop_mount
check "nothing is wrong after all" "$TABLETFS" check
