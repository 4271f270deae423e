#!/bin/bash
# From where a daemon is started: with odd descriptors, from a directory that has
# gone, under limits of descriptors, memory and files' sizes. It serves, or tells
# what it lacks; what was acknowledged stays.
. "$(dirname "$0")/lib.sh"
unset TABLETFS_STORE

on() {
	timeout 120 "$TABLETFS" -store "$store" "$@"
}
lives() {
	kill -0 "$daemon" && [ -d "$m/.tabletfs" ]
}
rows() {
	seq -f '{"row":"row%07.0f","set":{"f":{"q":"a value of some length"}}}' \
		"$1" "$2"
}

# Output that cannot be written.
check "with a full disk for output" start_mount >/dev/full 2>/dev/full
check "it serves" sh -c "mkdir -p '$m/t/r/f' && echo 1 >'$m/t/r/f/q'"
stop_mount
# in_foreground STDOUT: serves for a moment; what it says is in the file why.
in_foreground() {
	eval "\"$TABLETFS\" mount -f \"$store\" \"$m\" $1 2>why &"
	daemon=$!
	for ((i = 0; i < 600; i++)); do
		mountpoint -q "$m" && break
		sleep 0.05
	done
	check "in the foreground with $1" test -d "$m/t/r"
	kill -TERM $daemon
	wait $daemon
	same "it ends with 1" 1 $?
	daemon=
}
in_foreground '>/dev/full'
check "why: $(cat why)" grep -q 'standard output: No space left' why
refuse "only that" grep -q 'temporarily' why
in_foreground '>&-'
check "why: $(cat why)" grep -q 'standard output: Bad file descriptor' why

# A daemon that dies before it serves, here while it waits for the store.
mkfifo rows.fifo
on import t rows.fifo format=jsonl >/dev/null 2>&1 &
exec 8>rows.fifo
"$TABLETFS" mount "$store" "$m" 2>why &
starter=$!
for ((i = 0; i < 600; i++)); do
	grep -q waiting why && break
	sleep 0.05
done
kill -KILL $(cat /proc/$starter/task/$starter/children)
wait $starter
same "a mount whose daemon died" 1 $?
check "why: $(cat why)" grep -q 'ended before it served: Killed' why
exec 8>&-
wait

# Descriptors that a program forgot to close: of all kinds, high and low.
cat >inherit.py <<'PYTHON'
import os, resource, socket, subprocess, sys
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
kept = [open("inherited%d" % i, "w") for i in range(300)]
kept += socket.socketpair()
for end in os.pipe():
    os.set_inheritable(end, True)
for f in kept:
    os.set_inheritable(f.fileno(), True)
os.dup2(kept[0].fileno(), min(hard, 4096) - 1)
sys.exit(subprocess.call(sys.argv[1:], close_fds=False))
PYTHON
check "with descriptors inherited" python3 inherit.py \
	"$TABLETFS" mount "$store" "$m"
daemon=$(find_daemon)
same "none is kept" "" "$(find /proc/$daemon/fd -lname '*inherited*')"
same "no pipe nor socket" "" "$(find /proc/$daemon/fd -lname 'pipe:*' -o \
	-lname 'socket:*')"
stop_mount

# A working directory that has gone.
mkdir gone
check "from a removed directory" sh -c 'cd gone && rmdir ../gone &&
	exec "$0" mount "$1" "$2"' "$TABLETFS" "$store" "$m"
daemon=$(find_daemon)
same "it leaves that" / "$(readlink "/proc/$daemon/cwd")"
stop_mount
mkdir gone
refuse "but not to a path from there" sh -c 'cd gone && rmdir ../gone &&
	exec "$0" mount store "$1"' "$TABLETFS" "$m"

# limited LIMIT VALUE COMMAND...: under ulimit.
limited() {
	local limit=$1 value=$2
	shift 2
	(ulimit "$limit" "$value" && "$@")
}

# Few descriptors: many large files are open at once, some of which then cannot
# be, and is told.
check "with 64 descriptors" limited -n 64 "$TABLETFS" mount "$store" "$m"
daemon=$(find_daemon)
rows 1 20000 >rows.jsonl
check "it takes an import" on import t rows.jsonl 2>/dev/null
python3 - "$m/t/r/f" >opened <<'PYTHON'
import errno, os, sys
LACKS = errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.EIO
opened = []
for i in range(100):
    fd = os.open("%s/large%d" % (sys.argv[1], i), os.O_WRONLY | os.O_CREAT)
    size = 0
    try:
        while size < 3 << 20:
            size += os.write(fd, (b"%03d" % i * (1 << 20))[size:])
    except OSError as e:
        assert e.errno in LACKS, e
    opened.append((i, fd, size))
for i, fd, size in opened:
    try:
        os.close(fd)
        print(i, size)
    except OSError as e:
        assert e.errno in LACKS, e
