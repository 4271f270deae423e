"""The workloads of soak.h through a mount; see mount.sh, which starts it."""
import json
import os
import random
import shutil
import subprocess
import sys
import time

STORE, MOUNT, PID, TABLETFS, BOUNDS = sys.argv[1:6]
SECONDS, SEED, ONLY = float(sys.argv[6]), int(sys.argv[7]), sys.argv[8:]
CELL = 40
MEMORY = 16 << 20
# Memtables, their logs, files under way.
SLACK = 24 << 20
FIGURES = "space quiet files memory handles commit probe tombs".split()
ROWS = 200
AGE = 1.0
# As soak.c's: without a write for some seconds, all that is dead is looked for.
QUIET_S = 16
rng = random.Random(SEED)


class Soak:
    """What is live, by path, and the worst of each figure."""

    def __init__(self, name):
        self.name, self.live, self.written, self.turn = name, {}, 0, 0
        self.figures = dict.fromkeys(FIGURES, 0)
        self.commits, self.strays = [], {}
        self.head = self.tail = self.phase = 0
        self.beside = None
        self.memory = resident()
        self.made = f"{MOUNT}/{name}"
        self.probe = None

    def path(self, row, table=None, family="f"):
        return f"{table or self.made}/r{row:06d}/{family}/v"

    def write(self, path, value):
        began = time.monotonic()
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(fd, value)
        os.close(fd)
        self.commits.append(time.monotonic() - began)
        self.put(path, len(value))
        self.probe = path

    def put(self, path, size):
        self.live[path] = (size + CELL, time.monotonic())
        self.written += size + CELL

    def gone(self, under):
        for path in [p for p in self.live if p.startswith(under + "/")]:
            del self.live[path]

    def bytes_live(self):
        return sum(size for size, _ in self.live.values())

    def note(self, figure, value):
        self.figures[figure] = max(self.figures[figure], int(value))

    def excess(self, tenths):
        size = sum(s for _, s in files())
        may = self.bytes_live() * tenths // 10 + base + SLACK
        return max(0, (size - may) * 100 // (self.written + 1))

    def look(self):
        now, known = time.monotonic(), names()
        self.note("space", self.excess(20))
        seen = [n for n, _ in files()
                if n not in known and not n.endswith(".spare")]
        self.strays = {n: self.strays.get(n, now) for n in seen}
        for since in self.strays.values():
            self.note("files", (now - since) * 1000)
        self.note("memory", (resident() - self.memory - MEMORY) / 1024)
        self.note("handles", len(os.listdir(f"/proc/{PID}/fd")) -
                  len(known))
        began = time.monotonic()
        if self.probe and os.path.exists(self.probe):
            with open(self.probe, "rb") as f:
                f.read()
        table = os.path.dirname(os.path.dirname(
            os.path.dirname(self.probe))) if self.probe else self.made
        if os.path.isdir(table):
            with os.scandir(table) as rows:
                next(rows, None)
        self.note("probe", (time.monotonic() - began) * 1e6)


def files():
    found = []
    for entry in os.scandir(STORE):
        try:
            found.append((entry.name, entry.stat().st_size))
        except FileNotFoundError:
            pass
    return found


def names():
    """Files that the daemon has open, which are those of the store, and those
    that it opens when it needs them; besides, there is held room."""
    known = {"lock", "root", "tabletfs", "LOG", "LOG.1"}
    for fd in os.listdir(f"/proc/{PID}/fd"):
        try:
            known.add(os.path.basename(os.readlink(f"/proc/{PID}/fd/{fd}")))
        except FileNotFoundError:
            pass
    return known


def resident():
    with open(f"/proc/{PID}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def verb(*words):
    subprocess.run([TABLETFS, *words], check=True, stdout=subprocess.DEVNULL)


def value(size):
    return rng.randbytes(rng.randrange(size // 2, size))


def gc(s, text, family="f"):
    with open(f"{s.made}/.schema/{family}/gc", "w") as f:
        f.write(text + "\n")


def start(s, policy="maxversions=1"):
    os.makedirs(f"{s.made}/.schema/f")
    gc(s, policy)


def uniform(s):
    s.write(s.path(rng.randrange(ROWS)), value(8192))


def zipf(s):
    s.write(s.path(int(ROWS ** rng.random()) - 1), value(8192))


def queue(s):
    s.write(s.path(s.tail), value(4096))
    s.tail += 1
    if s.tail - s.head > 50:
        row = f"{s.made}/r{s.head:06d}"
        shutil.rmtree(row)
        s.gone(row)
        s.head += 1


def counters_start(s):
    start(s)
    os.makedirs(f"{s.made}/.schema/sum")
    with open(f"{s.made}/.schema/sum/type", "w") as f:
        f.write("intsum\n")
    for row in range(5):
        os.makedirs(f"{s.made}/r{row:06d}/sum")


def counters(s):
    s.write(s.path(rng.randrange(5), family="sum"), b"1\n")


def series_start(s):
    start(s, f"maxage={int(AGE)}s")


def series(s):
    s.write(s.path(s.tail), value(4096))
    s.tail += 1
    old = time.monotonic() - AGE
    s.live = {p: v for p, v in s.live.items() if v[1] > old}


def refill(s):
    if s.tail < 100:
        s.write(s.path(s.tail), value(4096))
        s.tail += 1
        return
    if rng.randrange(2):
        verb("deleteallrows", s.name)
    else:
        for row in os.listdir(s.made):
            shutil.rmtree(f"{s.made}/{row}")
    s.gone(s.made)
    s.tail = 0


def no_start(s):
    pass


def tables(s):
    name = f"{s.name}{s.phase}"
    table = f"{MOUNT}/{name}"
    if s.tail == 0:
        if os.path.isdir(table):
            verb("deletetable", name)
            s.gone(table)
        os.makedirs(f"{table}/.schema/f")
    s.write(s.path(s.tail, table), value(4096))
    s.tail = (s.tail + 1) % 30
    if s.tail == 0:
        s.phase = (s.phase + 1) % 3


def large(s):
    s.write(s.path(rng.randrange(8)), value(400000))


def imports(s):
    lines = []
    for row in range(200):
        text = rng.randbytes(2000).hex()
        lines.append(json.dumps({"row": f"r{row:06d}",
                                 "set": {"f": {"v": text}}}))
        s.put(s.path(row), len(text))
    with open(f"{s.made}/.import/jsonl", "w") as f:
        f.write("\n".join(lines) + "\n")


def scan(s):
    uniform(s)
    if not s.beside:
        s.beside = open(f"{s.made}/.scan/jsonl", "rb", buffering=0)
    if not s.beside.read(4096):
        s.beside.close()
        s.beside = None


def schema(s):
    uniform(s)
    if s.turn % 40 == 10:
        os.mkdir(f"{s.made}/.schema/g")
        for row in range(10):
            s.write(s.path(row, family="g"), value(4096))
    elif s.turn % 40 == 20:
        gc(s, f"maxversions={rng.randrange(1, 3)}")
    elif s.turn % 40 == 30:
        verb("deletefamily", s.name, "g")
        s.live = {p: v for p, v in s.live.items() if "/g/" not in p}


WORKLOADS = {
    "uniform": (start, uniform), "zipf": (start, zipf),
    "queue": (start, queue), "counters": (counters_start, counters),
    "series": (series_start, series), "refill": (start, refill),
    "tables": (no_start, tables), "large": (start, large),
    "imports": (start, imports), "scan": (start, scan),
    "schema": (start, schema),
}


def bounds():
    found = {}
    with open(BOUNDS) as f:
        for line in f:
            words = line.split()
            if words and words[0] == "mount":
                found[words[1]] = words[2:]

    def bound(name, i):
        own = found.get(name, "-" * len(FIGURES))[i]
        limit = int(found["*"][i] if own == "-" else own)
        if FIGURES[i] in ("files", "commit", "probe"):
            limit *= int(os.environ.get("SLOW", "1"))
        # Sanitizers take time and memory of their own.
        if not os.environ.get("SAN") or FIGURES[i] in ("space", "quiet"):
            return limit
        return 1 << 40 if FIGURES[i] == "memory" else limit * 20
    return bound


def compare(s):
    """What is live can be read and has its size; a counter its sum."""
    for path, (size, _) in s.live.items():
        if s.name == "series":
            continue
        found = os.stat(path).st_size
        assert s.name in ("counters", "imports") or found == size - CELL, path
    if s.name == "counters":
        total = 0
        for path in s.live:
            with open(path) as f:
                total += int(f.read())
        assert total == s.turn, (total, s.turn)


def run(name, bound):
    s = Soak(name)
    begin, turn = WORKLOADS[name]
    begin(s)
    end = time.monotonic() + SECONDS
    looked = 0
    while time.monotonic() < end:
        turn(s)
        s.turn += 1
        if time.monotonic() - looked > min(SECONDS / 5, 1):
            s.look()
            looked = time.monotonic()
    if s.beside:
        s.beside.close()
    compare(s)
    if name == "series":
        s.live = {}
        time.sleep(AGE)
    time.sleep(min(SECONDS / 5, 5))
    s.look()
    end = time.monotonic() + QUIET_S
    while s.excess(16) > bound(name, FIGURES.index("quiet")) and \
            time.monotonic() < end:
        time.sleep(0.1)
    s.figures["quiet"] = s.excess(16)
    s.commits.sort()
    s.figures["commit"] = int(s.commits[-1] * 1000) if s.commits else 0
    late = s.commits[-1 - len(s.commits) // 10000] if s.commits else 0
    print(f"mount  {name:9} {s.turn:7} turns, {s.bytes_live() >> 10:6} of "
          f"{s.written >> 10:7} KiB live:", end="")
    failed = 0
    for i, figure in enumerate(FIGURES):
        print(f" {figure} {s.figures[figure]}", end="")
        if s.figures[figure] > bound(name, i):
            print(f" (> {bound(name, i)}!)", end="")
            failed += 1
    print(f" p99.99 {int(late * 1e6)}", flush=True)
    return failed


failures = count = base = 0
limit = bounds()
for workload in WORKLOADS:
    if not ONLY or workload in ONLY:
        # What workloads before have left is theirs.
        base = sum(size for _, size in files())
        failures += run(workload, limit)
        count += len(FIGURES)
print(f"{count - failures} passed, {failures} failed, 0 skipped")
sys.exit(failures > 0)
