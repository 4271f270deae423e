#!/bin/bash
# Renames of cells, rows and tables by every way to call them, what unlink leaves,
# and what cannot be made at all.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f" "$m/t/r/g" "$m/u/r/f"
cat >moves.py <<'PYTHON'
import ctypes, errno, os, stat, sys
from fails import fails
m = sys.argv[1]
t = m + "/t"
f = t + "/r/f"
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
libc = ctypes.CDLL(None, use_errno=True)

def rename2(a, b, flags):
    if libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), flags):
        n = ctypes.get_errno()
        raise OSError(n, os.strerror(n))

def put(path, data, timestamp=None):
    with open(path, "w") as file:
        file.write(data)
    if timestamp:
        os.utime(path, ns=(0, timestamp * 1000))

def get(path):
    with open(path) as file:
        return file.read()

def versions(q, d=f):
    """(timestamp, value), newest first."""
    v = d + "/.versions/" + q
    return [(int(e.name), get(e.path)) for e in os.scandir(v)] \
        if os.path.exists(v) else []
PYTHON
run() {
	cat moves.py - >program.py
	check "$1" python3 program.py "$m"
}

run "of cells" <<'PYTHON'
for i in 1, 2, 3:
    put(f + "/a", "a%d" % i, i * 10**6)
was = versions("a")
assert [x[0] for x in was] == [3 * 10**6, 2 * 10**6, 10**6], was
# To no name: the history moves as it is.
os.rename(f + "/a", f + "/b")
assert versions("b") == was and versions("a") == []
# Over an older one: one version more, with its own time. Of the source nothing.
put(f + "/tmp", "x", 9 * 10**6)
os.rename(f + "/tmp", f + "/b")
assert versions("b") == [(9 * 10**6, "x")] + was
# Over a newer one: just after that.
put(f + "/tmp", "y1", 10**6)
put(f + "/tmp", "y2", 2 * 10**6)
os.rename(f + "/tmp", f + "/b")
assert versions("b")[:2] == [(9 * 10**6 + 1, "y2"), (9 * 10**6, "x")]
assert len(versions("b")) == 5
assert '"tmp"' not in get(t + "/.scan/versions/all/jsonl")
# NOREPLACE, EXCHANGE, and what is no flag of ours.
put(f + "/c", "c", 5 * 10**6)
b, c = versions("b"), versions("c")
fails(errno.EEXIST, rename2, f + "/c", f + "/b", NOREPLACE)
fails(errno.EINVAL, rename2, f + "/c", f + "/b", NOREPLACE | EXCHANGE)
fails(errno.ENOENT, rename2, f + "/c", f + "/none", EXCHANGE)
fails(errno.EINVAL, rename2, f + "/c", f + "/new", WHITEOUT)
assert (versions("b"), versions("c")) == (b, c)
rename2(f + "/b", f + "/c", EXCHANGE)
assert (versions("b"), versions("c")) == (c, b)
rename2(f + "/b", f + "/d", NOREPLACE)
assert versions("d") == c and versions("b") == []
# A name's number and its size follow the path.
assert os.stat(f + "/d").st_size == 1 and os.listdir(f) == ["c", "d"]
# Handles go with the file, and of what was replaced nothing is committed.
w = os.open(f + "/w", os.O_RDWR | os.O_CREAT)
os.write(w, b"one")
lost = os.open(f + "/c", os.O_RDWR)
os.pwrite(lost, b"LOST", 0)
os.rename(f + "/w", f + "/c")
assert get(f + "/c") == "one" and versions("c")[0][1] == "one"
assert versions("c")[1:] == b
os.write(w, b" two")
os.fsync(lost)
os.close(lost)
os.close(w)
assert get(f + "/c") == "one two" and versions("c")[1:] == b
# Elsewhere: so that mv copies.
for a, b in ((f + "/c", t + "/r/g/c"), (f + "/c", m + "/u/r/f/c"),
             (t + "/r", m + "/u/x"), (t + "/r/f", t + "/r/h"),
             (t + "/r/f", m + "/u/r/f")):
    fails(errno.EXDEV, os.rename, a, b)
