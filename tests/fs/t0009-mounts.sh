#!/bin/bash
# Mount points that cannot be, stores that are in use, and the end of a mount.
. "$(dirname "$0")/lib.sh"

# says TEXT COMMAND...: it must fail with one line that contains TEXT.
says() {
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		fail "$* succeeded"
	else
		case $out in
		*$'\n'*) fail "$*: more than a line: $out" ;;
		*"$text"*) pass ;;
		*) fail "$*: '$out' does not say '$text'" ;;
		esac
	fi
}

mount="$TABLETFS mount"
says "No such file" $mount "$store" "$work/none"
: >file
says "Not a directory" $mount "$store" "$work/file"
mkdir -p other "$work/in"
echo x >other/file
says "not a TabletFS store" $mount "$work/other" "$m"
same "nothing was changed" file "$(ls -A other)"
says "No such file" $mount "$work/none/store" "$m"
says "bad option" $mount -o nonsense "$store" "$m"
says "bad option" $mount -o commit=x "$store" "$m"
says "at least 16M" $mount -o memory=1M "$store" "$m"
says "No such file" $mount "" "$m"
check "no store is made where one is" [ ! -e tabletfs ]
says "lies inside it" $mount "$m/store" "$m"
mkdir -p $'a\nb/c'
for words in "" "-o ro" "-o follow"; do
	says "a newline in it; name" $mount $words "$store" $'a\nb/c'
done
says "bad option: invalid GC policy: unexpected" $mount -o gc=nonsense "$store" "$m"
check "no store is made before" [ ! -e "$store" ]

start_mount || exit 1
same "the store is private" 700 "$(stat -c %a "$store")"
says "mounted there" $mount "$work/store2" "$m"
mkdir "$work/mnt2"
says "pid $daemon, mounted at $m" $mount "$store" "$work/mnt2"
mkdir "$store/x" 2>/dev/null
says "inside the store" $mount "$store" "$store/x"
rmdir "$store/x"
check "verbs reach the store through the mount" \
	"$TABLETFS" -store "$store" createtable t families=f
check "and the mount shows it" [ -d "$m/t" ]
"$TABLETFS" -store "$store" set t r f:q=1
same "a cell set by a verb" 1 "$(cat "$m/t/r/f/q")"
"$TABLETFS" -store "$store" set t r f:q=22
same "and changed by one" 22 "$(cat "$m/t/r/f/q")"
check "missing so far" [ ! -e "$m/t/r2" ]
"$TABLETFS" -store "$store" set t r2 f:q=x
check "and then there" [ -e "$m/t/r2/f/q" ]
same "listed, too" "r r2" "$(ls "$m/t" | xargs)"
"$TABLETFS" -store "$store" deleterow t r2
check "and gone" [ ! -e "$m/t/r2" ]
same "not listed" "r" "$(ls "$m/t" | xargs)"
exec 3<"$m/t/r/f/q"
"$TABLETFS" -store "$store" set t r f:q=333
same "an open file keeps its value" 22 "$(cat <&3)"
same "a new one has the new" 333 "$(cat "$m/t/r/f/q")"
exec 3<&-
check "sync" "$TABLETFS" -store "$store" sync
refuse "a request needs words" sh -c "printf x 1<>'$m/.tabletfs/ctl' >&1"

exec 3<"$m/t/r/f/q"
says "fuser -vm $m tells who uses it, of the package psmisc" "$TABLETFS" umount "$m"
exec 3<&-
says "no store is mounted there" "$TABLETFS" umount "$work/mnt2"

# A stopped daemon closes nothing: whoever waits for that is still there. The
# kernel writes the # of a store as \043.
plain=$store
for store in "$plain" "$work/s#1"; do
	mountpoint -q "$m" || start_mount
	kill -STOP "$daemon"
	timeout 1 "$TABLETFS" umount "$m"
	same "umount waits for the daemon of $store" 124 $?
	refuse "after the mount has ended" mountpoint -q "$m"
	kill -CONT "$daemon"
	await_end
done
store=$plain
start_mount
check "umount" "$TABLETFS" umount "$m"
same "the store is free at once" 1 "$("$TABLETFS" -store "$store" count t)"
daemon=

