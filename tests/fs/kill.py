"""kill.py MNT STORE SEED SECONDS WRITERS READERS KILLS: what a kill may not lose.

Writers change cells of their own, and append to one that all share, while
readers look at them, and the daemon is killed and mounted again. What was asked
for and what was acknowledged is kept outside the mount. Then of every cell
there must be one of the values from the last that was acknowledged to the last
that was asked for; what is replaced by rename must be whole whenever it is
read, and so must every version.
"""
import errno
import hashlib
import mmap
import os
import random
import re
import select
import signal
import subprocess
import sys
import time
import traceback

m, store, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
seconds, writers, readers = float(sys.argv[4]), *map(int, sys.argv[5:7])
kills = int(sys.argv[7])
FILES = 8  # of each writer: half are replaced by rename, half written in place
STOP, SERVED, HEAD = 0, 1, 2

# STOP; which mount is served, 0 while none is; then of each cell the number of
# the value that was last acknowledged, and of that last asked for; and of each
# writer the same of its lines in the log.
shared = memoryview(mmap.mmap(
    -1, 8 * (HEAD + 2 * writers * (FILES + 1)))).cast("Q")


def acked(w, k):
    return HEAD + 2 * (w * (FILES + 1) + k)


def asked(w, k):
    return acked(w, k) + 1


def directory(w):
    return "%s/t/writer%d/f" % (m, w)


