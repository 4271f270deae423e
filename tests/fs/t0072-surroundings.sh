#!/bin/bash
# What goes on around a mount: signals, stopped programs, a clock that is set,
# who holds locks, other namespaces. What was acknowledged stays, and who has to
# wait is told for whom.
. "$(dirname "$0")/lib.sh"
unset TABLETFS_STORE

on() {
	timeout 60 "$TABLETFS" -store "$store" "$@"
}

# within SECONDS COMMAND...: waits until it succeeds.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		read -rt 0.05 <> <(:)
	done
	return 0
}

# A daemon that is stopped and stays so: who asks for its store is told soon for
# whom they wait, and after a minute that they do so in vain. Looked at below.
mkdir stuck
"$TABLETFS" mount stuck-store stuck || exit 1
stuck=$(sed -n 's/pid \([0-9]*\),.*/\1/p' stuck-store/lock)
at_end() {
	kill -CONT "$stuck" 2>/dev/null
	fusermount3 -u "$work/stuck" 2>/dev/null
	stop_mount 2>/dev/null
}
mkdir -p stuck/t/r/f
kill -STOP "$stuck"
for verb in ls mount; do
	case $verb in ls) words=(-store stuck/ ls) ;; *)
		mkdir beside
		words=(mount stuck-store beside)
		;;
	esac
	{
		timeout -s KILL 90 "$TABLETFS" "${words[@]}" >$verb.out 2>&1
		echo $? >$verb.status
	} &
done

# Signals, with files open and nothing of them committed. What closed before is
# there in each case, what was open in all but the last.
cat >drafts.py <<'PYTHON'
import os, select, signal, sys
f, name, pid = sys.argv[1] + "/t/" + sys.argv[2] + "/f/", *sys.argv[2:4]
os.makedirs(f)
for q in "closed", "appended", "cut":
    with open(f + q, "w") as file:
        file.write("before ")
fds = [os.open(f + "new", os.O_WRONLY | os.O_CREAT),
       os.open(f + "appended", os.O_WRONLY | os.O_APPEND),
       os.open(f + "cut", os.O_WRONLY),
       os.open(f + "large", os.O_WRONLY | os.O_CREAT),
       os.open(f + "removed", os.O_WRONLY | os.O_CREAT)]
os.write(fds[0], b"after")
os.write(fds[1], b"after")
os.ftruncate(fds[2], 3)
os.write(fds[3], b"x" * 3000000)
os.write(fds[4], b"after")
os.unlink(f + "removed")
ended = os.pidfd_open(int(pid))
os.kill(int(pid), getattr(signal, name))
assert select.select([ended], [], [], 60)[0], "it goes on"
PYTHON
start_mount || exit 1
for signal in SIGTERM SIGINT SIGHUP SIGKILL; do
	check "$signal ends it" python3 drafts.py "$m" $signal "$daemon"
	daemon=
	check "it is mounted again" start_mount
	f=$m/t/$signal/f
	same "what was closed before $signal" "before" "$(xargs <"$f/closed")"
	if [ $signal = SIGKILL ]; then
		same "what was open" "before before" "$(cat "$f"/[ac][pu]* | xargs)"
		continue
	fi
	same "what was open" "before after/bef/after" \
		"$(cat "$f/appended")/$(cat "$f/cut")/$(cat "$f/new")"
	same "large" 3000000 "$(stat -c %s "$f/large")"
	check "and removed" [ ! -e "$f/removed" ]
done

# A command waits for a daemon that is stopped, and is answered when that goes on.
# No signal may end it before, if the daemon had taken its request.
kill -STOP "$daemon"
"$TABLETFS" -store "$store" count t >counted &
waits=$!
sleep 1
check "a command waits for a stopped daemon" kill -0 $waits
kill -CONT "$daemon"
check "and is answered" wait $waits
same "with the truth" 4 "$(cat counted)"

