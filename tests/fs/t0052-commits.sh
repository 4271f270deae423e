#!/bin/bash
# When a version is made, with which content and time, and which errors are told
# where: each call on its own.
. "$(dirname "$0")/lib.sh"
# Where drafts go.
export STORE=$store
start_mount || exit 1
mkdir -p "$m/t/r/f"
cat >cells.py <<'PYTHON'
import errno, os, re, sys, time
from fails import fails
f = sys.argv[1]

def path(q):
    return f + "/" + q

def versions(q):
    """Timestamps, newest first; [] if there is no such cell."""
    try:
        return [int(x) for x in map(lambda e: e.name,
                                    os.scandir(f + "/.versions/" + q))]
    except FileNotFoundError:
        return []

def content(q, timestamp=None):
    p = path(q) if timestamp is None else \
        "%s/.versions/%s/%d" % (f, q, timestamp)
    with open(p, "rb") as file:
        return file.read()

def put(q, data):
    with open(path(q), "wb") as file:
        file.write(data)

def now_us():
    return time.time_ns() // 1000

def mtime_us(fd_or_path):
    return os.stat(fd_or_path).st_mtime_ns // 1000
PYTHON

# run TEXT: a program, from standard input, that knows the above.
run() {
	cat cells.py - >program.py
	check "$1" python3 program.py "${2:-$m/t/r/f}"
}

mkdir -p "$m/millis/r/f"
echo millis >"$m/millis/.granularity"
for table in t millis; do
	run "the end of time in $table" "$m/$table/r/f" <<'PYTHON'
# No version can be newer: what is written last takes the place of what was, and
# is what is read.
import json
millis = "/millis/" in f
last = 2**63 - 1
if millis:
    last = last // 1000 * 1000

def begin(q):
    with open(f + "/../../.mutate", "w") as file:
        json.dump({"row": "r", "set": {"f": {q: {"value": "old",
                   "timestamp": last}}}}, file)
        file.write("\n")
    assert content(q) == b"old" and versions(q) == [last]

begin("late")
put("late", b"new")
assert content("late") == b"new" and versions("late") == [last]
fd = os.open(path("late"), os.O_WRONLY | os.O_APPEND)
os.write(fd, b"er")
os.fsync(fd)
os.write(fd, b".")
os.close(fd)
assert content("late") == b"newer." and versions("late") == [last]
os.truncate(path("late"), 3)
assert content("late") == b"new"
# The same of what is moved there, committed or not.
put("moved", b"moved")
os.rename(path("moved"), path("late"))
assert content("late") == b"moved" and versions("late") == [last]
begin("late")
fd = os.open(path("moved"), os.O_WRONLY | os.O_CREAT)
os.write(fd, b"open")
os.rename(path("moved"), path("late"))
os.write(fd, b"ed")
os.close(fd)
assert content("late") == b"opened" and versions("late") == [last]
# And it can be brought back from there.
os.utime(path("late"), (1, 1))
assert content("late") == b"opened" and versions("late") == [1000000]
os.remove(path("late"))
PYTHON
done

run "sessions" <<'PYTHON'
# What opens and closes without a change makes no version.
put("a", b"one")
first = versions("a")
assert len(first) == 1
for flags in os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, \
        os.O_RDWR | os.O_CREAT:
    fd = os.open(path("a"), flags)
    os.fsync(fd)
    os.close(fd)
assert versions("a") == first
# One session, many commits: close of a duplicate, fsync, fdatasync.
fd = os.open(path("a"), os.O_RDWR)
for i in range(3):
    os.write(fd, b"x")
    os.close(os.dup(fd))
    assert content("a", versions("a")[0])[:i + 1] == b"x" * (i + 1)
    assert len(versions("a")) == 2, versions("a")
    os.fsync(fd)
os.write(fd, b"y")
os.fdatasync(fd)
assert content("a", versions("a")[0]) == b"xxxy"
os.ftruncate(fd, 2)
os.close(fd)
assert len(versions("a")) == 2 and versions("a")[1] == first[0]
assert content("a") == b"xx" and content("a", first[0]) == b"one"
# Handles that overlap are one session, the next is another.
one = os.open(path("a"), os.O_WRONLY)
os.write(one, b"1")
two = os.open(path("a"), os.O_WRONLY)
os.close(one)
os.pwrite(two, b"2", 1)
three = os.open(path("a"), os.O_WRONLY | os.O_APPEND)
os.close(two)
os.write(three, b"3")
os.close(three)
assert content("a") == b"123" and len(versions("a")) == 3
# A reader does not hold the session open.
reader = os.open(path("a"), os.O_RDONLY)
put("a", b"4")
put("a", b"5")
assert len(versions("a")) == 5
assert os.pread(reader, 9, 0) == b"5"
os.close(reader)
# A version of someone else's on top stays, and the session adds another.
fd = os.open(path("a"), os.O_WRONLY | os.O_TRUNC)
os.write(fd, b"mine")
os.fsync(fd)
mine = versions("a")[0]
with open(f + "/../../.mutate", "w") as file:
    file.write('{"row": "r", "set": {"f": {"a": "theirs"}}}\n')