PYTHON
same "it ran" 0 $?
check "it lives" lives
wrong=0
while read -r i size; do
	[ "$(head -c 3 "$m/t/r/f/large$i")" = \
		"$([ "$size" = 0 ] || printf %03d "$i")" ] &&
		[ "$(stat -c %s "$m/t/r/f/large$i")" = "$size" ] ||
		wrong=$((wrong + 1))
done <opened
same "all $(wc -l <opened) that were taken are there" 0 $wrong
check "which are some" [ "$(grep -c 3145728 opened)" -ge 8 ]
check "and some lacked one" [ "$(grep -c ' 1048576' opened)" -ge 1 ]
same "with the rows" 20001 "$(on count t)"
stop_mount
same "also without it" 20001 "$(limited -n 64 on count t)"
check "and checked" limited -n 64 on check >/dev/null

# Files of 2 MiB at most: more is refused, and ends nobody.
check "with small files" limited -f 2048 "$TABLETFS" mount "$store" "$m"
daemon=$(find_daemon)
mkdir -p "$m/u/r/f"
head -c 1000000 /dev/urandom >noise
taken=
for i in 1 2 3 4 5 6 7 8; do
	cp noise "$m/u/r/f/n$i" 2>/dev/null && taken="$taken n$i"
done
check "it lives" lives
# (A tmpfs does not give a file room beyond the limit either.)
if [ "$(stat -f -c %T "$work")" = tmpfs ] && [ ! "$taken" ]; then
	check "that room is lacking is told" \
		grep -q "too large: .*cannot hold room" "$m/.tabletfs/errors"
else
	check "some are taken: $taken" [ "$taken" ]
fi
for q in $taken; do
	check "$q is there" cmp noise "$m/u/r/f/$q"
done
rows 30001 50000 >more.jsonl
on import t more.jsonl >out 2>&1
imported=$?
check "it lives after an import" lives
stop_mount
check "and without the limit" start_mount
for q in $taken; do
	check "$q is there still" cmp noise "$m/u/r/f/$q"
done
[ $imported != 0 ] || same "with the import" 40001 "$(on count t)"
check "writes go on" sh -c "mkdir -p '$m/u/r/f' && cp noise '$m/u/r/f/n1' && rm -r '$m/u'"
stop_mount
check "the store is whole" on check >/dev/null

# Little address space, which sanitizers' programs cannot do with.
if is_sanitized; then
	skipped=$((skipped + 1))
elif limited -v 400000 "$TABLETFS" mount -o memory=32M "$store" "$m" 2>why; then
	daemon=$(find_daemon)
	pass
	rows 60001 110000 >rows.jsonl
	on import t rows.jsonl >out 2>&1
	imported=$?
	check "it lives with little address space" lives
	[ $imported != 0 ] || check "and has the import" [ "$(on count t)" -ge 70001 ]
	check "what was there is read" [ "$(on count t)" -ge 20001 ]
	stop_mount
	check "the store is whole" on check >/dev/null
else
	check "it is told: $(cat why)" grep -q "Cannot allocate memory" why
fi

# A group of processes with little memory; of either kind of control groups.
group=
at_end() {
	stop_mount 2>/dev/null
	[ -z "$group" ] || rmdir "$group"
}
for kind in memory:memory.limit_in_bytes .:memory.max; do
	group=/sys/fs/cgroup/${kind%%:*}/tabletfs-test-$$
	mkdir "$group" 2>/dev/null &&
		echo 128M 2>/dev/null >"$group/${kind##*:}" && break
	rmdir "$group" 2>/dev/null
	group=
done
# (What is on a tmpfs is memory of the group.)
if is_sanitized || [ -z "$group" ] ||
	[ "$(stat -f -c %T "$work")" = tmpfs ] || ! sh -c "echo \$\$ >'$group/cgroup.procs'" 2>/dev/null
then
	echo "skipped: there are no control groups of memory, or a sanitizer"
	skipped=$((skipped + 1))
	exit 0
fi
check "in a group of 128M" sh -c 'echo $$ >"$0/cgroup.procs" &&
	exec "$1" mount -o memory=48M "$2" "$3"' "$group" "$TABLETFS" "$store" "$m"
daemon=$(find_daemon)
check "the daemon is in it" grep -q "${group##*/}" "/proc/$daemon/cgroup"
head -c 60000000 /dev/urandom | base64 -w 300 |
	awk '{ print "{\"row\":\"w" NR "\",\"set\":{\"f\":{\"q\":\"" $0 "\"}}}" }' \
	>rows.jsonl
check "80 MB are imported" on import t rows.jsonl 2>/dev/null
check "it lives" lives
check "all is read" [ "$(on count t)" -ge $(($(wc -l <rows.jsonl) + 20001)) ]
for i in 1 2 3 4 5; do
	head -c 20000000 /dev/zero | tr '\0' $i >"$m/t/r/f/big$i" &
done
wait
same "large values at once" "20000000 20000000 20000000 20000000 20000000" \
	"$(stat -c %s "$m"/t/r/f/big? | xargs)"
check "it lives" lives
stop_mount
check "the store is whole" on check >/dev/null