# A program that is stopped with a file and an import open is nobody's business.
cat >stopped.py <<'PYTHON'
import os, sys
fd = os.open(sys.argv[1] + "/t/SIGHUP/f/held", os.O_RDWR | os.O_CREAT)
os.write(fd, b"held")
load = os.open(sys.argv[1] + "/t/.import/jsonl", os.O_WRONLY)
os.write(load, b'{"row":"half","set":{"f":{"q":"1"}}}\n{"row":"no')
open("ready", "w").close()
os.read(0, 1)
PYTHON
mkfifo pipe
python3 stopped.py "$m" <pipe &
stopped=$!
exec 8>pipe
within 30 test -e ready
kill -STOP $stopped
check "others write" sh -c "echo 1 >'$m/t/SIGHUP/f/other'"
printf '{"row":"whole","set":{"f":{"q":"1"}}}\n' >rows.jsonl
check "and import" on import t rows.jsonl 2>/dev/null
check "what came is seen" test -e "$m/t/half"
refuse "an umount is refused" timeout 60 "$TABLETFS" umount "$m"
kill -TERM "$daemon"
await_end
kill -CONT $stopped
exec 8>&-
wait $stopped
check "the daemon ends without it" start_mount
same "its file was committed" held "$(cat "$m/t/SIGHUP/f/held")"
same "and no half of a line" "SIGHUP SIGINT SIGKILL SIGTERM half whole" \
	"$(ls "$m/t" | xargs)"

# An import that is killed takes nothing of another with it.
mkfifo fifo.jsonl
on import t fifo.jsonl >/dev/null 2>&1 &
importer=$!
exec 8<>fifo.jsonl
printf '{"row":"killed","set":{"f":{"q":"1"}}}\n' >&8
within 30 test -e "$m/t/killed"
printf '{"row":"beside","set":{"f":{"q":"1"}}}\n' >rows.jsonl
check "beside an import that waits" on import t rows.jsonl 2>/dev/null
kill -KILL $importer
wait $importer 2>/dev/null
exec 8>&-
check "there is another" test -e "$m/t/beside"
same "and the mount goes on" 8 "$(on count t)"
stop_mount

# A lock on the store's directory keeps nobody from a store that is there; who
# makes one is told.
exec 9<"$store"
flock 9
same "a store whose directory is locked" 8 "$(on count t)"
check "is mounted" start_mount
stop_mount
exec 9<&-
mkdir new
exec 9<new
flock 9
refuse "in a locked directory none is made" \
	timeout 60 "$TABLETFS" -store new createtable t 2>/dev/null
check "and told why: $("$TABLETFS" -store new createtable t 2>&1)" \
	grep -q flock <("$TABLETFS" -store new createtable t 2>&1)
exec 9<&-
check "until it is free" "$TABLETFS" -store new createtable t families=f

# A terminal that closes ends it, but not what nohup began.
mkdir tty
for how in 'trap "" HUP;' ''; do
	bash -c "$how exec '$TABLETFS' mount -f tty-store tty" >tty.out 2>&1 &
	tty=$!
	check "${how:-no nohup}: it is served" within 30 grep -qs 'is served' tty.out
	kill -HUP $tty
	[ -z "$how" ] || {
		mkdir -p tty/t/r/f
		echo 1 >tty/t/r/f/q
		same "SIGHUP says nothing to it" 1 "$(cat tty/t/r/f/q)"
		kill -TERM $tty
	}
	wait $tty
	same "${how:-no nohup}: it ends well" 0 $?
	rm -f tty.out
done

