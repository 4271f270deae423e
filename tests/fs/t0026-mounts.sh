#!/bin/bash
# tabletfs mounts: what is mounted here and by whom, whatever the daemons do.
#
# Alone: others may keep its mounts, and it theirs, in namespaces of mounts.
. "$(dirname "$0")/lib.sh"

hangs="no answer within 2000 ms; its daemon or its store's disk hangs"

# The lines of this test, among those of whoever else has mounts here.
mounts() {
	timeout 60 "$@" "$TABLETFS" mounts | grep -aF "$work/"
}
# column NUMBER PLACE [COMMAND...]: of the line of that place.
column() {
	local number=$1 place=$2
	shift 2
	mounts "$@" | awk -F '\t' -v p="$place" -v n="$number" \
		'$2 == p { print $n }'
}

# What a column stands for.
decode() {
	python3 -c 'import os, re, sys
sys.stdout.buffer.write(re.sub(rb"\\([0-7]{3})",
    lambda m: bytes([int(m[1], 8)]), os.fsencode(sys.argv[1])))' "$1"
}
# What is said of $m if its daemon has died.
gone() {
	echo "its daemon is gone; fusermount3 -u '$m' removes it"
}

same "nothing is mounted" "" "$(mounts)"
before=$(date +%s)
start_mount || exit 1
line=$(mounts)
same "one line" 1 "$(printf '%s\n' "$line" | wc -l)"
same "store, place, pid" "$store	$m	$daemon" \
	"$(printf '%s\n' "$line" | cut -f 1-3)"
since=$(printf '%s\n' "$line" | cut -f 4)
check "an ISO time: $since" grep -qE \
	'^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[+-][0-9]{2}:[0-9]{2}$' \
	<<<"$since"
since=$(date -d "$since" +%s)
check "which is that of the mount" \
	[ "$since" -ge $((before - 1)) -a "$since" -le "$(date +%s)" ]
same "four columns" 4 "$(printf '%s\n' "$line" | awk -F '\t' '{ print NF }')"
same "in the reader's time zone" "$(date -d "@$since" +%FT%T)+00:00" \
	"$(column 4 "$m" env TZ=UTC)"
same "east of it" "$(TZ=UTC date -d "@$((since + 19800))" +%FT%T)+05:30" \
	"$(column 4 "$m" env TZ=XYZ-5:30)"
same "whatever the store" "$line" "$(mounts env TABLETFS_STORE=other)"
same "usage" "tabletfs: usage: tabletfs mounts" \
	"$("$TABLETFS" mounts "$m" 2>&1)"
refuse "an argument" "$TABLETFS" mounts "$m"
# Through the control file it would be the daemon that asks itself.
same "not inside the daemon" "tabletfs: mounts does not run in a daemon" \
	"$(python3 - "$m" <<'PYTHON'
import os, sys
fd = os.open(sys.argv[1] + "/.tabletfs/ctl", os.O_RDWR)
os.write(fd, b"w7\nmounts\0")
print(os.pread(fd, 4096, 0).decode().split("\n")[1].split(",")[0])
PYTHON
)"

for verb in umount mount repair create backup import; do
	same "not inside the daemon: $verb" \
		"tabletfs: $verb does not run in a daemon" \
		"$(python3 - "$m" $verb <<'PYTHON'
import os, sys
fd = os.open(sys.argv[1] + "/.tabletfs/ctl", os.O_RDWR)
words = sys.argv[2].encode() + b"\0" + sys.argv[1].encode() + b"\0"
os.write(fd, b"w%d\n" % len(words) + words)
print(os.pread(fd, 4096, 0).decode().split("\n")[1].split(",")[0])
PYTHON
)"
done

# Names that would break lines and columns, and a terminal.
odd=$work/$'s 1,\\a#\tc\nd\e[7m\xff'
place=$work/$'m n\\040\e%'
mkdir "$place"
check "an odd store" "$TABLETFS" mount "$odd" "$place"
odd_daemon=$(mounts | sed -n 2p | cut -f 3)
same "two lines" 2 "$(mounts | wc -l)"
check "its pid: $odd_daemon" kill -0 "$odd_daemon"
same "as the lock says" "$odd_daemon" \
	"$(sed -n 's/pid \([0-9]*\),.*/\1/p' "$odd/lock")"
text=$(mounts | sed -n 2p | cut -f 1)
same "no column has blanks" "" "$(printf %s "$text" | tr -d '!-~\377')"
same "nor is any byte lost" "$odd" "$(decode "$text")"
same "of the place neither" "$place" \
	"$(decode "$(mounts | sed -n 2p | cut -f 2)")"
fusermount3 -u "$place"
same "it has ended" 1 "$(mounts | wc -l)"

# A daemon that does not answer.
kill -STOP "$daemon"
same "a stopped daemon" "$line" "$(timeout 5 "$TABLETFS" mounts |
	grep -F "$work/")"
kill -CONT "$daemon"

# A daemon that died, and its store mounted elsewhere since.
kill -KILL "$daemon"
await_end
same "no pid" "$store	$m	-	-	$(gone)" "$(mounts)"
check "which is no failure" "$TABLETFS" mounts >/dev/null
mkdir "$work/other"
"$TABLETFS" mount "$store" "$work/other"
same "one that died is not the living one" "$(gone)" "$(column 5 "$m")"
daemon=$(find_daemon)
same "nor the other way round" "$daemon" "$(column 3 "$work/other")"
check "what it says helps" sh -c "$(column 5 "$m" |
	sed "s/.*; \(.*\) removes it/\1/")"
