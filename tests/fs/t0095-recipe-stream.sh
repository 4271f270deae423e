#!/bin/bash
# .import/recipe/NAME: what is written there the daemon makes rows of, by a
# recipe that is stored with the table, as it was when the file was opened.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store
printf 'key {a}\nset f:b {b}\n' >plain
printf 'format tsv\nkey {a}\nset f:b {b}\n' >tabs
printf 'key {a}\nset old:b {b}\n' >dropped
printf 'key {a}\nadd sum:n {b}\n' >sums
start_mount || exit 1
mkdir -p "$m/t/.schema/f" "$m/t/.schema/old" "$m/t/.schema/sum"
echo intsum >"$m/t/.schema/sum/type"
for name in plain tabs dropped sums; do
	cp "$name" "$m/t/.recipes/$name"
done
i=$m/t/.import/recipe

same "what there is" "csv data jsonl tsv" "$(ls "$i/plain" | xargs)"
check "each format" sh -c "
	printf 'a,b\nc1,1\n\"c2\",2\n' >'$i/plain/csv' &&
	printf 'a\tb\nt1\t1\n' >'$i/plain/tsv' &&
	printf '{\"a\":\"j1\",\"b\":\"1\"}\n' >'$i/plain/jsonl' &&
	printf 'a,b\nd1,1\n' >'$i/plain/data' &&
	printf '[{\"a\":\"d2\",\"b\":\"1\"},\n{\"a\":\"d3\",\"b\":1}]\n' >'$i/plain/data' &&
	printf 'a\tb\nd4\t1\n' >'$i/tabs/data'"
same "is there" "c1 c2 d1 d2 d3 d4 j1 t1" "$(ls "$m/t" | xargs)"
same "with its value" 2 "$(cat "$m/t/c2/f/b")"
T addtocell t s1 sum:n=4@0 >/dev/null
check "a sum" sh -c "printf 'a,b\ns1,3\ns1,2\n' >'$i/sums/csv'"
same "is added to" 1 "$(ls "$m/t/s1/sum" | wc -l)"
T deleteallrows t

# What is not to be had.
errno ENOENT bash -c ": >'$i/none/data'"
check "is told by name" grep -q 'table "t" has no recipe "none"' \
	"$m/.tabletfs/errors"
errno ENOENT ls "$i/none"
errno ENOENT cp plain "$i/none/data"
cp plain "$m/t/.recipes/short"
check "a new one is there" ls "$i/short/data"
rm "$m/t/.recipes/short"
errno ENOENT cp plain "$i/short/data"
errno ENOENT ls "$i/.x"
errno ENOENT ls "$m/t/.import/data"
errno ENOENT ls "$i/plain/family"
errno ENOENT ls "$i/plain/batch"
errno ENOENT ls "$m/t/.import/family/f/recipe"
errno EACCES cat "$i/plain/data"
errno EINVAL sh -c ": >'$i/tabs/csv'"
check "another format is told" grep -q 'the recipe says another format than csv' \
	"$m/.tabletfs/errors"
rmdir "$m/t/.schema/old"
errno ENOENT bash -c ": >'$i/dropped/data'"
check "a dropped family is told" grep -q \
	'recipe dropped: unknown family "old"' "$m/.tabletfs/errors"
mkdir "$m/t/.schema/old"
check "made anew it is taken" sh -c "printf 'a,b\no1,1\n' >'$i/dropped/data'"
T deleteallrows t

cat >stream.py <<'PYTHON'
import errno, os, sys, time
from fails import fails

m = sys.argv[1]
slow = float(os.environ.get("SLOW", 1))
i = m + "/t/.import/recipe/plain/"

def open_stream(path=i + "data"):
    return os.open(path, os.O_RDWR)

def report(fd):
    text = os.pread(fd, 65536, 0).decode()
    return dict(line.split(" ", 1) for line in text.splitlines()), text

def rows(table="t"):
    return sorted(os.listdir(m + "/" + table))

def wait(what):
    end = time.monotonic() + 5 * slow
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)

# Refused records are told from the same file, and by close and fsync.
fd = open_stream()
os.write(fd, b"a,b\nx1,1\n,2\nx3")
r, text = report(fd)
assert r["format"] == "data" and r["rows"] == "1" and r["refused"] == "1", text
assert 'data:3: field "a": ' in text, text
assert rows() == ["x1"]
os.write(fd, b",3\nx4,4")
fails(errno.EINVAL, os.fsync, fd)
assert rows() == ["x1", "x3"]
fails(errno.EINVAL, os.close, fd)
assert rows() == ["x1", "x3", "x4"]

# What ends with a newline may go on, and is wrong as it is: each close of its
# writer says so, and why, at once, and ends nothing.
def last():
    return open(m + "/t/.import/last").read()
def told():
    return open(m + "/.tabletfs/errors").read()
missing = "extraneous or missing"
for text, why in [
        (b'a,b\nw1,1\nw2,"2\n', 'data:3: field "b", line 4, column 1: ' + missing),
        (b'[{"a":"w1","b":"1"},\n{"a":"w2"}\n', "data:3: the array has no end"),
        (b'[{"a":"w1","b":"1"},\n{"a":"w2",\n', "data:2: the record that beg"),
        (b'a: w1\nb: 1\n\nb: 2\n', 'data:4: field "a": '),
        (b'a: w1\nb: 1\n\ngarbage\n', "data:4: line 4: it is no field"),
        (b'a: w1\nb: 1\n\na: ' + b'2' * 5000 + b'\n', "data:4: ")]:
    fd = open_stream()
    os.write(fd, text)
    fails(errno.EINVAL, os.close, os.dup(fd))
    assert "\nerror " + why in report(fd)[1], (text, report(fd)[1])
    assert why in told().splitlines()[-1], (text, told())
    assert rows() == ["w1", "x1", "x3", "x4"], rows()
    fails(errno.EINVAL, os.close, fd)
    wait(lambda: "state done" in last() and why in last())
    os.remove(m + "/t/w1/f/b")