for a, b in ((f + "/.versions/c", f + "/.versions/e"),
             (t + "/.mutate", t + "/x"), (t + "/r/.row.jsonl", t + "/r/x"),
             (f + "/.versions", f + "/x"), (m + "/.tabletfs", m + "/x")):
    fails(errno.EPERM, os.rename, a, b)
fails(errno.EROFS, os.rename, t + "/.at/now/r/f/c", t + "/.at/now/r/f/e")
fails(errno.EROFS, os.rename, f + "/c", t + "/.at/now/r/f/e")
PYTHON
before=$(cat "$m/t/r/f/c")
check "mv into another family" mv "$m/t/r/f/c" "$m/t/r/g/c"
same "copies" "$before" "$(cat "$m/t/r/g/c")"
check "and removes" [ ! -e "$m/t/r/f/c" ]

run "of an editor's backups" <<'PYTHON'
def save(content, backup):
    """Renames away, writes anew, with the backup left to be removed."""
    os.rename(f + "/e", f + "/" + backup)
    put(f + "/e", content)
    assert len(versions("e")) == 1

put(f + "/e", "1")
put(f + "/e", "2")
save("3", "e~")
os.unlink(f + "/e~")
assert [x[1] for x in versions("e")] == ["3", "2", "1"]
# Kept over several saves, as with a permanent backup.
save("4", "e.bak")
save("5", "e.bak")
save("6", "e.bak")
os.unlink(f + "/e.bak")
assert [x[1] for x in versions("e")] == ["6", "5", "4", "3", "2", "1"], \
    versions("e")
# By way of a second name.
os.rename(f + "/e", f + "/e1")
os.rename(f + "/e1", f + "/e2")
put(f + "/e", "7")
os.unlink(f + "/e2")
assert [x[1] for x in versions("e")] == ["7", "6", "5", "4", "3", "2", "1"]
# Without its old name, what is removed is gone.
os.rename(f + "/e", f + "/e~")
os.unlink(f + "/e~")
put(f + "/e", "8")
assert [x[1] for x in versions("e")] == ["8"]
# And back again by a rename.
os.rename(f + "/e", f + "/e~")
os.rename(f + "/e~", f + "/e")
put(f + "/e~", "other")
os.unlink(f + "/e~")
assert [x[1] for x in versions("e")] == ["8"]
os.unlink(f + "/e")
PYTHON

# Then the next rename is the first.
run "away, and then forgotten" <<'PYTHON'
put(f + "/e", "1")
os.rename(f + "/e", f + "/e1")
PYTHON
remount
run "again" <<'PYTHON'
os.rename(f + "/e1", f + "/e2")
put(f + "/e", "2")
put(f + "/e1", "3")
os.unlink(f + "/e2")
assert [x[1] for x in versions("e")] == ["2"]
assert [x[1] for x in versions("e1")] == ["3", "1"]
os.unlink(f + "/e")
os.unlink(f + "/e1")
PYTHON

run "of rows" <<'PYTHON'
for i in 1, 2:
    put(f + "/a", "a%d" % i, i * 10**6)
    put(t + "/r/g/b", "b%d" % i, i * 10**6)
