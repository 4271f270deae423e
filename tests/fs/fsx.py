"""fsx.py FILE SEED STEPS: random reads and writes of one file against bytes.

After the well-known fsx of NeXT: every operation of a file descriptor, with
sizes around the place where a draft leaves memory.
"""
import mmap
import os
import random
import sys

path, seed, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
LIMIT = rng.choice([5000, 300000, 3 << 20])
model = bytearray()
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
log = []


def check(step):
    size = os.fstat(fd).st_size
    assert size == len(model), (step, log[-5:], size, len(model))


for step in range(steps):
    op = rng.randrange(11)
    at = rng.randrange(LIMIT)
    n = rng.randrange(1, 1 + LIMIT // rng.choice([1, 10, 100]))
    log.append((op, at, n))
    if op <= 2:
        data = bytes([rng.randrange(1, 256)]) * n
        assert os.pwrite(fd, data, at) == n
        if len(model) < at:
            model.extend(bytes(at - len(model)))
        model[at:at + n] = data
    elif op <= 5:
        got = os.pread(fd, n, at)
        assert got == bytes(model[at:at + n]), (step, log[-5:], len(got))
    elif op == 6:
        size = rng.choice([0, at, len(model) // 2])
        os.ftruncate(fd, size)
        if size < len(model):
            del model[size:]
        else:
            model.extend(bytes(size - len(model)))
    elif op == 7:
        os.close(fd)
        other = bytes(open(path, "rb").read())
        assert other == bytes(model), (step, log[-5:], len(other))
        fd = os.open(path, os.O_RDWR)
    elif op == 8:
        os.fsync(fd)
    elif op == 9 and model:
        m = mmap.mmap(fd, len(model))
        at %= len(model)
        n = min(n, len(model) - at)
        assert m[at:at + n] == bytes(model[at:at + n]), (step, log[-5:])
        if rng.random() < 0.5:
            m[at:at + n] = b"m" * n
            model[at:at + n] = b"m" * n
            if rng.random() < 0.5:
                m.flush()
        m.close()
    elif op == 10:
        with open(path, "ab") as f:
            f.write(b"appended")
        model += b"appended"
    check(step)
    if len(model) > 3 * LIMIT:
        os.ftruncate(fd, 0)
        model.clear()
os.close(fd)
assert open(path, "rb").read() == bytes(model)
