"""Requests beside renames: one thread renames a row or a table to and fro, and
others do one thing again and again, each of which has to succeed and, at the
end, to be found where the names then lead.

    renamed_race.py MOUNT WHAT SECONDS
"""
import os
import sys
import threading
import time

m, what, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
LONG = "a-much-longer-name-than-the-other"
over = False
errors = []


def put(path, text):
    with open(os.path.join(m, path), "w") as f:
        f.write(text)


def run(call, counts, n):
    """Calls with 0, 1, ... until the time is over; counts[n] is how often."""
    try:
        while not over:
            call(counts[n])
            counts[n] += 1
    except Exception as e:
        errors.append("%s: %r after %d" % (what, e, counts[n]))


def race(a, b, call, threads=2):
    """call(thread, i) beside renames of a to b and back: calls of each. On a
    slow machine it goes on until there was some of all, a minute at most."""
    global over
    counts = [0] * threads
    renames = [0]

    def caller(n):
        run(lambda i: call(n, i), counts, n)

    def renamer():
        names = [m + "/" + a, m + "/" + b]
        run(lambda i: os.rename(names[i % 2], names[1 - i % 2]), renames, 0)
        if renames[0] % 2:
            os.rename(names[1], names[0])

    all_threads = [threading.Thread(target=caller, args=(n,))
                   for n in range(threads)] + [threading.Thread(target=renamer)]
    for t in all_threads:
        t.start()
    begin = time.time()

    def enough():
        passed = time.time() - begin
        some = all(counts) and renames[0] > 1
        return errors or passed > 60 or (some and passed > seconds)

    while not enough():
        time.sleep(0.05)
    over = True
    for t in all_threads:
        t.join()
    assert not errors, errors
    assert all(counts) and renames[0] > 1, (counts, renames)
    return counts


def lines_of(path):
    with open(os.path.join(m, path)) as f:
        return f.read().splitlines()


def chmod():
    fd = os.open(m + "/t", os.O_RDONLY)
    race("t", LONG, lambda n, i: os.fchmod(fd, (0o700, 0o755)[i + n & 1]), 3)


def stat():
    """What is there all the time is there, by any directory that is open."""
    os.makedirs(m + "/t/r/g")
    for i in range(40):
        put("t/r/g/%d" % i, "x")
    fds = [os.open(m + "/" + p, os.O_RDONLY)
           for p in ("t", "t/r", "t/r/f", "t/r/g", "t/.schema/f",
                     "t/r/f/.versions/q")]

    def look(n, i):
        for fd in fds:
            os.fstat(fd)
        os.stat("%d" % (i % 40), dir_fd=fds[3])
        os.stat("gc", dir_fd=fds[4])
        os.close(os.open("q", os.O_RDONLY, dir_fd=fds[2]))
        fd = os.open(".", os.O_RDONLY, dir_fd=fds[2])
        assert os.listdir(fd) == ["q"]
        os.close(fd)
        os.close(os.open(version, os.O_RDONLY, dir_fd=fds[5]))

    version = os.listdir(m + "/t/r/f/.versions/q")[0]
    return look


def stat_table():
    race("t", LONG, stat())


def stat_row():
    race("t/r", "t/" + LONG, stat())


def unlink():
    put("t/.schema/f/gc", "never")
    total = 20000
    put("t/.import/jsonl", "".join(
        '{"row":"r","set":{"f":{"v":{"value":"x","timestamp":%d}}}}\n' %
        (i * 1000) for i in range(1, total + 1)))
    fd = os.open(m + "/t/r/f/.versions/v", os.O_RDONLY)
    names = os.listdir(fd)

    def remove(n, i):
        name = names[i * 2 + n]
        os.unlink(name, dir_fd=fd)

    counts = race("t/r", "t/" + LONG, remove)
    left = set(os.listdir(m + "/t/r/f/.versions/v"))
    for n in 0, 1:
        stay = [i for i in range(counts[n]) if names[i * 2 + n] in left]
        assert not stay, "removed and there: %d of %d" % (len(stay), counts[n])


def rows(path):
    """Each thread writes rows of its own."""
    fds = [os.open(m + "/" + path, os.O_WRONLY) for _ in range(2)]

    def write(n, i):
        line = b'{"row":"k%d-%d","set":{"f":{"q":"x"}}}\n' % (n, i)
        assert os.write(fds[n], line) == len(line)

    counts = race("t", LONG, write)
    for fd in fds:
        os.close(fd)
    found = set(lines_of("t/.scan/prefix/k/keys"))
    wanted = {"k%d-%d" % (n, i) for n in (0, 1) for i in range(counts[n])}
    assert wanted == found, (len(wanted - found), len(found - wanted))


def mutate():
    rows("t/.mutate")


def imports():
    rows("t/.import/jsonl")


def add():
    os.makedirs(m + "/t/r/n")
    put("t/.schema/n/type", "intsum")
    put("t/r/n/sum", "1\n")
    fds = [os.open(m + "/t/r/n/sum", os.O_WRONLY | os.O_APPEND)
           for _ in range(2)]
    counts = race("t/r", "t/" + LONG, lambda n, i: os.write(fds[n], b"1\n"))
    for fd in fds:
        os.close(fd)
    total = int(lines_of("t/r/n/sum")[0])
    assert total == sum(counts) + 1, (total, counts)
    assert os.listdir(m + "/t") == ["r"]


def family():
    """Each is in the schema of the table that goes by two names."""
    fd = os.open(m + "/t/r", os.O_RDONLY)
    schema = os.open(m + "/t/.schema", os.O_RDONLY)

    def make(n, i):
        name = "f%d-%d" % (n, i % 300)
        if n:
            os.mkdir(name, dir_fd=schema)
            os.rmdir(name, dir_fd=schema)
        else:
            os.mkdir(name, dir_fd=fd)
            os.rmdir(name, dir_fd=fd)
            os.stat(name, dir_fd=schema)
            os.rmdir(name, dir_fd=schema)

    race("t", LONG, make)


os.makedirs(m + "/t/r/f")
put("t/r/f/q", "x")
{"chmod": chmod, "stat-table": stat_table, "stat-row": stat_row,
 "unlink": unlink, "mutate": mutate, "import": imports, "add": add,
 "family": family}[what]()