# Through links, absolute and not, with a slash and without.
ln -s "$m" to-mnt
ln -s to-mnt twice
for place in to-mnt twice twice/ "$work/twice"; do
	check "a mount at $place" "$TABLETFS" mount "$store" "$place"
	check "is ended by that name" "$TABLETFS" umount "$place"
	refuse "and is gone from $m" mountpoint -q "$m"
done

mkdir full
touch full/file
"$TABLETFS" mount "$store" full 2>told
same "what a mount hides is told" "has files, which are hidden" \
	"$(grep -o "has files, which are hidden" told)"
check "is ended" "$TABLETFS" umount full

# What a daemon that died left is unmounted, also where the kernel keeps what it
# knew of it.
start_mount
ls -l "$m" >/dev/null
stat "$m" >/dev/null
kill -STOP "$daemon"
says "something is mounted there" $mount "$work/store2" "$m"
kill -CONT "$daemon"
mkdir "$m/t/r2"
kill -STOP "$daemon"
says "whose daemon does not answer" timeout 10 $mount "$work/store2" "$m"
check "and no store is made" [ ! -e "$work/store2" ]
kill -KILL "$daemon"
await_end
check "a mount in the place of a dead one" start_mount
says "something is mounted there" $mount "$work/store2" "$m"
kill -INT "$daemon"
await_end
refuse "SIGINT ends it" mountpoint -q "$m"
start_mount -o ro
same "beside who reads, a command reads" 1 \
	"$("$TABLETFS" -store "$store" count t)"
stop_mount
start_mount
stop_mount
check "fusermount3 -u ends it" start_mount
stop_mount
"$TABLETFS" mount -f "$store" "$m" >served &
daemon=$!
until grep -q served served 2>/dev/null; do read -rt 0.01 <> <(:); done
same "in the foreground it says so" "tabletfs: $store is served at $m" \
	"$(cat served)"
kill -TERM "$daemon"
check "and ends with 0" wait "$daemon"
daemon=

# Words of mount(8): what holds is what the kernel's table shows. A later one
# undoes an earlier one.
options() {
	start_mount -o "$1"
	awk -v m="$m" '$5 == m { print $6 }' /proc/self/mountinfo
	daemon=$(find_daemon)
	stop_mount
}
same "each mount" "rw,nosuid,nodev,relatime" "$(options rw,dev,suid)"
same "as it was said" "rw,nosuid,nodev,noexec,noatime" \
	"$(options noexec,noatime,nodiratime,nofail)"
same "the last word counts" "rw,nosuid,nodev,relatime" \
	"$(options noexec,noatime,ro,exec,atime,rw)"
start_mount -o noexec
mkdir -p "$m/t/r/f"
cp /bin/true "$m/t/r/f/true"
errno EACCES "$m/t/r/f/true"
stop_mount

# A quota makes a full disk.
start_mount -o quota=4M
mkdir -p "$m/q/r/f"
head -c 1000000 /dev/urandom >noise
full=no
for i in $(seq 20); do
	cp noise "$m/q/r/f/n$i" 2>/dev/null || { full=yes; break; }
done
same "a quota fills up" yes "$full"
# What a refusal has looked for comes back a moment later: until nothing does.
filled() {
	local size i before=$(ls "$m/q/r/f" | wc -l)
	for size in 100000 10000 1000 100 1; do
		for i in $(seq $before $((before + 50))); do
			head -c $size noise >"$m/q/r/f/n$size.$i" || break
		done 2>/dev/null
	done
	sleep 0.3
	! sh -c "echo 1 >'$m/q/r/f/little'" 2>/dev/null
}
fill() {
	local tries=0 times=0
	until [ $times = 4 ] || [ $((tries++)) = 100 ]; do
		filled && times=$((times + 1)) || times=0
	done
}
fill
errno ENOSPC cp noise "$m/q/r/f/more"
check "what was there before is read" cmp noise "$m/q/r/f/n1"
check "and told by statfs" [ "$(stat -f -c %a "$m")" -le 8 ]
check "with what helps" grep -q 'compact frees' "$m/.tabletfs/errors"
errno ENOSPC truncate -s 2000000 "$m/q/r/f/n2"
errno ENOSPC sh -c "exec 3<>'$m/q/r/f/n2' && truncate -s 2000000 /dev/fd/3"
check "what is cut takes none" truncate -s 10 "$m/q/r/f/n2"
{
	printf '{"row":"r","mutations":[{"delete":{"f":["n2"]}},{"set":{"f":{"j":"'
	head -c 100000 /dev/zero | tr '\0' x
	echo '"}}}]}'
} >mutation
fill
errno ENOSPC cp mutation "$m/q/.mutate"
errno ENOSPC cp mutation "$m/q/r/.row.jsonl"
check "a command is not refused" "$TABLETFS" -store "$store" set q command f:c=1
check "as it shows" rm -r "$m/q/command"
check "nothing of it is done" [ -e "$m/q/r/f/n2" ]
echo '{"row":"r","mutations":[{"delete":{"f":["n2"]}}]}' >mutation
check "what only removes is" cp mutation "$m/q/.mutate"
check "as the name shows" [ ! -e "$m/q/r/f/n2" ]
rm "$m"/q/r/f/n*
"$TABLETFS" -store "$store" compact
check "which it does" sh -c "echo 1 >'$m/q/r/f/n1'"