same "then one is left" "$work/other" "$(mounts | cut -f 2)"

# Directories above a mount may be renamed: it lives, at another place.
mkdir -p "$work/above/mnt"
fusermount3 -u "$work/other"
await_end
m=$work/above/mnt
start_mount
mv "$work/above" "$work/moved"
m=$work/moved/mnt
same "moved" "-	-	its store is in use by pid $daemon, mounted at \
$work/above/mnt" "$(mounts | cut -f 3-)"
stop_mount

# A store that was moved, and one that another command has.
start_mount
mv "$store" "$store.moved"
same "no store" "$store/lock: cannot open: No such file or directory; pid \
$daemon still serves it here" \
	"$(column 5 "$m")"
mv "$store.moved" "$store"
same "back again" "$daemon" "$(column 3 "$m")"
stop_mount

if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	skipped=$((skipped + 1))
	exit 0
fi
chmod 755 "$work"
other="setpriv --reuid 65534 --regid 65534 --clear-groups"

# alone COMMAND: in a namespace that sees none of the other mounts.
alone() {
	unshare -m bash -c "umount -c -l -a -t fuse.tabletfs
		$1"
}
start_mount
same "none" "0" "$(alone "'$TABLETFS' mounts; echo \$?")"
same "in another namespace" "$store" "$(alone "
	mkdir '$work/inner'
	'$TABLETFS' mount '$work/inner-store' '$work/inner'
	'$TABLETFS' mounts | sed 's/inner-//' | cut -f 1
	fusermount3 -u '$work/inner'")"
# (Which begins at the root of the namespace, not at that of a chroot.)
if [ "$(alone "nsenter -t $$ -m readlink -e '$TABLETFS'")" ]; then
	same "and outside it" "$m" "$(alone "
	'$TABLETFS' mount '$work/inner-store' '$work/inner'
	nsenter -t $$ -m '$TABLETFS' mounts | grep -F '$work/' | cut -f 2
	fusermount3 -u '$work/inner'")"
else
	skipped=$((skipped + 1))
fi
same "without /proc" \
	"tabletfs: /proc/self/mountinfo: No such file or directory; mount /proc \
first" "$(alone "umount -l /proc
	ASAN_OPTIONS=detect_leaks=0 '$TABLETFS' mounts 2>&1" |
	grep ^tabletfs)"

# Bind mounts are mounts.
mkdir "$work/bound" "$m/t"
mount --bind "$m/t" "$work/bound"
same "a bind mount" "$daemon" "$(column 3 "$work/bound")"
same "and its mount" "$daemon" "$(column 3 "$m")"

# Others may not read the lock.
same "another's" "-	-	$store/lock: cannot open: Permission denied; ask as \
root" "$(mounts $other | grep -v bound | cut -f 3-)"
check "which is no failure" $other "$TABLETFS" mounts >/dev/null
kill -KILL "$daemon"
await_end
same "dead, all of it" "2 $m $work/bound" \
	"$(mounts | grep -c 'daemon is gone') $(mounts | cut -f 2 | xargs)"
umount "$work/bound"
fusermount3 -u "$m"
start_mount -o allow_other
kill -STOP "$daemon"
same "another's that is stopped" "$hangs" \
	"$(mounts $other | cut -f 5)"
kill -CONT "$daemon"
stop_mount

# A pid of another namespace is another process here, or none.
unshare -p -f "$TABLETFS" mount -f "$store" "$m" >served &
until grep -q served served 2>/dev/null; do read -rt 0.01 <> <(:); done
same "pid 1 of a container" \
	"-	-	its store is in use by pid 1, mounted at $m" \
	"$(mounts | cut -f 3-)"
fusermount3 -u "$m"
wait

# A daemon of another user that has taken a request, and answers none: nothing
# ends who waits for that, SIGKILL neither.
python3 - "$m" <<'PYTHON' >asked &
import ctypes, os, struct, sys
fd = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
data = f"fd={fd},rootmode=40000,user_id=65534,group_id=65534"
if libc.mount(b"/none/such", sys.argv[1].encode(), b"fuse.tabletfs", 0,
              data.encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
FUSE_INIT = 26
while True:
    request = os.read(fd, 1 << 20)
    length, opcode, unique = struct.unpack_from("=IIQ", request)
    if opcode == FUSE_INIT:
        reply = struct.pack("=IIIIHHIIHH8I", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0,
                            *[0] * 8)
        os.write(fd, struct.pack("=IiQ", 16 + len(reply), 0, unique) + reply)
        print("served", flush=True)
    else:
        print("asked", flush=True)
PYTHON
daemon=$!
disown
until grep -q served asked 2>/dev/null; do read -rt 0.01 <> <(:); done
same "it hangs, but not who reads this" "-	-	$hangs" \
	"$(timeout 10 bash -c '"$0" mounts | grep -F "$1/" | cut -f 3-' \
		"$TABLETFS" "$work")"
check "though it was asked" grep -q asked asked
kill -KILL "$daemon"
await_end
same "root is told that it died" "$(gone)" "$(column 5 "$m")"
fusermount3 -u "$m"