os.makedirs(t + "/r/h")
w = os.open(f + "/open", os.O_RDWR | os.O_CREAT)
os.write(w, b"not yet committed")
a, b = versions("a"), versions("b", t + "/r/g")
os.rename(t + "/r", t + "/r2")
assert not os.path.exists(t + "/r") and os.listdir(t) == ["r2"]
assert versions("a", t + "/r2/f") == a and versions("b", t + "/r2/g") == b
assert os.listdir(t + "/r2") == ["f", "g", "h"]
assert get(t + "/r2/f/open") == "not yet committed"
os.close(w)
assert get(t + "/.scan/keys") == "r2\n"
# Over nothing or what is empty; never over cells.
os.makedirs(t + "/other/f")
put(t + "/other/f/q", "q")
fails(errno.ENOTEMPTY, os.rename, t + "/r2", t + "/other")
fails(errno.EEXIST, rename2, t + "/r2", t + "/other", NOREPLACE)
fails(errno.EINVAL, rename2, t + "/r2", t + "/other", EXCHANGE)
os.makedirs(t + "/empty/f")
fails(errno.ENOTEMPTY, os.rename, t + "/r2", t + "/empty")
os.rmdir(t + "/empty/f")
os.rename(t + "/r2", t + "/empty")
os.rename(t + "/empty", t + "/r")
os.mkdir(t + "/alone")
os.rename(t + "/alone", t + "/alone2")
assert os.listdir(t) == ["alone2", "other", "r"]
os.rmdir(t + "/alone2")
fails(errno.ENOENT, os.rename, t + "/none", t + "/x")
fails(errno.EPERM, os.rename, t + "/r", t + "/.x")
fails(errno.EINVAL, os.rename, t + "/r", t + "/r/f")
# One that is too large is left to mv, whole.
for i in range(600):
    put(t + "/other/f/q%d" % i, "x" * 60000)
fails(errno.EXDEV, os.rename, t + "/other", t + "/moved")
assert len(os.listdir(t + "/other/f")) == 601
assert os.listdir(t) == ["other", "r"]
PYTHON
run "of tables" <<'PYTHON'
a = versions("a")
w = os.open(f + "/a", os.O_RDWR)
os.pwrite(w, b"A", 0)
gc = get(t + "/.schema/f/gc")
os.rename(t, m + "/t2")
os.close(w)
assert sorted(os.listdir(m)) == ["t2", "u"]
assert versions("a", m + "/t2/r/f")[1:] == a
assert get(m + "/t2/r/f/a") == "A2" and get(m + "/t2/.schema/f/gc") == gc
fails(errno.ENOTEMPTY, os.rename, m + "/t2", m + "/u")
fails(errno.EEXIST, rename2, m + "/t2", m + "/u", NOREPLACE)
fails(errno.EINVAL, rename2, m + "/t2", m + "/u", EXCHANGE)
os.mkdir(t)
assert os.listdir(t) == []
os.rmdir(t)
os.rename(m + "/t2", t)
PYTHON

run "unlink" <<'PYTHON'
put(f + "/gone", "1", 10**6)
put(f + "/gone", "2", 2 * 10**6)
assert get(t + "/.at/1500000/r/f/gone") == "1"
os.unlink(f + "/gone")
fails(errno.ENOENT, os.stat, t + "/.at/1500000/r/f/gone")
fails(errno.ENOENT, os.listdir, f + "/.versions/gone")
fails(errno.ENOENT, os.unlink, f + "/gone")
put(f + "/gone", "3")
assert [x[1] for x in versions("gone")] == ["3"]
fails(errno.EISDIR, os.unlink, f)
fails(errno.EISDIR, os.unlink, t + "/r")
fails(errno.EISDIR, os.unlink, f + "/.versions")
fails(errno.ENOTDIR, os.rmdir, f + "/gone")
put(f + "/one", "1", 10**6)
put(f + "/one", "2", 2 * 10**6)
put(f + "/one", "3", 3 * 10**6)
os.unlink(f + "/.versions/one/2000000")
assert versions("one") == [(3 * 10**6, "3"), (10**6, "1")]
fails(errno.ENOENT, os.unlink, f + "/.versions/one/2000000")
os.unlink(f + "/.versions/one/3000000")
assert get(f + "/one") == "1"
PYTHON

run "what cannot be made" <<'PYTHON'
for d in m, t, t + "/r", f, f + "/.versions", t + "/.scan":
    fails(errno.EPERM, os.symlink, "x", d + "/x")
    fails(errno.EPERM, os.mkfifo, d + "/x")
    fails(errno.EPERM, os.link, f + "/one", d + "/x")
    if os.getuid() == 0:
        fails(errno.EPERM, os.mknod, d + "/x", stat.S_IFBLK | 0o600, 0x700)
    if d != f:
        fails(errno.EPERM, os.open, d + "/x", os.O_CREAT | os.O_WRONLY)