fd = open_stream()
for line in b"b: 1\n", b"a: w1\n":
    os.write(fd, line)
    try:
        os.close(os.dup(fd))
        whole = True
    except OSError:
        whole = False
assert whole
os.close(fd)
wait(lambda: "w1" in rows())
os.remove(m + "/t/w1/f/b")
# What so little is, the last close tells to errors alone.
fd = open_stream()
os.write(fd, b"[\n")
os.close(fd)
wait(lambda: "data:2: the array has no end" in told().splitlines()[-1])

# A read behind what was written tells, too, once for each write.
fd = open_stream()
os.write(fd, b"a,b\n")
assert os.read(fd, 12) == b"format data\n"
assert b"\nrows 0\n" in os.read(fd, 65536)
assert os.read(fd, 65536) == b""
os.write(fd, b"x1,1\n")
assert b"\nrows 1\n" in os.read(fd, 65536)
assert b"\nrows 1\n" in os.pread(fd, 65536, 0)
os.close(fd)

# A header that the recipe is not for ends it.
fd = open_stream()
fails(errno.EINVAL, os.write, fd, b"c,d\n1,2\n")
assert 'the header has no field "a"' in report(fd)[1]
fails(errno.EINVAL, os.close, fd)

# Two at once, each with its report; and the recipe is that of the open.
one, two = open_stream(), open_stream(i + "csv")
os.write(one, b"a,b\ny1,1\n")
os.write(two, b"a,b\ny2,1\n,1\n")
with open(m + "/t/.recipes/plain", "w") as f:
    f.write("key {a}\nset f:other {b}\n")
os.write(one, b"y3,1\n")
assert os.listdir(m + "/t/y3/f") == ["b"]
assert report(one)[0]["refused"] == "0" and report(two)[0]["refused"] == "1"
three = open_stream()
os.write(three, b"a,b\ny4,1\n")
assert os.listdir(m + "/t/y4/f") == ["other"]
os.unlink(m + "/t/.recipes/plain")
os.write(three, b"y5,1\n")
assert os.listdir(m + "/t/y5/f") == ["other"]
os.close(one)
fails(errno.EINVAL, os.close, two)
os.close(three)
with open(m + "/t/.recipes/plain", "w") as f:
    f.write("key {a}\nset f:b {b}\n")

# The table is renamed, then dropped, while one is open.
fd = open_stream()
os.write(fd, b"a,b\nz1,1\n")
os.rename(m + "/t", m + "/u")
os.mkdir(m + "/t")
os.write(fd, b"z2,1\n")
assert "z2" in rows("u") and rows("t") == []
os.rmdir(m + "/t")
os.rename(m + "/u", m + "/t")
os.write(fd, b"z3,1\n")
os.fsync(fd)
assert "z3" in rows()

# Much at once goes by bulk load, and is seen after a silence.
os.write(fd, b"".join(b"m%07d,%d\n" % (n, n) for n in range(200000)))
wait(lambda: os.path.exists(m + "/t/m0199999"))
assert report(fd)[0]["rows"] == "200003", report(fd)[1]
os.close(fd)

# A long record does not stay in memory.
def rss():
    pid = next(l.split()[1] for l in open(m + "/.tabletfs/stats")
               if l.startswith("daemon_pid "))
    return int(next(l.split()[1] for l in open("/proc/%s/status" % pid)
                    if l.startswith("VmRSS")))
before = rss()
for n in range(4):
    fd = open_stream()
    os.write(fd, b"a,b\n")
    for k in range(20):
        os.write(fd, b"".join(b"n%07d,%d\n" % (k * 30000 + j, j)
                              for j in range(30000)))
    os.close(fd)
if os.environ.get("PLAIN"):
    assert rss() - before < 160 << 10, (before, rss())
PYTHON
is_sanitized && PLAIN= || PLAIN=1
export PLAIN
check "streams" python3 stream.py "$m"
errno ENOTEMPTY rmdir "$m/t/.schema/f"

# What a table's owner alone may do.
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$work"
	remount -o allow_other
	errno EACCES setpriv --reuid 1001 --regid 1001 --clear-groups \
		sh -c ": >'$i/plain/data'"
else
	skipped=$((skipped + 1))
fi

# Dropped while it is open; and killed: what was synced is there.
check "a dropped table" python3 - "$m" <<'PYTHON'
import os, sys
m = sys.argv[1]
os.mkdir(m + "/d")
os.mkdir(m + "/d/.schema/f")
with open(m + "/d/.recipes/r", "w") as f:
    f.write("key {a}\nset f:b {b}\n")
fd = os.open(m + "/d/.import/recipe/r/data", os.O_WRONLY)
os.rmdir(m + "/d")
try:
    os.write(fd, b"a,b\n1,2\n")
    os.fsync(fd)
    assert False
except OSError as e:
    pass
try:
    os.close(fd)
except OSError as e:
    pass
assert not os.path.exists(m + "/d")
PYTHON
python3 - "$m" "$daemon" <<'PYTHON'
import os, signal, sys
m = sys.argv[1]
fd = os.open(m + "/t/.import/recipe/plain/data", os.O_WRONLY)
os.write(fd, b"a,b\nk1,1\nk2,1\nk")
os.fsync(fd)
os.kill(int(sys.argv[2]), signal.SIGKILL)
PYTHON
fusermount3 -uz "$m"
daemon=
start_mount
same "what was synced outlives a kill" "k1 k2" \
	"$(T read t prefix=k keys-only=true | grep '^k' | xargs)"