theirs = versions("a")[0]
assert theirs > mine
os.write(fd, b" again")
os.close(fd)
assert content("a") == b"mine again" and content("a", theirs) == b"theirs"
assert content("a", mine) == b"mine" and len(versions("a")) == 8
# A version that someone removed meanwhile stays removed.
fd = os.open(path("a"), os.O_WRONLY | os.O_TRUNC)
os.write(fd, b"6")
os.fsync(fd)
os.unlink("%s/.versions/a/%d" % (f, versions("a")[0]))
assert content("a") == b"mine again"
os.close(fd)
assert content("a") == b"mine again" and len(versions("a")) == 8
PYTHON

run "drafts" <<'PYTHON'
# All handles show the same bytes and size at once, before any commit.
w = os.open(path("d"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
fails(errno.EEXIST, os.open, path("d"), os.O_CREAT | os.O_EXCL)
assert versions("d") == [] and os.listdir(f) == ["a", "d"]
assert os.stat(path("d")).st_size == 0
r = os.open(path("d"), os.O_RDONLY)
for i in range(1, 5):
    os.write(w, b"abc")
    assert os.pread(r, 99, 0) == b"abc" * i == content("d")
    assert os.fstat(r).st_size == os.stat(path("d")).st_size == 3 * i
# The readers' closes above committed nothing; a hole reads as zeros.
assert versions("d") == []
os.pwrite(w, b"end", 20)
assert content("d") == b"abc" * 4 + bytes(8) + b"end"
# O_TRUNC empties it for all; without, one starts from what there is.
t = os.open(path("d"), os.O_RDWR | os.O_TRUNC)
assert os.pread(r, 99, 0) == b"" and os.fstat(w).st_size == 0
os.write(t, b"anew")
os.close(w)
assert content("d") == b"anew"
os.close(t)
os.close(r)
assert len(versions("d")) == 1
fd = os.open(path("d"), os.O_RDWR)
assert os.pread(fd, 99, 0) == b"anew"
os.pwrite(fd, b"A", 0)
os.close(fd)
assert content("d") == b"Anew"
# Two that append, each where the other ended.
a, b = (os.open(path("d"), os.O_WRONLY | os.O_APPEND) for _ in range(2))
for i in range(5):
    os.write(a, b"a")
    os.write(b, b"bb")
os.close(a)
os.close(b)
assert content("d") == b"Anew" + b"abb" * 5
# Wrong offsets and modes.
fd = os.open(path("d"), os.O_RDONLY)
fails(errno.EBADF, os.write, fd, b"x")
fails(errno.EINVAL, os.ftruncate, fd, 0)
os.close(fd)
fd = os.open(path("d"), os.O_WRONLY)
fails(errno.EBADF, os.read, fd, 1)
# What is too large is refused before anything of it is taken.
before = content("d"), versions("d")
fails(errno.EFBIG, os.pwrite, fd, b"xy", 100 << 20)
fails(errno.EFBIG, os.ftruncate, fd, (100 << 20) + 1)
fails(errno.EFBIG, os.pwrite, fd, b"x", 1 << 62)
os.close(fd)
fails(errno.EFBIG, os.truncate, path("d"), (100 << 20) + 1)
assert (content("d"), versions("d")) == before
# A spilled draft has no name anywhere.
# (The store's own files, and those kept for room, come and go meanwhile.)
def names():
    return [n for n in os.listdir(os.environ["STORE"])
            if not re.match("[0-9a-f]{8}-[0-9a-f]{8}[.]|.*[.]spare$", n)]
before = sorted(names())
fd = os.open(path("spill"), os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b"x" * (3 << 20), 0)
assert sorted(names()) == before, names()
os.pwrite(fd, b"y", 2 << 20)
assert os.pread(fd, 3, (2 << 20) - 1) == b"xyx"
os.close(fd)
assert len(content("spill")) == 3 << 20 and len(versions("spill")) == 1
# Every byte value, and none more.
every = bytes(range(256)) * 3
put("bytes", every)
assert content("bytes") == every
put("bytes", b"")
assert content("bytes") == b"" and os.stat(path("bytes")).st_size == 0
assert len(versions("bytes")) == 2
PYTHON

run "removed files" <<'PYTHON'
import mmap
put("g", b"value")
fd = os.open(path("g"), os.O_RDWR)
os.unlink(path("g"))
assert os.fstat(fd).st_nlink == 0
os.pwrite(fd, b"V", 0)
os.fsync(fd)
assert os.pread(fd, 9, 0) == b"Value" and not os.path.exists(path("g"))
# A new file of that name is another.
put("g", b"new")
os.pwrite(fd, b"lost", 0)
os.ftruncate(fd, 5)
os.utime(fd, ns=(0, 10**18))
os.close(fd)
assert content("g") == b"new" and len(versions("g")) == 1
assert versions("g")[0] > 10**15
# Of a mapping, what is written after the close is committed as well.
fd = os.open(path("g"), os.O_RDWR)
view = mmap.mmap(fd, 3)
os.close(fd)
view[0:3] = b"MAP"
view.flush()
view.close()
for _ in range(10000):
    if content("g") == b"MAP" == content("g", versions("g")[0]):
        break
else:
    assert False
PYTHON

run "truncate" <<'PYTHON'
put("q", b"12345")
os.truncate(path("q"), 3)
assert content("q", versions("q")[0]) == b"123" and len(versions("q")) == 2
os.truncate(path("q"), 3)
assert len(versions("q")) in (2, 3) and content("q") == b"123"
# While it is open it belongs to that session.
fd = os.open(path("q"), os.O_WRONLY)
before = len(versions("q"))
os.pwrite(fd, b"abc", 0)
os.truncate(path("q"), 2)
assert os.fstat(fd).st_size == 2
os.close(fd)
assert content("q") == b"ab" and len(versions("q")) == before + 1
PYTHON

run "times" <<'PYTHON'
# The time of the last write, seen from then on, and the commit's.
fd = os.open(path("t"), os.O_WRONLY | os.O_CREAT)
low = now_us()
os.write(fd, b"1")
high = now_us()
shown = mtime_us(fd)
assert low <= shown <= high, (low, shown, high)
assert os.stat(fd).st_mtime_ns % 1000 == 0
os.close(fd)
assert versions("t") == [shown] == [mtime_us(path("t"))]
# Newest version + 1 when that is in the future.
future = now_us() + 10**12
os.utime(path("t"), ns=(0, future * 1000))
put("t", b"2")
assert versions("t") == [future + 1, future] and content("t") == b"2"
os.unlink(path("t"))
# Set before the close: it holds until the next write.
fd = os.open(path("t"), os.O_WRONLY | os.O_CREAT)
os.write(fd, b"1")
os.utime(fd, ns=(5, 10**18 + 1999))
assert mtime_us(fd) == 10**15 + 1
os.close(fd)
assert versions("t") == [10**15 + 1], versions("t")
fd = os.open(path("t"), os.O_WRONLY | os.O_TRUNC)
os.utime(fd, ns=(0, 2 * 10**18))
low = now_us()
os.write(fd, b"2")
os.close(fd)
assert versions("t")[0] >= low and len(versions("t")) == 2
# Set later it moves the newest, not before the next older one.
os.utime(path("t"), ns=(0, 1500 * 10**15 + 999))
assert versions("t") == [1500 * 10**12, 10**15 + 1]
os.utime(path("t"), ns=(0, 10**9))
assert versions("t") == [10**15 + 2, 10**15 + 1]
assert content("t") == b"2" and mtime_us(path("t")) == 10**15 + 2
# UTIME_NOW; the access time alone changes nothing.
low = now_us()
os.utime(path("t"))
assert low <= versions("t")[0] <= now_us()
PYTHON
before=$(ls "$m/t/r/f/.versions/t")
touch -a -d 2001-01-01 "$m/t/r/f/t"
same "the access time alone" "$before" "$(ls "$m/t/r/f/.versions/t")"

echo maxage=1d >"$m/t/.schema/f/gc"
run "times that have expired" <<'PYTHON'
put("e", b"1")
was = versions("e")
old = (now_us() - 2 * 86400 * 10**6) * 1000
fails(errno.EINVAL, os.utime, path("e"), ns=(old, old))
assert versions("e") == was and content("e") == b"1"
fd = os.open(path("e"), os.O_WRONLY | os.O_TRUNC)
os.write(fd, b"2")
shown = mtime_us(fd)
fails(errno.EINVAL, os.utime, fd, ns=(old, old))
assert mtime_us(fd) == shown
os.close(fd)
assert versions("e") == [shown] + was and content("e") == b"2"
fails(errno.EINVAL, os.utime, path("e"), ns=(-10**9, -10**9))
PYTHON
echo old >in
touch -d 2001-01-01 in
errno EINVAL cp -p in "$m/t/r/f/cp"
same "the data are there" old "$(cat "$m/t/r/f/cp")"
echo maxversions=10 >"$m/t/.schema/f/gc"

# Errors of a commit: from close and from fsync, and noted.
for call in close fsync; do
	rm -f "$m"/t/r/f/{full*,spill}
	"$TABLETFS" -store "$store" compact
	remount -o quota=2M
	run "an error of $call" <<PYTHON
import random
fd = os.open(path("full$call"), os.O_WRONLY | os.O_CREAT)
os.write(fd, random.Random(1).randbytes(1 << 20))
told = None
try:
    for i in range(4):
        os.pwrite(fd, random.Random(2 + i).randbytes(1 << 20), i << 20)
        os.$call(os.dup(fd) if "$call" == "close" else fd)
except OSError as e:
    told = e.errno
assert told == errno.ENOSPC, told
try:
    os.close(fd)
except OSError as e:
    assert e.errno == errno.ENOSPC
PYTHON
	check "is noted" grep -q "full$call: No space" "$m/.tabletfs/errors"
done
