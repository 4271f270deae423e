"""moved.py MNT STORE SEED SECONDS: names that change while open, by a model.

A random program keeps open files and directories of every kind, and draws what
it does to them beside renames of cells, rows and tables, removals, and others
made by the same name. The model (moved_model.py) knows where each write has to
land and what each open file reads; every STEPS steps all of the tree is compared
with it, also after a remount, the daemon's end by a signal, and its death. A
failure prints the seed and the last steps.
"""
import ctypes
import errno
import fcntl
import os
import random
import re
import select
import signal
import subprocess
import sys
import time
import traceback

from moved_model import Cell, Directory, Row, Sum, Table

m, store, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
seconds = float(sys.argv[4])
STEPS = 120      # between comparisons
HANDLES_MAX = 40
NOREPLACE, EXCHANGE = 1, 2
GONE = (errno.ENOENT, errno.ESTALE)
TABLES, ROWS = ("t", "u", "v"), ("a", "b", "c")
CELLS, OUTSIDE, SUMS = ("p", "q", "r", "s"), ("o0", "o1"), ("s0", "s1")
DROPPED_ROWS = ("d1", "d2", "d3")  # changed from outside only
EPOCHS = [int(n) for n in re.findall(r"\d+", os.uname().release)[:2]] >= [6, 16]

libc = ctypes.CDLL(None, use_errno=True)
rng = random.Random(seed)
tables = {}   # by name
handles = []  # open, in the order of their opening
trace = []
counts = {}   # of what was done, by its name
serial = 0


class Handle:
    """Open: target is what it was opened of, which goes by whatever name."""

    def __init__(self, kind, target, fd, **more):
        self.kind, self.target, self.fds = kind, target, [fd]
        self.text = b""  # written and not yet taken
        self.__dict__.update(more)
        handles.append(self)

    fd = property(lambda self: self.fds[0])


def note(text, *words):
    trace.append(text % words)


def fresh():
    """A value that no other has."""
    global serial
    serial += 1
    return b"%d" % serial + b"." * rng.choice((0, 0, 3, 200, 6000))


def path(thing, name=""):
    return "/".join(filter(None, [m] + thing.names() + [name]))


def spot(thing, name):
    """A directory's descriptor, or None, and the name in it by which name in
    thing is found: by the mount's path or by any directory that is open."""
    ways, rest, at = [(None, path(thing, name))], name, thing
    while at:
        ways += [(h.fd, rest or ".") for h in handles
                 if h.kind == "directory" and h.target is at]
        rest, at = at.name + ("/" + rest if rest else ""), at.parent
    return rng.choice(ways)


def opened(thing, name, flags):
    fd, rest = spot(thing, name)
    note("open %s, by %s, flags %o", path(thing, name), fd, flags)
    return os.open(rest, flags, 0o755, dir_fd=fd)


def fails(numbers, call, *words, **more):
    try:
        result = call(*words, **more)
    except OSError as e:
        assert e.errno in numbers, (e, numbers)
        return
    assert False, ("it succeeded", result)


def rename(thing, old, new, flags=0):
    """Returns 0 or an errno."""
    (a, one), (b, two) = spot(thing, old), spot(thing, new)
    note("rename %s to %s, by %s and %s, flags %d", path(thing, old), new, a, b,
         flags)
    if not libc.renameat2(-100 if a is None else a, os.fsencode(one),
                          -100 if b is None else b, os.fsencode(two), flags):
        return 0
    return ctypes.get_errno()


def came_from_outside():
    """Older kernels keep what they knew for a second."""
    if not EPOCHS:
        time.sleep(1.1)


def choose(things):
    things = list(things)
    return rng.choice(things) if things else None


def of_kind(*kinds):
    return [h for h in handles if h.kind in kinds]


def all_rows():
    return [r for t in tables.values() for r in t.rows.values()]