def value(w, k, g):
    """The value of number g: it tells what it is, and how long."""
    size = [10, 100, 3000, 60000, 200000, 2500000][
        hash((w, k, g)) % (6 if g % 40 == 0 else 4)]
    head = b"%d %d %d %d\n" % (w, k, g, size)
    body = hashlib.sha256(head).digest()
    return head + (body * (size // 32 + 1))[:size]


def number(w, k, data, what):
    """Which value this is; it must be one, and whole."""
    found = re.match(rb"(\d+) (\d+) (\d+) \d+\n", data)
    assert found, (what, len(data), data[:40])
    w2, k2, g = map(int, found.groups())
    assert (w2, k2) == (w, k), (what, w2, k2)
    want = value(w, k, g)
    assert data == want, (what, g, "torn", len(data), len(want))
    return g


def read(path):
    with open(path, "rb", buffering=0) as f:
        return f.read()


def write_all(fd, data):
    at = 0
    while at < len(data):
        at += os.write(fd, memoryview(data)[at:])


def save(path, flags, data, durably):
    fd = os.open(path, flags, 0o644)
    try:
        write_all(fd, data)
        if durably:
            os.fsync(fd)
    finally:
        os.close(fd)  # of which an error is one, too


def write(w, k, rng):
    g = shared[asked(w, k)] + 1
    path = "%s/q%d" % (directory(w), k)
    shared[asked(w, k)] = g
    target = path + ".new" if k % 2 else path
    save(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, value(w, k, g),
         rng.random() < 0.2)
    if k % 2:
        os.rename(target, path)
    shared[acked(w, k)] = g


def append(w):
    n = shared[asked(w, FILES)] + 1
    shared[asked(w, FILES)] = n
    save(m + "/t/all/f/log", os.O_WRONLY | os.O_APPEND,
         b"%d %d\n" % (w, n), False)
    shared[acked(w, FILES)] = n


def check_own(w, k):
    """By its only writer, so nothing changes meanwhile."""
    low, high = shared[acked(w, k)], shared[asked(w, k)]
    path = "%s/q%d" % (directory(w), k)
    try:
        g = number(w, k, read(path), path)
    except FileNotFoundError:
        g = 0
    assert low <= g <= high, (path, "lost", low, g, high)
    return g


def check_versions(w, k):
    versions = "%s/.versions/q%d" % (directory(w), k)
    try:
        names = os.listdir(versions)
    except FileNotFoundError:
        return
    for name in names:
        try:
            number(w, k, read(versions + "/" + name), "version " + name)
        except FileNotFoundError:
            pass  # collected meanwhile


def check_log():
    low = [shared[acked(w, FILES)] for w in range(writers)]
    lines = read(m + "/t/all/f/log").split(b"\n")
    high = [shared[asked(w, FILES)] for w in range(writers)]
    assert lines.pop() == b"", "torn log"
    last = [0] * writers
    for line in lines:
        w, n = map(int, line.split())
        assert n > last[w], ("log", w, n, last[w])
        last[w] = n
    for w in range(writers):
        assert low[w] <= last[w] <= high[w], ("log", w, low[w], last[w])
    # Of each writer some numbers were asked for in vain, by a kill.
    return len(lines)


def settle(w):
    """After a kill: what is there is what was acknowledged from now on."""
    for k in range(FILES):
        g = check_own(w, k)
        shared[acked(w, k)] = g
        check_versions(w, k)


def writer(w, rng):
    op = rng.randrange(100)
    k = rng.randrange(FILES)
    if op < 2:
        append(w)
    elif op < 80:
        write(w, k, rng)
    else:
        check_own(w, k)


def reader(r, rng):
    w, k = rng.randrange(writers), rng.randrange(FILES // 2) * 2 + 1
    op = rng.randrange(100)
    if op < 2:
        check_log()
    elif op < 10:
        check_versions(w, rng.randrange(FILES))
    elif op < 12:
        os.listdir(directory(w))
    else:
        low = shared[acked(w, k)]
        path = "%s/q%d" % (directory(w), k)
        try:
            g = number(w, k, read(path), path)
        except FileNotFoundError:
            g = 0
        assert low <= g <= shared[asked(w, k)], (path, "old", low, g)


def work(act, settle, number):
    rng = random.Random(seed * 1000 + number)
    count = 0
    served = shared[SERVED]
    while True:
        while shared[SERVED] == 0:
            time.sleep(0.001)
        try:
            if shared[SERVED] != served:
                served = shared[SERVED]
                settle()
            if shared[STOP]:
                return count
            act(rng)
            count += 1
        except (OSError, AssertionError):
            # All goes wrong once the daemon is to be killed, but only then.
            if shared[SERVED] == served:
                raise


def child(act, settle, number, out):
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.write(out, b"%d\n" % work(act, settle, number))
        status = 0
    except BaseException:
        traceback.print_exc()
    os._exit(status)


def daemon():
    with open(m + "/.tabletfs/stats") as f:
        return int(re.search(r"^daemon_pid (\d+)", f.read(), re.M).group(1))


def kill_and_mount(mount):
    pid = daemon()
    fd = os.pidfd_open(pid)
    shared[SERVED] = 0
    os.kill(pid, signal.SIGKILL)
    select.select([fd], [], [])
    os.close(fd)
    subprocess.run([os.environ["TABLETFS"], "mount", store, m], check=True)
    shared[SERVED] = mount


def main():
    for row in ["all"] + ["writer%d" % w for w in range(writers)]:
        os.makedirs("%s/t/%s/f" % (m, row))
        open("%s/t/%s/f/log" % (m, row), "w").close()
    shared[SERVED] = 1
    into, out = os.pipe()
    children = [child(lambda rng, w=w: writer(w, rng), lambda w=w: settle(w),
                      w, out) for w in range(writers)]
    children += [child(lambda rng, r=r: reader(r, rng), lambda: None,
                       writers + r, out) for r in range(readers)]
    rng = random.Random(seed)
    begun = time.monotonic()
    for kill in range(kills):
        at = begun + (kill + rng.random()) * seconds / (kills + 1)
        time.sleep(max(0, at - time.monotonic()))
        kill_and_mount(kill + 2)
    time.sleep(max(0, begun + seconds - time.monotonic()))
    shared[STOP] = 1
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in children)
    os.close(out)
    counts = list(map(int, os.fdopen(into).read().split()))
    for w in range(writers):
        settle(w)
    print("%d changes and reads, %d lines in the log, %d kills" %
          (sum(counts), check_log(), kills))
    sys.exit(failed > 0)


main()
