#!/bin/bash
# What other users may do to who uses a store, and to each other: nothing.
#
# Alone: how long users wait for each other is measured.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || { skipped=1; exit 0; }
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
chmod 755 "$work"
mkdir -m 1777 public
marker='TabletFS store, format 1\n'

# says TEXT COMMAND...: it must fail soon and say TEXT.
says() {
	local text=$1 out
	shift
	out=$(timeout 5 "$@" 2>&1)
	same "$* fails" 1 $?
	check "$*: $out" grep -qF -- "$text" <<<"$out"
}

# Links in a store's directory are not followed, by no command, whoever made
# the directory.
for who in "" "$nobody"; do
	for link in lock tabletfs.tmp root.tmp tabletfs root; do
		rm -rf public/* victim
		echo precious >victim
		$who mkdir public/store
		[ "$link" = tabletfs.tmp ] || [ "$link" = tabletfs ] ||
			printf "$marker" | $who tee public/store/tabletfs >/dev/null
		$who ln -s "$work/victim" "public/store/$link"
		timeout 10 "$TABLETFS" -store public/store createtable t \
			>out 2>&1 && [ "$who" ] && fail "$link of another: $(cat out)"
		timeout 10 "$TABLETFS" -store public/store ls >out 2>&1
		timeout 10 "$TABLETFS" mount public/store "$m" >out 2>&1 &&
			"$TABLETFS" umount "$m"
		same "through $link of ${who:-root}" precious "$(cat victim)"
	done
done
# Nor is a lock used that is more than the store's own file: a copy by links
# would share it.
rm -rf public/*
own=public/store
"$TABLETFS" -store $own createtable t families=f
cp -al $own public/copy
for place in $own public/copy; do
	says "$place/lock: has another name" "$TABLETFS" -store $place sync
done
says "$work/public/copy/lock: has another name" \
	"$TABLETFS" mount public/copy "$m"
same "which a reader does not write to" t "$("$TABLETFS" -store public/copy ls)"
rm public/copy/lock
check "without that, each is its own" "$TABLETFS" -store $own sync
check "the copy, too" "$TABLETFS" -store public/copy sync
for kind in p "c 1 3"; do
	rm $own/lock
	mknod $own/lock $kind
	says "/lock: is no regular file" "$TABLETFS" mount $own "$m"
	says "/lock: is no regular file" "$TABLETFS" -store $own ls
done

# Nor one that another user made, nor a directory in which anybody could make
# one.
rm $own/lock
$nobody cp /dev/null public/planted
mv public/planted $own/lock
for verb in sync ls; do
	says "/lock: belongs to user 65534" "$TABLETFS" -store $own $verb
done
rm $own/lock
chmod 777 $own
says "chmod o-w" "$TABLETFS" -store $own ls
chmod 1777 $own
same "all may make names, if they can take none" t "$("$TABLETFS" -store $own ls)"
chmod 775 $own
same "a group may" t "$("$TABLETFS" -store $own ls)"

rm -rf public/*
$nobody "$TABLETFS" -store public/store createtable t families=f
refuse "a directory of another user" "$TABLETFS" -store public/store ls
check "whose it is, and what to do: $("$TABLETFS" -store public/store ls 2>&1)" \
	sh -c "'$TABLETFS' -store public/store ls 2>&1 |
		grep -q 'belongs to user 65534'"
refuse "nor to be mounted" "$TABLETFS" mount public/store "$m"
same "its owner has it" t "$($nobody "$TABLETFS" -store public/store ls)"
mkfifo public/store/999999.sst
check "a pipe among its files makes nobody wait" \
	timeout 10 $nobody "$TABLETFS" -store public/store check

# Who may use a mount sees of its errors what is his own; who mounted it, all.
rm -rf "$store"
start_mount -o allow_other || exit 1
chmod 1777 "$work"
mkdir -m 700 "$m/secret"
mkdir -p "$m/secret/r/f" "$m/open/r/f"
cat "$m/secret/.scan/regex/((patient-4711/count" 2>/dev/null
$nobody cat "$m/open/.scan/regex/((mine/count" 2>/dev/null
check "who mounted it sees all" \
	[ "$(grep -c 'patient-4711\|((mine' "$m/.tabletfs/errors")" = 2 ]
same "another sees his own" "((mine" \
	"$($nobody cat "$m/.tabletfs/errors" | grep -o '((patient\|((mine' | sort -u)"

# A name is a part of a line, and no line; nor does it reach a terminal.
stat "$m/open/.scan/$(printf 'x\n2026-01-01T00:00:00.0Z /t: FORGED\033[31m\302\233')" \
	2>/dev/null
printf '{"row":"x","set":{"f\\u001b[31m\\nline 9: FORGED":{"q":"1"}}}\n' >line
cp line "$m/open/.mutate" 2>/dev/null
cp line "$m/open/.import/jsonl" 2>/dev/null
for file in .tabletfs/errors open/.import/last; do
	check "it is told in $file" grep -q FORGED "$m/$file"
	refuse "in no line of its own in $file" \
		grep -qE '^(2026-01-01|line 9)' "$m/$file"
	same "without control characters in $file" "" \
		"$(tr -d '\n' <"$m/$file" | LC_ALL=C grep -ao $'[\x01-\x1f\x7f]')"
done

# A table has the mode that it is made with.
mkdir -m 700 "$m/private"
same "mkdir -m" 700 "$(stat -c %a "$m/private")"
(umask 022 && mkdir "$m/usual")
same "usually" 755 "$(stat -c %a "$m/usual")"
mkdir -p "$m/private/r/f"
same "which what is in it shows" 700 "$(stat -c %a "$m/private/r/f")"
refuse "and keeps others out" $nobody ls "$m/private"

# What is as good as having the store is its owner's alone, and so are its files.
refuse "commands of another" $nobody cat "$m/.tabletfs/ctl"
for file in csv tsv jsonl; do
	refuse "an import of another, as $file" \
		$nobody sh -c "echo >'$m/open/.import/$file'"
done
refuse "setting a policy" $nobody sh -c "echo never >'$m/open/.schema/f/gc'"
same "the store's files" "" "$(find "$store" -type f ! -perm 600)"

# What a file handle tells of the daemon's memory: nothing.
check "ids of nodes are no addresses" python3 - "$m" "$daemon" <<'PYTHON'
import ctypes, os, re, struct, sys
libc = ctypes.CDLL(None, use_errno=True)


class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int),
                ("data", ctypes.c_ubyte * 128)]


maps = [[int(n, 16) for n in re.match(r"(\w+)-(\w+)", line).groups()]
        for line in open("/proc/%s/maps" % sys.argv[2])]
ids = set()
for place in "open", "open/r", "open/r/f", "private", "usual":
    handle, mount = Handle(size=128), ctypes.c_int()
    if libc.name_to_handle_at(-100, (sys.argv[1] + "/" + place).encode(),
                              ctypes.byref(handle), ctypes.byref(mount), 0):
        sys.exit(os.strerror(ctypes.get_errno()))
    words = struct.unpack("<%dI" % (handle.size // 4),
                          bytes(handle.data[:handle.size]))
    # The upper half comes first.
    ids.add(words[0] << 32 | words[1])
assert len(ids) == 5, ids
for number in ids:
    assert not any(low <= number < high for low, high in maps), hex(number)
PYTHON

# Threads are shared: while a user has more requests under way than there are
# threads, all of which take long, others are answered, and so is what the same
# user asks with ls and stat.
mkdir -m 777 "$m/busy"
mkdir "$m/busy/.schema/f"
python3 - "$m/busy" <<'PYTHON'
import json, sys
with open(sys.argv[1] + "/.import/jsonl", "w") as f:
    for i in range(250):
        row = {"row": "r%d" % i, "set": {"f": {"q": "x" * 200000}}}
        f.write(json.dumps(row) + "\n")
PYTHON
cat >share.py <<'PYTHON'
import json, os, subprocess, sys, time
kind, busy, daemon = sys.argv[1:]
user = dict(user=1000, group=1000, extra_groups=[])
slow = "(x+x+)+y" * 20
line = json.dumps({"if": {"family": "f", "qualifier": "q", "matches": "[xy]*x[xy]{12}y"},
                   "set": {"f": {"q": "1"}}, "else": {"delete": {"f": ["n"]}}})
command = {"writes": 'printf %s "$1" >"$2/r$4/.row.jsonl"',
           "scans": 'exec cat "$2/.scan/value/$3$4/count"'}[kind]
# They begin together: when nobody has the pipe open for writing.
gate, key = os.pipe()
others = [subprocess.Popen(["sh", "-c", "read x; " + command, "sh", line, busy,
                            slow, str(i)], stdin=gate, stderr=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, **user)
          for i in range(250)]
os.close(key)


def threads():
    return len(os.listdir("/proc/%s/task" % daemon))


def ask(who, *command):
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **who)
    return time.monotonic() - begin


end = time.monotonic() + 10
while threads() < 50 and time.monotonic() < end:
    time.sleep(0.01)
left = sum(o.poll() is None for o in others)
took = {}
for i in range(10):
    took["another's stat %d" % i] = ask({}, "stat", "%s/a%d" % (busy, i))
    took["scan %d" % i] = ask({}, "cat", busy + "/../open/.scan/count")
    took["own stat %d" % i] = ask(user, "stat", "%s/b%d" % (busy, i))
# There may be 128: never all are one user's.
assert threads() < 128, threads()
for o in others:
    if kind != "writes":
        o.kill()
said = b"".join(o.communicate()[1] for o in others)
assert left > 30, "too quick: %d" % left
assert kind == "scans" or not said, said
assert max(took.values()) < 3 * int(os.environ.get("SLOW", "1")), took
PYTHON
for kind in writes scans; do
	check "others beside 250 $kind of a user" \
		timeout $((120 * ${SLOW:-1})) python3 share.py $kind "$m/busy" "$daemon"
done
check "reads that were refused say whose were too many" grep -q \
	'user 1000 has 40 reads .*: wait' "$m/.tabletfs/errors"

# What one user has without a cell or without memory leaves room to others, and
# its descriptors to the daemon.
(ulimit -n 256; remount -o allow_other,memory=16M)
daemon=$(sed -n 's/^daemon_pid //p' "$m/.tabletfs/stats")
mkdir -p "$m/mine/r/f" "$m/all/.schema/f"
chmod 777 "$m/all"
cat >much.py <<'PYTHON'
import errno, os, subprocess, sys
m, daemon, program, measured = sys.argv[1:]
def refused(code, f):
    try:
        f()
    except OSError as e:
        assert e.errno == code, e
        return
    assert False, "nothing was refused"
def directories():
    for i in range(100000):
        os.mkdir("%s/all/%d-%s" % (m, i, "n" * 200))
def peak():
    with open("/proc/%s/status" % daemon) as f:
        return int([l for l in f if l.startswith("VmHWM")][0].split()[1]) << 10
if os.fork() == 0:
    os.setgid(1000), os.setuid(1000)
    refused(errno.ENOSPC, directories)
    its = []
    for i in range(200):
        # Each has something new to list.
        os.rmdir("%s/all/%d-%s" % (m, i, "n" * 200))
        os.mkdir("%s/all/%d" % (m, i))
        its.append(os.scandir(m + "/all"))
        next(its[-1])
    for it in its[::50]:
        assert len({e.name for e in it}) > 20000
    os._exit(0)
assert os.wait()[1] == 0
assert measured == "no" or peak() < (16 + 64) << 20, peak()
def drafts(fds):
    for i in range(300):
        fds.append(os.open("%s/all/r/f/c%d" % (m, i), os.O_RDWR | os.O_CREAT))
        os.pwrite(fds[-1], b"x", 1100000)
def lines(fds):
    for i in range(300):
        fds.append(os.open(m + "/all/.mutate", os.O_WRONLY))
        for _ in range(9):
            os.write(fds[-1], b" " * 131072)
os.makedirs(m + "/all/r/f")
for kind in drafts, lines:
    there, done = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.setgid(1000), os.setuid(1000)
        fds = []
        refused(errno.ENOBUFS, lambda: kind(fds))
        assert len(fds) == 65, len(fds)
        # Who was refused goes on when another has been closed.
        try:
            os.close(fds.pop(0))
        except OSError as e:
            assert kind == lines and e.errno == errno.EINVAL, e
        assert os.write(fds[-1], b" " * 131072) == 131072
        os.close(there[1])
        os.close(done[1])
        os.read(done[0], 1)
        os._exit(0)
    os.close(there[1])
    os.read(there[0], 1)
    with open(m + "/mine/r/f/x", "w") as f:
        f.write("y" * 2000000)
    os.makedirs(m + "/mine/%s/f" % kind.__name__)
    for verb in "sync", "compact":
        subprocess.run([program, "-store", m, verb], check=True)
    os.close(done[1])
    assert os.wait()[1] == 0
PYTHON
check "what a user opens and makes without a cell" python3 much.py \
	"$m" "$daemon" "$TABLETFS" \
	"$(ldd "$TABLETFS" | grep -qE '[at]san' && echo no || echo yes)"
for why in '1000 has [0-9]* directories without a cell .*: put a file' \
	'1000 has 64 files open .*not yours.*: close some'; do
	check "its reason: $why" grep -q "user $why" "$m/.tabletfs/errors"
done

# Without allow_other there is nothing to be seen.
remount
check "who mounted it" ls "$m" >out
refuse "others" $nobody ls "$m"