def all_directories():
    """Families of rows that cells may be written in by a path."""
    return [d for r in all_rows() if r.name in ROWS
            for d in r.directories.values() if d.name in "fg"]


def all_cells(kind=Cell):
    return [c for r in all_rows() for d in r.directories.values()
            for c in d.cells.values() if type(c) is kind]


def brief(values):
    return [b"%.12s, %d bytes" % (v, len(v)) for v in values]


# Making and removing.
def make_table():
    name = choose(set(TABLES) - set(tables))
    if not name:
        return
    note("make table %s", name)
    os.mkdir(m + "/" + name)
    t = tables[name] = Table(name)
    for family, kind in ("f", "bytes"), ("g", "bytes"), ("n", "intsum"), (
            "x", "bytes"):
        os.mkdir("%s/%s/.schema/%s" % (m, name, family))
        with open("%s/%s/.schema/%s/type" % (m, name, family), "w") as f:
            f.write(kind)
        t.families[family] = ["never", kind]
    for row in ROWS[:2]:
        r = t.rows[row] = Row(row, t)
        for family in "fg":
            d = r.directories[family] = Directory(family, r)
            os.makedirs(path(d))
            for name in CELLS[:3]:
                c = d.cells[name] = Cell(name, d)
                c.versions = [[fresh()]]
                with open(path(c), "wb") as f:
                    f.write(c.versions[0][0])
            d.committed()


def make_row():
    t = choose(tables.values())
    name = rng.choice(ROWS)
    if not t or t.row(name):
        return
    r = t.rows[name] = Row(name, t)
    fd, rest = spot(t, name)
    note("mkdir %s, by %s", path(r), fd)
    os.mkdir(rest, dir_fd=fd)


def make_directory():
    r = choose(r for r in all_rows() if r.name in ROWS)
    name = rng.choice("ffggnk")
    if not r or r.directory(name):
        return
    fd, rest = spot(r, name)
    note("mkdir %s, by %s", path(r, name), fd)
    os.mkdir(rest, dir_fd=fd)
    r.directories[name] = Directory(name, r)
    r.parent.families.setdefault(name, ["maxversions=10", "bytes"])


def remove_directory():
    """Of a family or row that may hold something."""
    thing = choose([d for r in all_rows() if r.name in ROWS
                    for d in r.directories.values()] +
                   [r for r in all_rows() if r.name in ROWS])
    if not thing:
        return
    fd, rest = spot(thing.parent, thing.name)
    note("rmdir %s, by %s", path(thing), fd)
    if thing.is_empty():
        os.rmdir(rest, dir_fd=fd)
        thing.detach()
    else:
        fails((errno.ENOTEMPTY,), os.rmdir, rest, dir_fd=fd)


def command(*words):
    """Through ctl, as a child would close what is open here, and so commit."""
    text = b"".join(w.encode() + b"\0" for w in words)
    fd = os.open(m + "/.tabletfs/ctl", os.O_RDWR)
    os.write(fd, b"w%d\n" % len(text) + text)
    reply = os.pread(fd, 4096, 0)
    os.close(fd)
    assert reply.endswith(b"x 0\n"), reply


def drop_table():
    """With whatever is in it and open of it."""
    t = choose(tables.values())
    if not t or rng.random() < 0.7:
        return
    note("deletetable %s", t.name)
    command("deletetable", t.name)
    del tables[t.name]
    t.drop()
    came_from_outside()
    make_table()


def remove_table():
    t = choose(tables.values())
    if not t or rng.random() < 0.8:
        return
    note("rmdir %s", t.name)
    if t.is_empty():
        os.rmdir(path(t))
        del tables[t.name]
        t.drop()
    else:
        fails((errno.ENOTEMPTY,), os.rmdir, path(t))


# Open files of cells.
def somewhere():
    """A directory and a name in it, mostly of a cell, or of an open one."""
    cells = [c for c in all_cells() if c.name in CELLS]
    c = choose(rng.choice((cells, [c for c in cells if c.is_open()])))
    if c and rng.random() < 0.8:
        return c.parent, c.name
    return choose(all_directories()), rng.choice(CELLS)


