"""goback.py SECONDS DIRECTORY...: goes back in lists after a pause.

Each directory holds files in some order. Its list is read, in part; then of its
names four of five are removed, and after the pause, in which the listings let
their snapshots go, each offset that was returned has to lead behind its name and
to nothing behind the next one that is still there.
"""
import os
import sys
import time

from getdents import read


def begin(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    seen = read(fd, 2048) + read(fd, 2048)
    names = os.listdir(path)
    return path, fd, seen, names


def go_back(path, fd, seen, names):
    # What the list had, in its order, and what of that is left.
    while part := read(fd, 2048):
        seen += part
    order = [name.decode() for name, _ in seen if name[:1] != b"."]
    assert len(order) == len(set(order)), path
    left = set(os.listdir(path))
    assert left <= set(order), path
    rank = {name: i for i, name in enumerate(names)}
    assert order == sorted(order, key=rank.get), path
    for i in range(2, len(seen) - 1, 7):
        os.lseek(fd, seen[i][1], os.SEEK_SET)
        part = read(fd, 2048)
        got = part[0][0].decode() if part else None
        want = next((n for n in order[i - 1:] if n in left), None)
        at = rank[seen[i][0].decode()]
        assert got is None or rank[got] > at, (path, i, got)
        assert want is None or got and rank[got] <= rank[want], (path, i, got)
    os.close(fd)


def main():
    begun = [begin(path) for path in sys.argv[2:]]
    for path, _, _, names in begun:
        for i, name in enumerate(names):
            if i % 5:
                os.unlink(path + "/" + name)
    time.sleep(float(sys.argv[1]))
    for state in begun:
        go_back(*state)


main()