# The clock is set while it is mounted: by a library, for the daemon alone.
cat >clock.c <<'EOF_C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
	char text[32] = "0";
	int result = (int)syscall(SYS_clock_gettime, id, t), fd;

	if (id != CLOCK_REALTIME)
		return result;
	fd = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	t->tv_sec += atol(text);
	return result;
}
EOF_C
# set_clock SECONDS: from what it is; at once for who asks next.
set_clock() {
	echo "$1" >"$CLOCK_OFFSET.new"
	mv "$CLOCK_OFFSET.new" "$CLOCK_OFFSET"
}
start_with_clock() {
	LD_PRELOAD=$work/clock.so start_mount
}
uptime() {
	sed -n 's/^uptime_seconds //p' "$m/.tabletfs/stats"
}
syncs() {
	sed -n 's/^tabletfs_syncs_total //p' "$m/.tabletfs/metrics"
}
synced_since() {
	[ "$(syncs)" -gt "$1" ]
}
export CLOCK_OFFSET=$work/offset
set_clock 0
if ! is_sanitized && "${CC:-gcc}" -shared -fPIC -o clock.so clock.c 2>/dev/null; then
	day=86400
	start_with_clock
	mkdir -p "$m/t/clock/f"
	mkdir "$m/t/clock/aged"
	echo 'maxage=1d' >"$m/t/.schema/aged/gc"
	echo 1 >"$m/t/clock/aged/q"
	aged() { on lookup t clock columns=aged:q | grep -c 'aged:q'; }
	same "what is too old" 1 "$(aged)"
	set_clock $((2 * day))
	same "in two days" 0 "$(aged)"
	set_clock 0
	# The directory may have been looked for while it had nothing in it.
	mkdir -p "$m/t/clock/aged"
	echo 2 >"$m/t/clock/aged/q"
	same "what is written when that was wrong" 2 "$(cat "$m/t/clock/aged/q")"
	printf '{"row":"clock","set":{"aged":{"i":"3"}}}\n' >"$m/t/.import/jsonl"
	same "and imported" 3 "$(cat "$m/t/clock/aged/i")"
	f=$m/t/clock/f
	ls "$m/t/.at/now/half" >/dev/null
	exec 9<"$m/t/.at/now/half/f"
	n=0
	for offset in 0 -$day 0 $((3650 * day)) $((-3650 * day)) 0; do
		set_clock $offset
		n=$((n + 1))
		echo $n >"$f/q"
		same "what was written last, at $offset" $n "$(cat "$f/q")"
		same "with what was before it" $n "$(versions t/clock/f q)"
		before=$(syncs)
		echo $n >"$f/durable"
		check "it becomes durable, at $offset" \
			within 30 synced_since "$before"
		check "it runs for seconds: $(uptime)" [ "$(uptime)" -lt 3600 ]
		check "a pinned snapshot stays, at $offset" \
			test -e /proc/self/fd/9/q
	done
	exec 9<&-
	same "in order" "$(seq $n)" "$(cd "$f/.versions/q" && cat $(ls | sort))"
	printf '{"row":"stream","set":{"f":{"q":"1"}}}\n' >"$m/t/.import/jsonl"
	set_clock -$day
	stop_mount
	start_with_clock
	same "in the past, after a remount" $n "$(cat "$f/q")"
	check "which is told" grep -q ' clock_behind us=[0-9]' "$store/LOG"
	echo again >"$f/q"
	same "what is written in the past is seen" again "$(cat "$f/q")"
	stop_mount
else
	skipped=$((skipped + 1))
fi
rows=$(on count t)
check "the store is whole" on check >/dev/null

# Those who ask for what is stuck.
said() {
	within 90 test -s ls.status && within 30 test -s mount.status
}
check "they end" said
for verb in ls mount; do
	same "$verb: with 1" 1 "$(cat $verb.status)"
	check "$verb: for whom it waited: $(cat $verb.out)" \
		grep -q "waiting for pid $stuck, mounted at $work/stuck" $verb.out
	check "$verb: and what to do" \
		grep -q "pid $stuck, .* has not answered for 60 s; .*kill -CONT" \
		$verb.out
done
kill -CONT "$stuck"
same "then it answers" t "$("$TABLETFS" -store stuck ls)"
check "and ends" "$TABLETFS" umount stuck

# Other namespaces.
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	skipped=$((skipped + 1))
	exit 0
fi
start_mount
same "a command in another namespace" "$rows" "$(unshare -m "$TABLETFS" \
	-store "$store" count t)"
began=$SECONDS
unshare -m sh -c "umount -l '$m'
	timeout 60 '$TABLETFS' -store '$store' count t" >out 2>message
same "in one that does not see the mount it fails" 1 $?
check "and soon" [ $((SECONDS - began)) -le 20 ]
check "who has it: $(cat message)" grep -q "in use by pid $daemon" message
began=$SECONDS
unshare -m timeout 100 "$TABLETFS" umount "$m" 2>message
same "umount in another namespace does not end it" 1 $?
check "is told soon" [ $((SECONDS - began)) -le 20 ]
check "and where it goes on: $(cat message)" \
	grep -q "stays open: .* pid [0-9]*" message
same "which it does" "$rows" "$(on count t)"
unshare -m sleep 60 &
other=$!
within 30 sh -c "[ '$(readlink /proc/self/ns/mnt)' != \
	\"\$(readlink /proc/$other/ns/mnt)\" ]"
"$TABLETFS" umount "$m" 2>message
same "nor umount beside another namespace that sees it" 1 $?
check "whose process is named: $(cat message)" grep -q "pid $other" message
kill $other
wait $other 2>/dev/null
await_end
same "it ends with that" "$rows" "$(on count t)"
