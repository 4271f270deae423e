"""fsx.py DIR SEED STEPS FILES [SIZE]: random operations on files against bytes.

After the well-known fsx of NeXT: every operation of a file descriptor, with
sizes around the place where a draft leaves memory. What the files hold at the
end is written beside them, in the file DIR/sums.
"""
import hashlib
import mmap
import os
import random
import sys

directory, seed = sys.argv[1], int(sys.argv[2])
steps, count = int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
# One run in ten is about large files: they take most of the time.
LIMIT = rng.choice([5000] * 6 + [30000] * 3 + [3 << 20])
if len(sys.argv) > 5:
    LIMIT = int(sys.argv[5])
log = []


class File:
    def __init__(self, path):
        self.path = path
        self.model = bytearray()
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)

    def write(self, at, n):
        data = bytes([rng.randrange(1, 256)]) * n
        assert os.pwrite(self.fd, data, at) == n
        if len(self.model) < at:
            self.model.extend(bytes(at - len(self.model)))
        self.model[at:at + n] = data

    def read(self, at, n):
        got = os.pread(self.fd, n, at)
        assert got == bytes(self.model[at:at + n]), len(got)

    def truncate(self, at, n):
        size = rng.choice([0, at, len(self.model) // 2])
        os.ftruncate(self.fd, size)
        self.resize(size)

    def truncate_closed(self, at, n):
        os.close(self.fd)
        os.truncate(self.path, at)
        self.resize(at)
        self.fd = os.open(self.path, os.O_RDWR)

    def resize(self, size):
        if size < len(self.model):
            del self.model[size:]
        else:
            self.model.extend(bytes(size - len(self.model)))

    def reopen(self, at, n):
        os.close(self.fd)
        self.compare()
        self.fd = os.open(self.path, os.O_RDWR)

    def compare(self):
        with open(self.path, "rb") as f:
            got = f.read()
        assert got == bytes(self.model), len(got)

    def fsync(self, at, n):
        os.fsync(self.fd)

    def map(self, at, n):
        if not self.model:
            return
        m = mmap.mmap(self.fd, len(self.model))
        at %= len(self.model)
        n = min(n, len(self.model) - at)
        assert m[at:at + n] == bytes(self.model[at:at + n])
        if rng.random() < 0.5:
            m[at:at + n] = b"m" * n
            self.model[at:at + n] = b"m" * n
            if rng.random() < 0.5:
                m.flush()
        m.close()

    def append(self, at, n):
        with open(self.path, "ab") as f:
            f.write(b"appended")
        self.model += b"appended"

    def replace(self, at, n):
        """As careful programs save: a file beside it, renamed over it."""
        os.close(self.fd)
        beside = self.path + ".new"
        with open(beside, "wb") as f:
            f.write(bytes(self.model[:n]))
        os.rename(beside, self.path)
        del self.model[n:]
        self.fd = os.open(self.path, os.O_RDWR)

    def check(self):
        size = os.fstat(self.fd).st_size
        assert size == len(self.model), (size, len(self.model))
        if len(self.model) > 3 * LIMIT:
            os.ftruncate(self.fd, 0)
            self.model.clear()


OPERATIONS = [File.write] * 3 + [File.read] * 3 + [
    File.truncate, File.truncate_closed, File.reopen, File.fsync, File.map,
    File.append, File.replace]
files = [File("%s/file%d" % (directory, i)) for i in range(count)]
for step in range(steps):
    f = rng.choice(files)
    at = rng.randrange(LIMIT)
    n = rng.randrange(1, 1 + LIMIT // rng.choice([1, 10, 100]))
    op = rng.choice(OPERATIONS)
    log.append((os.path.basename(f.path), op.__name__, at, n))
    del log[:-8]
    try:
        op(f, at, n)
        f.check()
    except AssertionError as e:
        sys.exit("step %d of seed %d: %r, after %r" % (step, seed, e, log))
with open(directory + "/sums", "w") as sums:
    for f in files:
        os.close(f.fd)
        f.compare()
        print(hashlib.md5(bytes(f.model)).hexdigest(),
              os.path.basename(f.path), sep="  ", file=sums)