def open_cell():
    d, name = somewhere()
    if not d:
        return
    flags = rng.choice((
        os.O_RDONLY, os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_CREAT,
        os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_TRUNC,
        os.O_RDWR | os.O_CREAT | os.O_APPEND, os.O_WRONLY | os.O_APPEND,
        os.O_RDWR | os.O_CREAT | os.O_EXCL))
    cell = d.cells.get(name)
    fd, rest = spot(d, name)
    note("open %s, by %s, flags %o", path(d, name), fd, flags)
    if not cell and not flags & os.O_CREAT:
        return fails((errno.ENOENT,), os.open, rest, flags, dir_fd=fd)
    if cell and flags & os.O_EXCL:
        return fails((errno.EEXIST,), os.open, rest, flags, dir_fd=fd)
    new = os.open(rest, flags, dir_fd=fd)
    if not cell:
        cell = d.cells[name] = Cell(name, d)
    cell.open(flags & os.O_ACCMODE != os.O_RDONLY, bool(flags & os.O_TRUNC))
    Handle("cell", cell, new, flags=flags, reads=flags & os.O_ACCMODE !=
           os.O_WRONLY, writes=flags & os.O_ACCMODE != os.O_RDONLY)


def writer():
    return choose(h for h in of_kind("cell") if h.writes)


def write():
    h = writer()
    if not h:
        return
    data, c = fresh(), h.target
    append = h.flags & os.O_APPEND
    at = rng.randrange(30)
    note("write %r of %s at %d", data[:8], c.shown(), -1 if append else at)
    if append:
        assert os.write(h.fd, data) == len(data)
        at = len(c.content)
    elif rng.random() < 0.5:
        assert os.pwrite(h.fd, data, at) == len(data)
    else:
        os.lseek(h.fd, at, os.SEEK_SET)
        assert os.write(h.fd, data) == len(data)
    c.write(data, at)


def truncate():
    h = writer()
    if h:
        size = rng.randrange(300)
        note("ftruncate %s to %d", h.target.shown(), size)
        os.ftruncate(h.fd, size)
        h.target.truncate(size)


def truncate_path():
    c = choose(c for c in all_cells() if c.name in CELLS)
    if not c:
        return
    size = rng.randrange(300)
    note("truncate %s to %d", path(c), size)
    os.truncate(path(c), size)
    c.open(True, False)
    c.truncate(size)
    c.commit()
    c.close(True)


def read():
    h = choose(h for h in of_kind("cell") if h.reads)
    if h:
        size, at = rng.choice((10, 300, 100000)), rng.choice((0, 0, 5, 5000))
        note("read %s", h.target.shown())
        got = os.pread(h.fd, size, at)
        want = h.target.content[at:at + size]
        assert got == want, brief([got, want])


def sync():
    h = choose(of_kind("cell"))
    if h:
        note("fsync %s", h.target.shown())
        if h.target.commits_nowhere():
            fails(GONE, os.fsync, h.fd)
        else:
            os.fsync(h.fd)
            h.target.commit()


def duplicate():
    h = choose(of_kind("cell"))
    if h and len(h.fds) < 3:
        note("duplicate %s", h.target.shown())
        h.fds.append(os.dup(h.fd))


def close(h=None):
    h = h or choose(of_kind("cell"))
    if not h:
        return
    c, fd = h.target, h.fds.pop()
    note("close %s", c.shown())
    if h.writes and c.commits_nowhere():
        fails(GONE, os.close, fd)
    else:
        os.close(fd)
        if h.writes:
            c.commit()
    if not h.fds:
        handles.remove(h)
        c.close(h.writes)


