#!/bin/bash
# What a mount has in memory stays within what it was told, whatever is open or
# not whole yet, and is given back.
. "$(dirname "$0")/lib.sh"
export TABLETFS
MOUNT="-o memory=144M" start_mount || exit 1
mkdir -p "$m/t/r/f"
cat >memory.py <<'PYTHON'
import base64, json, os, random, re, resource, subprocess, sys, threading, time
m, daemon, measured = sys.argv[1], sys.argv[2], sys.argv[3] == "yes"
# 144 MiB and 64.
LIMIT, IDLE = 208 << 20, 144 << 20
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
peak, most_of_its_own, ended = 0, 0, threading.Event()

# On a slow machine who sweeps comes late, and pages of files without a name are
# still there, which the kernel takes when it needs them.
kind = "VmRSS" if float(os.environ.get("SLOW", 1)) <= 1 else "RssAnon"

def resident(kind):
    with open(f"/proc/{daemon}/status") as f:
        return int(re.search(kind + r":\s+(\d+)", f.read())[1]) << 10

def rss():
    return resident(kind)

# Its own memory counts at every moment. Pages of files count where they are
# still there after a tenth of a second: other programs may keep who sweeps them
# from a processor for as long.
def watch():
    global peak, most_of_its_own
    last = []
    while not ended.wait(0.01):
        last = (last + [(time.monotonic(), rss())])[-200:]
        most_of_its_own = max(most_of_its_own, resident("RssAnon"))
        tenth = [r for at, r in last if at > last[-1][0] - 0.1]
        if last[0][0] <= last[-1][0] - 0.1:
            peak = max(peak, min(tenth))

def held(account):
    with open(m + "/.tabletfs/stats") as f:
        return int(re.search(rf"memory_{account} (\d+)", f.read())[1])

# What is read ahead passes, a chunk at a time, and is given back behind the
# answer.
def holds_at_most(account, most):
    end = time.time() + 10
    while held(account) > most and time.time() < end:
        time.sleep(0.01)
    assert held(account) <= most, held(account)

def noise(seed, size):
    return random.Random(seed).randbytes(size)

