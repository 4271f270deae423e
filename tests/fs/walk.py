"""walk.py TABLE ROWS: listings of many readers and cells of many users.

TABLE is a directory with a family f. Each reader of a directory has to see what
is there all the time once, and in order, however many read at once, however
slowly, and whatever comes and goes.
"""
import json
import mmap
import multiprocessing
import os
import sys
import time

from getdents import read

# More than a listing may be unused before it lets its snapshot go.
IDLE_S = 7
# More readers at once than there are listings kept.
READERS = 200


def change(table, lines):
    with open(table + "/.mutate", "w") as f:
        f.write("".join(json.dumps(line) + "\n" for line in lines))


def put(rows):
    return [{"row": row, "set": {"f": {"q": "v"}}} for row in rows]


def begin(path):
    """An open directory of which some names were read."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    return fd, read(fd, 300)


def rest(fd, entries):
    """All names, in order, of which each comes once."""
    while more := read(fd, 4096):
        entries += more
    os.close(fd)
    names = [name.decode() for name, _ in entries if name[:1] != b"."]
    assert len(set(names)) == len(names), "a name was listed twice"
    return names


def slow_reader(table, rows):
    fd, entries = begin(table)
    # The kernel has the first part now, and nothing behind it.
    change(table, put(rows[i] + "y" for i in range(0, len(rows), 10)))
    time.sleep(IDLE_S)
    change(table, put(rows[i] + "z" for i in range(0, len(rows), 10)))
    other, begun = begin(table)
    got = rest(fd, entries)
    assert [r for r in rest(other, begun) if r[-1] not in "yz"] == rows
    assert got == sorted(got)
    assert [r for r in got if r[-1] not in "yz"] == rows
    change(table, [{"row": row + end, "delete": True}
                   for row in rows[::10] for end in "yz"])


def many_readers(table, rows):
    readers = [begin(table) for _ in range(READERS)]
    for fd, entries in readers[::2] + readers[1::2]:
        assert rest(fd, entries) == rows
    # Of those who left, and of one who did not.
    for fd, _ in [begin(table) for _ in range(READERS)]:
        os.close(fd)
    assert sorted(os.listdir(table)) == rows


def open_directory(table, rows):
    """Who has it open, or is in it, makes no lookup."""
    family = "%s/%s/f" % (table, rows[0])
    fd = os.open(family, os.O_RDONLY)
    os.chdir(family)
    before = len(os.listdir(fd))
    for i in range(3):
        for _ in range(3):
            assert len(os.listdir(fd)) == len(os.listdir(".")) == before + i
        change(table, [{"row": rows[0], "set": {"f": {"new%d" % i: "v"}}}])
    os.chdir("/")
    os.close(fd)
    change(table, [{"row": rows[0],
                    "delete": {"f": ["new%d" % i for i in range(3)]}}])


def lister(table, rows, end):
    while not end.is_set():
        got = sorted(os.listdir(table))
        assert [r for r in got if r[0] == "r"] == rows


def listers(table, rows):
    """While others make names; at the end all see the same."""
    end = multiprocessing.Event()
    all_ = [multiprocessing.Process(target=lister, args=(table, rows, end))
            for _ in range(3)]
    for p in all_:
        p.start()
    for i in range(40):
        change(table, put(["x%d" % i]))
        now = {r for r in os.listdir(table) if r[0] == "x"}
        assert now == {"x%d" % j for j in range(i + 1)}, sorted(now)
    end.set()
    for p in all_:
        p.join()
        assert p.exitcode == 0
    change(table, [{"row": "x%d" % i, "delete": True} for i in range(40)])
    assert sorted(os.listdir(table)) == rows


def value_of(path):
    with open(path, "rb") as f:
        return int(f.read())


def reader(path, end):
    """What is read, and what is mapped, never goes back."""
    last = 0
    with open(path, "rb") as f:
        mapped = mmap.mmap(f.fileno(), 8, prot=mmap.PROT_READ)
    while not end.is_set():
        now = value_of(path)
        assert now >= last, (now, last)
        last = now
    while int(mapped[:8]) < value_of(path):
        pass


def opener(path, end):
    """Opens, mostly alone, and reads nothing."""
    while not end.is_set():
        os.close(os.open(path, os.O_RDONLY))


def values(path):
    """One writes, others read; what was written is what is read next."""
    end = multiprocessing.Event()
    with open(path, "wb") as f:
        f.write(b"%08d" % 0)
    others = [multiprocessing.Process(target=target, args=(path, end))
              for target in (reader, opener, opener, opener)]
    for p in others:
        p.start()
    for i in range(1, 1500):
        fd = os.open(path, os.O_WRONLY)
        os.pwrite(fd, b"%08d" % i, 0)
        os.close(fd)
        assert value_of(path) == i, (value_of(path), i)
    end.set()
    for p in others:
        p.join()
        assert p.exitcode == 0


def main():
    table, count = sys.argv[1], int(sys.argv[2])
    rows = sorted(os.listdir(table))
    # First: the kernel keeps no list of which it was given a part and no more.
    open_directory(table, rows)
    more = ["row%05d" % i for i in range(len(rows) + 1, count)]
    change(table, put(more))
    every = rows + more
    many_readers(table, every)
    slow_reader(table, every)
    listers(table, every)
    values("%s/%s/f/counter" % (table, rows[0]))
    change(table, [{"row": row, "delete": True} for row in more])


if __name__ == "__main__":
    main()
