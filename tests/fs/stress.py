"""stress.py MNT SEED WORKERS STEPS: random operations against a model.

Each worker has names of its own in a family that all share, and checks what it
reads against what it wrote; others change the same directory meanwhile, and one
writes through .mutate and .import, which ends the kernel's caches.
"""
import os
import random
import re
import sys
import time

m, seed = sys.argv[1], int(sys.argv[2])
workers, steps = int(sys.argv[3]), int(sys.argv[4])
d = m + "/t/shared/f"


def worker(number):
    rng = random.Random(seed * 1000 + number)
    names = ["w%d-%d" % (number, i) for i in range(6)]
    model = {}

    def pick(existing):
        have = [n for n in names if (n in model) == existing]
        return rng.choice(have) if have else None

    def data():
        size = rng.choice([0, 1, 10, 1000, 5000, 70000])
        return bytes([rng.randrange(256)]) * size

    for step in range(steps):
        op = rng.randrange(12)
        name = rng.choice(names)
        path = d + "/" + name
        if op <= 2:
            model[name] = data()
            with open(path, "wb") as f:
                f.write(model[name])
        elif op == 3:
            more = data()
            with open(path, "ab") as f:
                f.write(more)
            model[name] = model.get(name, b"") + more
        elif op == 4 and name in model:
            size = rng.randrange(2000)
            os.truncate(path, size)
            model[name] = model[name][:size].ljust(size, b"\0")
        elif op == 5 and name in model:
            os.unlink(path)
            del model[name]
        elif op == 6 and name in model:
            to = rng.choice(names)
            os.rename(path, d + "/" + to)
            model[to] = model[name]
            if to != name:
                del model[name]
        elif op == 7 and name in model:
            with open(path, "r+b") as f:
                at = rng.randrange(100)
                f.seek(at)
                f.write(b"patch")
                old = model[name].ljust(at, b"\0")
                model[name] = old[:at] + b"patch" + old[at + 5:]
                if rng.random() < 0.5:
                    f.flush()
                    assert os.fstat(f.fileno()).st_size == len(model[name])
                if rng.random() < 0.2:
                    os.fsync(f.fileno())
        elif op == 8:
            mine = {n for n in os.listdir(d)
                    if n.startswith("w%d-" % number)}
            assert mine == set(model), (step, mine, set(model))
        elif op == 9:
            for e in os.scandir(d):
                if e.name in model:
                    size = e.stat().st_size
                    assert size == len(model[e.name]), (step, e.name, size)
        elif op == 10:
            row = "%s/t/own%d-%d" % (m, number, rng.randrange(3))
            os.makedirs(row + "/f", exist_ok=True)
            open(row + "/f/q", "w").close()
            os.unlink(row + "/f/q")
            os.rmdir(row + "/f")
            os.rmdir(row)
            assert not os.path.exists(row)
        if name in model:
            assert os.stat(path).st_size == len(model[name]), (step, op)
            with open(path, "rb") as f:
                got = f.read()
            assert got == model[name], (step, op, name, len(got),
                                        len(model[name]))
        else:
            assert not os.path.exists(path), (step, op, name)


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except FileNotFoundError:
        return None


def seen(test):
    """Whether test() holds: at once, or on a kernel without epochs within the
    second for which it may keep what it knew."""
    release = [int(n) for n in re.findall(r"\d+", os.uname().release)[:2]]
    end = time.monotonic() + (0 if release >= [6, 16] else 1.5)
    while not test():
        if time.monotonic() >= end:
            return False
        time.sleep(0.05)
    return True


def outside():
    rng = random.Random(seed)
    for step in range(steps // 2):
        row = "out%d" % rng.randrange(20)
        value = "%d" % step
        line = '{"row":"%s","set":{"f":{"q":"%s"}}}\n' % (row, value)
        control = rng.choice([".mutate", ".import/jsonl"])
        with open("%s/t/%s" % (m, control), "w") as f:
            f.write(line)
        assert seen(lambda: read("%s/t/%s/f/q" % (m, row)) == value), (
            step, control, value)
        if rng.random() < 0.3:
            with open(m + "/t/.mutate", "w") as f:
                f.write('{"row":"%s","delete":true}\n' % row)
            assert seen(lambda: not os.path.exists("%s/t/%s" % (m, row))), step
            assert seen(lambda: row not in os.listdir(m + "/t")), step


def main():
    os.makedirs(d)
    open(d + "/keep", "w").close()
    children = []
    for number in range(workers + 1):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                outside() if number == workers else worker(number)
                status = 0
            except BaseException as e:
                print("worker %d: %r" % (number, e), file=sys.stderr)
                import traceback
                traceback.print_exc()
            os._exit(status)
        children.append(pid)
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in children)
    sys.exit(failed > 0)


main()