def drafts(count, size_of):
    fds = []
    for i in range(count):
        data = noise(i, 1000) * (size_of(i) // 1000)
        fd = os.open(f"{m}/t/r/f/d{i}", os.O_RDWR | os.O_CREAT |
                     os.O_TRUNC)
        assert os.write(fd, data) == len(data)
        fds.append((fd, data))
    total = sum(len(data) for _, data in fds)
    assert (24 << 20) >= held("drafts") > (16 << 20) or total < 24 << 20, \
        held("drafts")
    # Changed again, beyond the end and in the middle, and cut.
    for i, (fd, data) in enumerate(fds):
        if i % 3 == 1:
            os.pwrite(fd, b"x" * 5000, 30000)
            fds[i] = fd, data[:30000] + b"x" * 5000 + data[35000:]
        elif i % 3 == 2:
            os.ftruncate(fd, 40000)
            os.pwrite(fd, b"y", 50000)
            fds[i] = fd, data[:40000] + bytes(10000) + b"y"
    for i, (fd, data) in enumerate(fds):
        assert os.pread(fd, 2 << 20, 0) == data, i
        os.close(fd)
    for i, (_, data) in enumerate(fds):
        with open(f"{m}/t/r/f/d{i}", "rb") as f:
            assert f.read() == data, i

def text(seed, size):
    return base64.b64encode(noise(seed, size * 3 // 4)).decode()

# A line of 240 MB to .mutate or .import, in pieces, with its newline last.
def line(name, row, size, escapes, as_base64):
    cells = {f"q{i}": text(f"{row}{i}", size) for i in range(240000000 // size)}
    values = {q: {"base64": v} if as_base64 else v + "\n" * escapes
              for q, v in cells.items()}
    data = json.dumps({"row": row, "set": {"f": values}}).encode()
    fd = os.open(f"{m}/t/{name}", os.O_WRONLY)
    for at in range(0, len(data), 1 << 20):
        os.write(fd, data[at:at + (1 << 20)])
    assert held("requests") < 24 << 20, held("requests")
    # A writer that is killed leaves nothing.
    gone = os.open(f"{m}/t/.mutate", os.O_WRONLY)
    os.write(gone, b'{"row":"gone", "set":' + b" " * (1 << 21))
    os.write(fd, b"\n")
    os.close(fd)
    try:
        os.close(gone)
        assert False, "a part of a line was taken"
    except OSError:
        pass
    for q in list(cells)[::len(cells) // 20 + 1]:
        with open(f"{m}/t/{row}/f/{q}", "rb") as f:
            want = cells[q].encode() + b"\n" * escapes
            if as_base64:
                want = base64.b64decode(cells[q])
            assert f.read() == want, q
    assert len(os.listdir(f"{m}/t/{row}/f")) == len(cells)

def lines():
    kinds = [(".mutate", "a", 40000, 1, False),
             (".mutate", "b", 10000000, 1, False),
             (".import/jsonl", "c", 1000000, 0, False),
             (".mutate", "d", 80000000, 0, True)]
    failed = []
    def run(kind):
        try:
            line(*kind)
        except BaseException as e:
            failed.append((kind, repr(e)))
    threads = [threading.Thread(target=run, args=(k,)) for k in kinds]
    for t in threads: t.start()
    for t in threads: t.join()
    assert not failed, failed

def versions():
    data = noise("version", 100 << 20)
    for q, size in ("big", len(data)), ("small", 60000):
        with open(f"{m}/t/r/f/{q}", "wb") as f:
            f.write(data[:size])
    def path(q):
        d = f"{m}/t/r/f/.versions/{q}"
        return d + "/" + os.listdir(d)[0]
    fds = [os.open(path("big"), os.O_RDONLY) for _ in range(100)]
    for i, fd in enumerate(fds):
        at = i << 20
        assert os.pread(fd, 300000, at + 500000) == \
            data[at + 500000:at + 800000]
    holds_at_most("values", 24 << 20)
    more = [os.open(path("small"), os.O_RDONLY) for _ in range(900)]
    for fd in more:
        assert os.read(fd, 100000) == data[:60000]
    holds_at_most("values", 25 << 20)
    for fd in fds + more:
        os.close(fd)

def imports():
    fds = [os.open(f"{m}/t/.import/jsonl", os.O_WRONLY) for _ in range(12)]
    for n in range(4):
        for i, fd in enumerate(fds):
            rows = "".join(json.dumps(
                {"row": f"i{i:02}-{n}-{k:03}", "set": {"f": {"q": text(
                    i, 4000)}}}) + "\n" for k in range(500))
            os.write(fd, rows.encode())
    for fd in fds:
        os.close(fd)
    with open(f"{m}/t/.scan/prefix/i/count") as f:
        assert f.read() == "24000\n"

def scans():
    fds = [os.open(f"{m}/t/.scan/prefix/i/keys", os.O_RDONLY)
           for _ in range(500)]
    first = {os.read(fd, 9) for fd in fds}
    assert first == {b"i00-0-000"}, first
    lists = [os.scandir(f"{m}/t") for _ in range(500)]
    for entries in lists:
        next(entries)
    for fd in fds:
        os.close(fd)
    for entries in lists:
        entries.close()

# A value of 100 MiB as cbt shows it, some 260 MB; and a row as a record, which
# is counted as long as it waits for its end and its reader.
def reads():
    tabletfs = [os.environ["TABLETFS"], "-store", sys.argv[5]]
    with subprocess.Popen(tabletfs + ["read", "t", "key=r", "columns=big"],
                          stdout=subprocess.PIPE) as p:
        size = sum(len(b) for b in iter(lambda: p.stdout.read(1 << 20), b""))
    assert p.returncode == 0 and size > 250 << 20, (p.returncode, size)
    for i in range(30):
        with open(f"{m}/t/wide/f/q{i:02}", "wb") as f:
            f.write(noise(i, 1 << 20))
    with subprocess.Popen(tabletfs + ["export", "t", "key=wide", "layout=wide"],
                          stdout=subprocess.PIPE) as p:
        size = most = 0
        while some := p.stdout.read(1 << 16):
            size += len(some)
            most = max(most, held("values"))
    assert p.returncode == 0 and size > 30 << 20, (p.returncode, size)
    assert most > 30 << 20, most

# Of the daemon's descriptors, which this has as many of, a quarter is a user's.
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 4 - 100
steps = {
    "drafts": lambda: drafts(300, lambda i: 60000 + i * 31337 % 940000),
    "cells": lambda: drafts(min(3000, most), lambda i: 60000),
    "lines": lines, "versions": versions, "imports": imports, "scans": scans,
    "reads": reads,
}
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
try:
    steps[sys.argv[4]]()
finally:
    ended.set()
    watcher.join()
for _ in range(100):
    left = {a: held(a) for a in ("drafts", "requests", "values", "scans",
                                 "imports")}
    if not any(left.values()) and (not measured or rss() < IDLE):
        break
    time.sleep(0.1)
assert not any(left.values()), left
if measured:
    peak = max(peak, most_of_its_own)
    assert peak < LIMIT, f"{peak >> 20} MiB"
    assert rss() < IDLE, f"{rss() >> 20} MiB stay"
print(f"{peak >> 20} MiB, then {rss() >> 20}")
PYTHON
measured=yes
is_sanitized && measured=no

# step WHAT: with all of it within the budget, and given back.
step() {
	check "$1" python3 memory.py "$m" "$daemon" "$measured" "$2" "$store"
}
step "300 cells that are open and not committed" drafts
step "3000 of them" cells
step "lines of 240 MB without a newline, from several writers" lines
step "100 opens of a version of 100 MiB, 900 of a small one" versions
mkdir -p "$m/t/wide/f"
step "a value of 100 MiB and a row as a record are read" reads
step "12 imports at once" imports
step "1000 scans and listings that rest" scans
same "no file is left of what was spilled" "" \
	"$(ls "$store" | grep -i scratch)"
check "the store is whole" stop_mount
check "and so is what it holds" "$TABLETFS" -store "$store" check
