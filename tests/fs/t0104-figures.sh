#!/bin/bash
# The file of figures and who is near it: places that are refused, a second
# writer, and a disk that hangs, which holds up neither requests nor the end, of
# a mount and of a server.
#
# Waits: for a disk that hangs, and for files that are written now and then.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
hang=$(dirname "$TABLETFS")/tests/fs/hang
[ -x "$hang" ] || skip_all "$hang is not built"
disk=
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	[ -z "$disk" ] || kill -KILL "$disk" 2>/dev/null
	fusermount3 -uz "$work/slow" 2>/dev/null
	fusermount3 -uz "$work/mnt2" 2>/dev/null
	stop_mount 2>/dev/null
}
mkdir prom mnt2 disk slow

# await COMMAND...: it holds in time.
await() {
	local i
	for i in $(seq $((300 * ${SLOW:-1}))); do
		"$@" && return
		sleep 0.1
	done
	return 1
}
# refused NAME TEXT WORDS...: a mount at mnt2 is not made, and one sentence says
# why.
refused() {
	local name=$1 text=$2
	shift 2
	status 1 "refused: $name" "$TABLETFS" mount "$@" store2 mnt2
	told "$text"
	same "$name: one sentence" 1 "$(wc -l <err)"
	refuse "$name: nothing is mounted" mountpoint -q mnt2
	fusermount3 -uz mnt2 2>/dev/null
}

# Where the mount would hide it: by its name, a link and from there.
mkdir mnt2/below
ln -s mnt2/below link
refused "in its own mount" "lies inside it" -o metrics-file=mnt2/x.prom
refused "below it" "lies inside it" -o metrics-file=mnt2/below/x.prom
refused "by a link" "lies inside it" -o metrics-file=link/x.prom
status 1 "refused: from there" sh -c "cd mnt2/below &&
	exec '$TABLETFS' mount -o metrics-file=x.prom '$work/store2' '$work/mnt2'"
told "lies inside it"
rmdir mnt2/below

# In another's mount, and what another writes.
MOUNT="-o metrics-file=prom/x.prom" start_mount
mkdir -p "$m/t/r/f"
refused "in another mount" "lies inside a tabletfs mount" \
	-o metrics-file="$m/t/r/f/x.prom"
same "of which nothing was changed" "" "$(ls -A "$m/t/r/f")"
check "it is written at once" await [ -s prom/x.prom ]
refused "the same file" "another mount or server writes it" \
	-o metrics-file=prom/x.prom
status 1 "refused: by a server" timeout 60 "$TABLETFS" serve store2 listen=:0 \
	metrics-file=prom/x.prom
told "another mount or server writes it"
check "beside it is room" "$TABLETFS" mount -o metrics-file=prom/y.prom \
	store2 mnt2
check "for both" await [ -s prom/y.prom ]
fusermount3 -u mnt2
# Who comes by its name later is not overwritten, and that is told once.
: >prom/mine
exec 9<prom/mine
flock 9
mv prom/mine prom/x.prom
told_error() {
	[ "$(grep -c 'another mount or server writes it' \
		"$m/.tabletfs/errors")" = 1 ]
}
check "one that began in the same moment is told" await told_error
refuse "and nothing of it is changed" [ -s prom/x.prom ]
exec 9<&-
check "until it has gone" await [ -s prom/x.prom ]
kill -9 "$daemon" && await_end
fusermount3 -uz "$m"
check "a daemon that died keeps nobody out" "$TABLETFS" mount \
	-o metrics-file=prom/x.prom store2 mnt2
fusermount3 -u mnt2

# A disk that hangs.
begin_disk() {
	"$hang" disk slow &
	disk=$!
	await mountpoint -q slow
}
# waits PID: one of its threads waits for the disk.
waits() {
	grep -qs request_wait_answer /proc/"$1"/task/*/wchan
}
end_disk() {
	kill -CONT "$disk"
	fusermount3 -uz slow
	wait "$disk"
	disk=
}
# ends COMMAND...: within a minute, or so; far more than the two seconds.
ends() {
	timeout $((60 * ${SLOW:-1})) "$@"
}
if ! begin_disk; then
	skip "the disk could not be mounted"
	exit
fi
# A leak is looked for with all threads stopped, and who waits for the disk does
# not stop.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
MOUNT="-o metrics-file=slow/x.prom" start_mount
check "it is written there" await [ -s disk/x.prom ]
kill -STOP "$disk"
if ! await waits "$daemon"; then
	skip "the kernel does not tell what threads wait for"
	sleep 11
fi
check "requests are answered" ends sh -c "mkdir -p '$m/t/r2/f' &&
	echo 1 >'$m/t/r2/f/q' && grep -q . '$m/.tabletfs/metrics'"
kill -TERM "$daemon"
gone() {
	! mountpoint -q "$m"
}
check "a signal ends the mount" await gone
check "and the daemon" ends tail --pid="$daemon" -f /dev/null
daemon=
same "what was written is there" 1 "$(T count t)"
end_disk

rm -f disk/*
begin_disk
serve metrics-file=slow/x.prom
check "a server writes it there" await [ -s disk/x.prom ]
kill -STOP "$disk"
await waits "$server" || sleep 11
check "it answers commands" ends "$TABLETFS" -store "$store" count t >out
kill "$server"
check "a signal ends it" ends tail --pid="$server" -f /dev/null
wait "$server"
same "as it ends else" 0 $?
server=
check "what is left is told" grep -q 'slow/x.prom.*does not answer' err
end_disk
