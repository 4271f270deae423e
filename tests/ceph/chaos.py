#!/usr/bin/env python3
"""Owners of one store in a pool, one after the other: each is killed or stopped
while it writes, and the next one, which waits, takes over; OSDs are killed
beside. No row that was acknowledged may be lost, by whom and whenever it was:
what one acknowledged that was deposed already would be.

By the environment: SEED; TAKEOVERS (12); OSD_KILLS (3); CEPH_DIR, the cluster's
directory (tests/ceph/cluster); B, the build. Prints the times of takeovers, of
owners that were killed and of those that were stopped; apart from the others
those beside which an OSD was killed, and those while it comes back and asks the
others for what it missed.
"""
import collections, os, pathlib, random, signal, subprocess, sys, tempfile, time

here = pathlib.Path(__file__).resolve().parent
build = pathlib.Path(os.environ.get("B", "build")).resolve()
cluster_dir = os.environ["CEPH_DIR"]
seed = int(os.environ.get("SEED") or random.randrange(10**9))
takeovers = int(os.environ.get("TAKEOVERS", 12))
osd_kills = int(os.environ.get("OSD_KILLS", 3))
slow = float(os.environ.get("SLOW", 1))
random.seed(seed)
print("SEED=%d" % seed, flush=True)
place = "rados:%s/chaos-%d-%d" % (os.environ.get("TABLETFS_TEST_POOL", "test"),
                            seed, os.getpid())
work = pathlib.Path(tempfile.mkdtemp(prefix="tabletfs-chaos-"))
passed = failed = 0


def check(what, right):
    global passed, failed
    passed += bool(right)
    failed += not right
    if not right:
        print("FAILED:", what, flush=True)


def cluster(*words):
    subprocess.run([here / "cluster", words[0], cluster_dir, *words[1:]],
                   check=True, stdout=subprocess.DEVNULL)


def kill_osd():
    """One of three, when the others have all that it has."""
    cluster("await")
    name = "osd.%d" % random.randrange(3)
    cluster("kill", name)
    return name


def is_back(came):
    """An OSD that came then. What the cluster says may be five seconds old."""
    return time.monotonic() > came + 5 and subprocess.run(
        [here / "cluster", "whole", cluster_dir],
        stdout=subprocess.DEVNULL).returncode == 0


def boot_ms():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000000


class Owner:
    """A process; it writes once it has taken the store."""

    def __init__(self, number):
        self.file = work / ("n%03d" % number)
        self.out = open(str(self.file) + ".out", "w+")
        self.err = open(str(self.file) + ".err", "w+")
        self.process = subprocess.Popen(
            [build / "tests/ceph/owner", place, "n%03d" % number,
             str(self.file)], stdout=self.out, stderr=self.err)
        self.stopped = False

    def acknowledged(self):
        """Its rows, but one that is being written."""
        if not self.file.exists():
            return []
        text = self.file.read_text()
        return text[:text.rfind("\n") + 1].split()

    def seen(self):
        return set(pathlib.Path(str(self.file) + ".seen").read_text().split())

    def has_taken(self):
        return pathlib.Path(str(self.file) + ".seen").exists()

    def await_taken(self, seconds):
        """When, by boot_ms; None: not within its time."""
        end = time.monotonic() + seconds * slow
        while not self.has_taken() and time.monotonic() < end:
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        if not self.has_taken():
            return None
        return int(pathlib.Path(self.out.name).read_text().split()[1])

    def await_rows(self, count, seconds):
        end = time.monotonic() + seconds * slow
        while len(self.acknowledged()) < count and time.monotonic() < end:
            time.sleep(0.01)
        return len(self.acknowledged()) >= count

    def told(self):
        return pathlib.Path(self.err.name).read_text()

    def end(self, by=signal.SIGKILL):
        self.process.send_signal(by)
        self.process.wait()


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def tell(what, times):
    if times:
        print("%s: %d takeovers, median %d ms, p95 %d ms, most %d ms" %
              (what, len(times), percentile(times, 0.5),
               percentile(times, 0.95), max(times)), flush=True)


def run(owners, down):
    times = collections.defaultdict(list)
    coming, came = False, 0
    kill_at = set(random.sample(range(takeovers),
                                min(osd_kills, takeovers)))
    owners.append(Owner(0))
    if not owners[0].await_taken(60):
        check("the first owner takes the store: " + owners[0].told(), False)
        return
    for number in range(1, takeovers + 1):
        owner, following = owners[-1], Owner(number)
        owners.append(following)
        check("owner %d writes: %s" % (number - 1, owner.told()),
              owner.await_rows(3, 60))
        time.sleep(random.uniform(0, 0.5))
        how = random.choice(("killed", "killed", "stopped"))
        if number - 1 in kill_at:
            down.append(kill_osd())
        coming = coming and not is_back(came)
        fault = (", an OSD killed" if down else
                 ", an OSD coming back" if coming else "")
        begun = boot_ms()
        if how == "killed":
            owner.end()
        else:
            owner.process.send_signal(signal.SIGSTOP)
            owner.stopped = True
        taken = following.await_taken(90)
        if taken is None:
            check("owner %d takes over: %s" % (number, following.told()),
                  False)
            return
        times[how + fault].append(taken - begun)
        while down:
            cluster("run", down.pop())
            coming, came = True, time.monotonic()
        if how == "killed":
            lost = set(owner.acknowledged()) - following.seen()
            check("owner %d sees what %d acknowledged: %s" %
                  (number, number - 1, sorted(lost)[:3]), not lost)
        else:
            time.sleep(random.uniform(0, 0.5))
            owner.process.send_signal(signal.SIGCONT)
    for what in sorted(times):
        tell(what, times[what])


def look(owners):
    """The deposed say so and end; and nothing is lost."""
    for owner in owners[:-1]:
        if not owner.stopped:
            continue
        try:
            owner.process.wait(30 * slow)
        except subprocess.TimeoutExpired:
            pass
        check("a deposed owner ends: " + owner.told(),
              owner.process.poll() == 1 and
              "another process has taken the store" in owner.told())
    owners[-1].end()
    final = subprocess.run([build / "tests/ceph/owner", place],
                           stdout=subprocess.PIPE, text=True,
                           timeout=120 * slow)
    check("the store opens", final.returncode == 0)
    rows = set(final.stdout.split())
    all_rows = [r for owner in owners for r in owner.acknowledged()]
    lost = [r for r in all_rows if r not in rows]
    check("%d of %d acknowledged rows are lost, such as %s" %
          (len(lost), len(all_rows), lost[:3]), not lost)
    print("%d rows were acknowledged" % len(all_rows))
    whole = subprocess.run(
        [build / "tabletfs", "-store", place, "check"])
    check("the store is whole", whole.returncode == 0)


owners, down = [], []
try:
    run(owners, down)
    while down:
        cluster("run", down.pop())
    cluster("await")
    look(owners)
finally:
    while down:
        cluster("run", down.pop())
    for owner in owners:
        if owner.process.poll() is None:
            owner.end()
print("%d passed, %d failed, 0 skipped" % (passed, failed))
if failed:
    print("files:", work)
else:
    subprocess.run(["rm", "-rf", str(work)])
sys.exit(failed > 0)