for d in f, f + "/.versions", t + "/.scan", t + "/.import", m + "/.tabletfs":
    fails(errno.EPERM, os.mkdir, d + "/x")
    fails(errno.EPERM, os.rmdir, t + "/.scan")
os.mknod(f + "/regular", stat.S_IFREG | 0o644)
assert get(f + "/regular") == "" and len(versions("regular")) == 1
PYTHON

# Extended attributes.
requests() {
	sed -n "s/.*_count{operation=\"getxattr\"} //p" "$m/.tabletfs/metrics" |
		grep . || echo 0
}
remount
for i in 1 2 3; do
	errno EOPNOTSUPP python3 -c "import os
os.getxattr('$m/t/r/f/one', 'user.x')"
done
ls -l "$m/t/r/f" >/dev/null
check "one request is told that there are none" [ "$(requests)" -le 1 ]
errno EOPNOTSUPP python3 -c "import os
os.setxattr('$m/t/r/f/one', 'user.x', b'')"
remount -o xattr
check "with xattr they can be read" python3 - "$m/t/r/f/one" <<'PYTHON'
import errno, os, sys
p = sys.argv[1]
assert os.getxattr(p, "user.tabletfs.versions") == b"1"
assert os.getxattr(p, "user.tabletfs.timestamp") == b"1000000"
assert os.getxattr(p, "user.tabletfs.key") == b"one"
assert os.getxattr(os.path.dirname(p), "user.tabletfs.family_gc") == \
    b"maxversions=10"
assert os.listxattr(p) == []
for name in "user.tabletfs.other", "user.x", "security.capability":
    try:
        os.getxattr(p, name)
        assert False
    except OSError as e:
        assert e.errno == errno.ENODATA, e
for call in (lambda: os.setxattr(p, "user.x", b"1"),
             lambda: os.removexattr(p, "user.tabletfs.key")):
    try:
        call()
        assert False
    except OSError as e:
        assert e.errno == errno.EOPNOTSUPP, e
PYTHON

# What makes durable: counted by the log's syncs.
syncs() {
	sed -n 's/^tabletfs_syncs_total //p' "$m/.tabletfs/metrics"
}
# synced TEXT COMMAND...: whether it synced the log.
synced() {
	local before text=$1
	before=$(syncs)
	shift
	"$@"
	[ "$(syncs)" -gt "$before" ] && echo "$text"
}
remount -o commit=3600
echo x >x
same "fsync and a command sync, a close does not" \
	"file directory root ctl" "$( (
	synced close cp x "$m/t/r/f/x"
	synced rename mv "$m/t/r/f/x" "$m/t/r/f/y"
	echo 1 >"$m/t/r/f/y"
	synced file sync "$m/t/r/f/y"
	echo 1 >"$m/t/r/f/y"
	synced directory sync "$m/t/r/f"
	echo 1 >"$m/t/r/f/y"
	synced root sync "$m"
	echo 1 >"$m/t/r/f/y"
	synced ctl "$TABLETFS" -store "$store" sync) | xargs)"
remount -o commit=3600,sync
same "with -o sync all do" "close rename remove" "$( (
	synced close cp x "$m/t/r/f/x"
	synced rename mv "$m/t/r/f/x" "$m/t/r/f/y"
	synced remove rm "$m/t/r/f/y") | xargs)"
remount -o commit=1
before=$(syncs)
echo 1 >"$m/t/r/f/y"
synced_later() {
	local end=$((SECONDS + 20))
	until [ "$(syncs)" -gt "$before" ]; do
		[ $SECONDS -lt $end ] || return 1
		read -rt 0.05 <> <(:)
	done
	return 0
}
check "by itself within commit= seconds" synced_later