# What is open counts: four writers together have no more room than one.
cat >several.py <<'PYTHON'
import os, sys
fds = [os.open("%s/o%d" % (sys.argv[1], i), os.O_CREAT | os.O_WRONLY)
       for i in range(4)]
written = 0
try:
    while written < 64:
        for fd in fds:
            written += os.write(fd, os.urandom(1 << 20)) >> 20
except OSError as e:
    assert e.errno == 28, e
for fd in fds:
    os.close(fd)
print(written)
PYTHON
mkdir -p "$m/q/s/f"
written=$(python3 several.py "$m/q/s/f")
check "of 4 MiB, $written are written to open files" [ "$written" -le 4 ]
check "which is not none" [ "$written" -ge 1 ]
errno ENOSPC truncate -s 50M "$m/q/s/f/large"
rm -r "$m/q/s"
"$TABLETFS" -store "$store" compact

# What is kept for a backup counts until that has ended, without anybody's doing;
# for a reader who rests nothing is kept. No history has these files, too.
"$TABLETFS" -store "$store" history off
figure() {
	"$TABLETFS" -store "$store" stats | sed -n "s/^$1 //p"
}
head -c 700000 /dev/urandom | base64 -w 1000 |
	awk '{ print "{\"row\":\"w" NR "\",\"set\":{\"f\":{\"q\":\"" $0 "\"}}}" }' >rows
mkdir -p "$m/w/.schema/f"
cp rows "$m/w/.import/jsonl"
"$TABLETFS" -store "$store" compact
before=$(stat -f -c %a "$m")
exec 6<"$m/w/.scan/cbt"
head -c 10 <&6 >begun
"$TABLETFS" -store "$store" compact
same "a scan keeps no file" 0 "$(figure obsolete_bytes)"
same "and goes on" "$(sha1sum <"$m/w/.scan/cbt")" \
	"$({ cat begun; cat <&6; } | sha1sum)"
exec 6<&- 5<>"$m/.tabletfs/ctl"
printf 'w4\npin\0' >&5
"$TABLETFS" -store "$store" compact
size=$(figure obsolete_bytes)
check "a pin keeps files: $size bytes" [ "$size" -gt 500000 ]
after=$(stat -f -c %a "$m")
check "which the quota counts: $before, then $after blocks are left" \
	[ $((before - after)) -ge $((size / 4096 - 2)) ]
exec 5<&-
for i in $(seq 100); do
	[ "$(figure obsolete_bytes)" != 0 ] || break
	sleep 0.05
done
same "they go with it" 0 "$(figure obsolete_bytes)"
check "and are no part of the quota" [ "$(stat -f -c %a "$m")" -ge $((before - 2)) ]

# Started without standard streams: no file of the store becomes one of them.
for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
	stop_mount
	eval "\"$TABLETFS\" mount \"$store\" \"$m\" $closed"
	daemon=$(find_daemon)
	same "streams of the daemon, started with $closed" \
		"/dev/null /dev/null /dev/null" \
		"$(readlink /proc/$daemon/fd/[012] | xargs)"
	check "it takes an import, started with $closed" sh -c \
		"echo '{\"row\":\"i\",\"set\":{\"f\":{\"q\":\"1\"}}}' >'$m/q/.import/jsonl'"
done
refuse "an output that is closed is told" sh -c "'$TABLETFS' help >&-"
stop_mount

# It keeps nothing that it inherits: a lock of the shell's ends with the shell.
exec 9>inherited
flock 9
start_mount
exec 9>&-
check "a lock is not kept" flock -n inherited true
stop_mount