def stamp():
    h = choose(of_kind("cell"))
    if h and not h.target.dropped():
        note("futimens %s", h.target.shown())
        us = rng.choice((rng.randrange(1, 10**9), time.time_ns() // 1000))
        os.utime(h.fd, ns=(0, us * 1000))
        # A table of milliseconds cuts it.
        assert h.target.gone or (os.fstat(h.fd).st_mtime_ns >=
                                 us // 1000 * 1000000)


def number():
    """Whether two descriptors are of one file, by stat and by lock."""
    h = choose(of_kind("cell"))
    if not h or h.target.dropped():
        return
    mine = os.fstat(h.fd)
    assert h.kind != "cell" or mine.st_size == len(h.target.content)
    other = choose(of_kind("cell"))
    note("compare %s and %s", h.target.shown(), other.target.shown())
    if not other.target.dropped():
        assert os.path.samestat(mine, os.fstat(other.fd)) == (
            h.target is other.target)
    found = h.target.parent and h.target.parent.cells.get(h.target.name)
    assert found is None or os.path.samestat(mine, os.stat(path(found))) == (
        found is h.target)
    fcntl.flock(h.fd, fcntl.LOCK_EX)
    if other is not h:
        try:
            fcntl.flock(other.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert h.target is not other.target, "two have one lock"
            fcntl.flock(other.fd, fcntl.LOCK_UN)
        except BlockingIOError:
            assert h.target is other.target, "a lock of another file"
    fcntl.flock(h.fd, fcntl.LOCK_UN)


# Names of cells.
def unlink():
    c = choose(c for c in all_cells() + all_cells(Sum)
               if c.name in CELLS + SUMS)
    if not c:
        return
    d = c.parent
    fd, rest = spot(d, c.name)
    note("unlink %s, by %s", path(c), fd)
    os.unlink(rest, dir_fd=fd)
    returned = [(old, returned_to(old, c)) for old in c.unlink()]
    returned = [(old, below) for old, below in returned if below]
    assert len(returned) <= 1, "a history was returned twice"
    for old, below in returned:
        old.add_below(below)


def returned_to(old, c):
    """What of c, which was removed, is now beneath old: maybe nothing, as it may
    be forgotten where its history came from."""
    now = versions_at(path(old.parent), old.name)
    below = now[len(old.versions):]
    assert now[:len(old.versions)] == old.values(), (
        brief(now), brief(old.values()))
    had = iter(c.values())
    assert all(v in had for v in below), (brief(below), brief(c.values()))
    return below


def rename_cell():
    d, old = somewhere()
    if not d:
        return
    new = rng.choice(CELLS)
    flags = rng.choice((0, 0, 0, NOREPLACE, EXCHANGE))
    c, target = d.cells.get(old), d.cells.get(new)
    want = (errno.ENOENT if not c or flags == EXCHANGE and not target else
            errno.EEXIST if flags == NOREPLACE and target else 0)
    result = rename(d, old, new, flags)
    assert result == want, (errno.errorcode.get(result), want)
    if want or c is target:
        return
    if flags == EXCHANGE:
        c.exchange(target)
    else:
        c.rename(new)


def rename_sum():
    c = choose(all_cells(Sum))
    if not c:
        return
    new = rng.choice(SUMS)
    target = c.parent.cells.get(new)
    result = rename(c.parent, c.name, new)
    assert result == (errno.EPERM if target and target is not c else 0), result
    if not target:
        c.rename(new)


def rename_row():
    r = choose(all_rows())
    if not r:
        return
    t = r.parent
    new = rng.choice(ROWS if r.name in ROWS else DROPPED_ROWS)
    target = t.row(new)
    blocked = target and target is not r and not target.is_empty()
    result = rename(t, r.name, new)
    assert result == (errno.ENOTEMPTY if blocked else 0), result
    if not blocked and target is not r:
        if target:
            target.detach()
        r.rename(new)


def rename_table():
    t = choose(tables.values())
    new = rng.choice(TABLES)
    if not t:
        return
    target = tables.get(new)
    note("rename table %s to %s", t.name, new)
    result = libc.renameat2(-100, path(t).encode(), -100,
                            (m + "/" + new).encode(), 0)
    if target and target is not t:
        assert result and ctypes.get_errno() in (errno.ENOTEMPTY,
                                                 errno.EEXIST)
        return
    assert not result, os.strerror(ctypes.get_errno())
    del tables[t.name]
    tables[new] = t
    t.name = new


# Directories.
def open_directory():
    t = choose(tables.values())
    thing = choose([t, t] + [r for r in all_rows() if r.name in ROWS] +
                   all_directories())
    if thing:
        Handle("directory", thing,
               opened(thing, "", os.O_RDONLY | os.O_DIRECTORY))


def close_other():
    h = choose(of_kind("directory", "schema", "column", "keys"))
    if h:
        note("close %s", h.kind)
        handles.remove(h)
        os.close(h.fd)


def use_dead():
    """A directory that was removed has nothing, also if another has its name."""
    h = choose(h for h in of_kind("directory", "schema") if h.target.is_dead())
    if not h:
        return
    note("use a removed %s", type(h.target).__name__)
    if type(h.target) is Directory:
        fails(GONE, os.open, "p", os.O_CREAT | os.O_WRONLY, dir_fd=h.fd)
        fails(GONE, os.unlink, "p", dir_fd=h.fd)
        fails(GONE, os.stat, "p", dir_fd=h.fd)
    else:
        fails(GONE, os.mkdir, "k", dir_fd=h.fd)
        fails(GONE, os.rmdir, "f", dir_fd=h.fd)


def list_directory():
    h = choose(of_kind("directory"))
    if h and not h.target.is_dead():
        note("list %s", path(h.target))
        names = set(os.listdir(h.fd))
        assert names == h.target.listed(), (names, h.target.listed())


def chmod():
    h = choose(h for h in of_kind("directory") if type(h.target) is Table)
    if h and not h.target.is_dead():
        h.target.mode = rng.choice((0o700, 0o750, 0o755))
        note("chmod %s", path(h.target))
        os.fchmod(h.fd, h.target.mode)


# Control files: what is written before a rename is taken after it.
def open_control():
    t = choose(tables.values())
    r = choose(r for r in all_rows() if r.name in ROWS)
    kind = rng.choice(("mutate", "import", "csv", "row", "gc", "type",
                       "granularity", "drop", "schema", "keys"))
    if not t or kind == "row" and not r:
        return
    if kind in ("mutate", "import", "csv"):
        name = {"mutate": ".mutate", "import": ".import/jsonl",
                "csv": ".import/timestamp/value-encoded/csv"}[kind]
        h = Handle(kind, t, opened(t, name, os.O_WRONLY))
        if kind == "csv":
            os.write(h.fd, b",f\n,o0\n")
    elif kind == "row":
        Handle(kind, r, opened(r, ".row.jsonl", os.O_WRONLY))
    elif kind in ("gc", "type"):
        Handle(kind, t, opened(t, ".schema/x/" + kind, os.O_WRONLY))
    elif kind == "granularity":
        Handle(kind, t, opened(t, ".granularity", os.O_WRONLY))
    elif kind == "drop":
        with open(path(t, ".drop/prefix/d/preview")) as f:
            token = re.search(r"^token (.*)$", f.read(), re.M).group(1)
        Handle(kind, t, opened(t, ".drop/prefix/d/apply", os.O_WRONLY),
               token=token.encode(), state=t.state(DROPPED_ROWS))
    elif kind == "schema":
        Handle(kind, t, opened(t, ".schema", os.O_RDONLY | os.O_DIRECTORY))
    else:
        Handle(kind, t, opened(t, ".scan/keys", os.O_RDONLY),
               keys=sorted(r.name for r in t.rows.values() if r.has_cell()))


def taken(h, row):
    """A value that came for a row from outside. Returns it as text."""
    value, t = fresh().decode(), h.target
    r = t.row(row) or t.add(Row(row, t))
    d = r.directory("f") or r.add(Directory("f", r))
    name = "o0" if h.kind == "csv" else rng.choice(OUTSIDE)
    d.set(name, value.encode())
    came_from_outside()
    return name, value


def line():
    """In two pieces, with anything in between; at last without a newline."""
    h = choose(of_kind("mutate", "import", "csv"))
    if not h:
        return
    if not h.text:
        row = rng.choice(ROWS + DROPPED_ROWS)
        h.row = row
        h.text = (b"%s," if h.kind == "csv" else b'{"row":"%s",') % row.encode()
        note("begin a line of %s %s", h.kind, h.target.name)
        if h.target.is_dead():
            return refused(h, b"{}\n")
        assert os.write(h.fd, h.text) == len(h.text)
        return
    note("end a line of %s %s", h.kind, h.target.name)
    end, h.text = b"\n" if rng.random() < 0.8 else b"", b""
    form = b"%s@%d" if h.kind == "csv" else (
        b'"set":{"f":{"%s":{"value":"%s","timestamp":%d}}}}')
    if h.target.is_dead():
        return refused(h, form % ((b"x", 1000) if h.kind == "csv" else
                                  (b"o0", b"x", 1000)) + end)
    name, value = taken(h, h.row)
    words = value.encode(), serial * 1000
    text = form % (words if h.kind == "csv" else (name.encode(),) + words) + end
    assert os.write(h.fd, text) == len(text)
    if not end:
        handles.remove(h)
        os.close(h.fd)


def refused(h, text):
    """Its table was dropped: by the write or by the close, it is told."""
    handles.remove(h)

    def go():
        try:
            os.write(h.fd, text)
        finally:
            os.close(h.fd)
    fails(GONE, go)


def quietly(call, *words):
    try:
        return call(*words)
    except OSError:
        return None


def finish_small():
    """What is written to these is taken when they are closed."""
    h = choose(of_kind("row", "gc", "type", "granularity", "drop"))
    if not h:
        return
    t, text, change = h.target, b"", None
    if h.kind == "row":
        return finish_row(h)
    # What has microseconds cannot be written again with milliseconds.
    if h.kind == "granularity" and any(r.has_cell() for r in t.rows.values()):
        return None
    note("write to %s of %s", h.kind, t.name)
    if h.kind == "gc":
        n = rng.randrange(1, 99)
        text, change = b"maxversions=%d" % n, ("x", 0, "maxversions=%d" % n)
    elif h.kind == "type":
        text = rng.choice((b"bytes", b"stringutf8bytes"))
        change = "x", 1, text.decode()
    elif h.kind == "granularity":
        text = rng.choice((b"micros", b"millis"))
    else:
        text = h.token
    if t.is_dead():
        return refused(h, text)
    if h.kind == "drop" and h.state != t.state(DROPPED_ROWS):
        return refused(h, text)
    handles.remove(h)
    try:
        os.write(h.fd, text)
    finally:
        os.close(h.fd)
    if change:
        t.families[change[0]][change[1]] = change[2]
    elif h.kind == "granularity":
        t.granularity = text.decode()
    else:
        t.drop_rows(DROPPED_ROWS)
        came_from_outside()


def finish_row(h):
    """Of a removed row it is of the key, or refused."""
    r = h.target
    handles.remove(h)
    note("write to .row.jsonl of %s", r.name)
    value = fresh().decode()
    try:
        os.write(h.fd, b'{"set":{"f":{"o1":{"value":"%s","timestamp":%d}}}}' %
                 (value.encode(), serial * 1000))
    finally:
        try:
            os.close(h.fd)
        except OSError as e:
            assert r.is_dead() and e.errno in GONE, e
            return
    assert not r.parent.is_dead(), "a dropped table was written to"
    if r.is_dead():
        r = r.parent.row(r.name) or r.parent.add(Row(r.name, r.parent))
    d = r.directory("f") or r.add(Directory("f", r))
    d.set("o1", value.encode())
    came_from_outside()


def use_schema():
    h = choose(of_kind("schema"))
    name = "y%d" % rng.randrange(3)
    if not h or h.target.is_dead():
        return
    note("family %s of %s", name, h.target.name)
    if name in h.target.families:
        os.rmdir(name, dir_fd=h.fd)
        del h.target.families[name]
    else:
        os.mkdir(name, dir_fd=h.fd)
        h.target.families[name] = ["never", "bytes"]
    came_from_outside()


def read_keys():
    h = choose(of_kind("keys"))
    if h:
        note("read keys")
        try:
            found = os.pread(h.fd, 4096, 0).decode().split()
            assert found == h.keys, (found, h.keys)
        except OSError as e:
            assert h.target.is_dead() and e.errno in GONE, e


# Sums: a file of one takes numbers.
def open_sum():
    d = choose(d for r in all_rows() if r.name in ROWS
               for d in r.directories.values() if d.name == "n")
    if not d:
        return
    name = rng.choice(SUMS)
    fd = opened(d, name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    h = Handle("sum", d.cells.get(name) or Sum(name, d), fd)
    d.cells[name] = h.target
    add(h)


def add(h=None):
    h = h or choose(of_kind("sum"))
    if not h:
        return
    n = rng.randrange(1000)
    note("add %d to %s", n, h.target.shown())
    if h.target.dropped():
        assert h.target.gone or not quietly(os.write, h.fd, b"%d\n" % n)
        return
    cut = rng.randrange(3)
    text = b"%d\n" % n
    os.write(h.fd, text[:cut])
    os.write(h.fd, text[cut:])
    if not h.target.gone:
        h.target.add(n)


def close_sum():
    h = choose(of_kind("sum"))
    if h:
        note("close %s", h.target.shown())
        handles.remove(h)
        os.close(h.fd)


# Versions, by the directory of a column.
def open_column():
    c = choose(c for c in all_cells() if c.versions and c.name in CELLS)
    if c:
        fd = opened(c.parent, ".versions/" + c.name,
                    os.O_RDONLY | os.O_DIRECTORY)
        Handle("column", c.parent, fd, name=c.name)


def unlink_version():
    h = choose(of_kind("column"))
    if not h or h.target.is_dead():
        return
    c = h.target.cells.get(h.name)
    if not c or len(c.versions) < 2:
        return
    names = sorted(map(int, os.listdir(h.fd)), reverse=True)
    assert len(names) == len(c.versions), (names, c.values())
    i = rng.randrange(1, len(names))
    note("unlink version %d of %s", i, path(c))
    os.unlink(str(names[i]), dir_fd=h.fd)
    del c.versions[i]
    came_from_outside()


# The whole.
def versions_at(directory, name):
    at = "%s/.versions/%s" % (directory, name)
    found = []
    try:
        names = sorted(map(int, os.listdir(at)), reverse=True)
    except FileNotFoundError:
        return found
    for n in names:
        with open("%s/%d" % (at, n), "rb") as f:
            found.append(f.read())
    return found


def compare_cell(c, at):
    with open(at + "/" + c.name, "rb") as f:
        data = f.read()
    assert data == c.seen(), (at, c.name, brief([data, c.seen()]))
    if type(c) is Cell:
        assert c.is_open() or c.versions, "nothing was committed"
        found = versions_at(at, c.name)
        assert found == c.values(), (at, c.name, brief(found),
                                     brief(c.values()))


def compare():
    """The tree, as find and reading show it, with the model."""
    found = {d: (set(dirs), set(files)) for d, dirs, files in os.walk(m)}
    assert found.pop(m) == (set(tables), set()), sorted(tables)
    for t in tables.values():
        at = path(t)
        assert found.pop(at)[0] == t.listed(), (at, t.listed())
        assert os.stat(at).st_mode & 0o7777 == t.mode, at
        with open(at + "/.granularity") as f:
            assert f.read().strip() == t.granularity, at
        families = {}
        for name in os.listdir(at + "/.schema"):
            words = []
            for word in "gc", "type":
                with open("%s/.schema/%s/%s" % (at, name, word)) as f:
                    words.append(f.read().strip())
            families[name] = words
        assert families == t.families, (families, t.families)
    for r in all_rows():
        if r.is_seen():
            at = path(r)
            assert found.pop(at)[0] == r.listed(), (at, r.listed())
        for d in r.directories.values():
            if d.is_seen():
                assert found.pop(path(d))[1] == d.listed(), path(d)
                for c in d.cells.values():
                    compare_cell(c, path(d))
    assert not found, ("more than there should be", found)


def daemon():
    with open(store + "/lock") as f:
        return int(re.search(r"pid (\d+), mounted at", f.read()).group(1))


def remount():
    """The ends of a mount: with nothing open, or by a signal with all open."""
    way = rng.choice(("umount", "SIGTERM", "SIGHUP", "SIGKILL"))
    note("remount after %s", way)
    if way == "umount":
        for h in handles[:]:
            while h.kind == "cell" and len(h.fds) > 1:
                close(h)
            if h.kind == "cell":
                close(h)
            else:
                quietly(os.close, h.fd)
    else:
        pid = daemon()
        fd = os.pidfd_open(pid)
        os.kill(pid, getattr(signal, way))
        select.select([fd], [], [])
        os.close(fd)
        for h in handles:
            for fd in h.fds:
                quietly(os.close, fd)
    for h in handles:
        if h.kind == "cell" and not h.target.dropped() and way != "SIGKILL":
            h.target.commit()
    handles.clear()
    if way == "umount":
        subprocess.run([os.environ["TABLETFS"], "umount", m], check=True)
    subprocess.run([os.environ["TABLETFS"], "mount", store, m], check=True)
    for t in tables.values():
        t.remount()


OPERATIONS = (
    [write] * 20 + [open_cell] * 16 + [rename_cell] * 16 + [read] * 6 +
    [close] * 8 + [line] * 6 + [rename_row] * 5 + [add] * 4 +
    [open_control] * 4 + [make_directory] * 4 + [finish_small] * 3 +
    [rename_table] * 3 + [unlink] * 3 + [make_row] * 3 + [truncate] * 3 +
    [number] * 3 + [sync] * 3 + [stamp] * 3 + [open_directory] * 3 +
    [duplicate] * 2 + [use_dead] * 3 + [open_sum] * 2 +
    [truncate_path, rename_sum, close_sum, close_other, list_directory, chmod,
     use_schema, read_keys, open_column, unlink_version, unlink_version,
     remove_directory, remove_directory, remove_table, make_table, drop_table])


def step(i):
    operation = rng.choice(OPERATIONS)
    if len(handles) > HANDLES_MAX:
        operation = rng.choice((close, close, close_other, close_sum,
                                finish_small))
    before = len(trace)
    operation()
    if len(trace) > before:
        counts[operation.__name__] = counts.get(operation.__name__, 0) + 1
    if i % STEPS == STEPS - 1:
        compare()
    if i % (STEPS * 8) == STEPS * 8 - 1:
        remount()
        compare()


def main():
    make_table()
    make_table()
    end, i = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end or i < STEPS * 8:
            step(i)
            i += 1
        compare()
    except Exception:
        traceback.print_exc()
        with open(m + "/.tabletfs/errors") as f:
            print("".join(f.readlines()[-3:]), file=sys.stderr)
        print("seed %d, step %d, after:\n  %s" % (
            seed, i, "\n  ".join(trace[-40:])), file=sys.stderr)
        sys.exit(1)
    missing = {f.__name__ for f in OPERATIONS} - set(counts)
    print("%d steps of %d kinds%s" % (i, len(counts), "".join(
        ", never " + n for n in sorted(missing))))


main()
