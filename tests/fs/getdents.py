"""getdents.py DIRECTORY SIZE [SEED]: names in order, by buffers of SIZE bytes.

With a SEED it goes, every so often, to some offset that it was given before, and
must read from there on what it read the first time; then it goes on.
"""
import ctypes
import os
import random
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
SYS_getdents64 = 217
entry = struct.Struct("<QqHB")


def raw(fd, size):
    """The next entries: each name, its number, and the offset after it."""
    buf = ctypes.create_string_buffer(size)
    n = libc.syscall(SYS_getdents64, fd, buf, size)
    if n < 0:
        raise OSError(ctypes.get_errno(), "getdents64")
    data = buf.raw
    at = 0
    entries = []
    while at < n:
        ino, offset, length, kind = entry.unpack_from(data, at)
        name = data[at + 19:data.index(b"\0", at + 19)]
        assert ino > 0, name
        entries.append((name, ino, offset))
        at += length
    return entries


def read(fd, size):
    return [(name, offset) for name, _, offset in raw(fd, size)]


def numbers(fd, size):
    return [(name, ino) for name, ino, _ in raw(fd, size)]


def main():
    path, size = sys.argv[1], int(sys.argv[2])
    rng = random.Random(sys.argv[3]) if len(sys.argv) > 3 else None
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    seen = []

    def visit(back):
        os.lseek(fd, seen[back][1], os.SEEK_SET)
        again = read(fd, size)
        want = seen[back + 1:back + 1 + len(again)]
        assert again[:len(want)] == want, (back, again[:3], want[:3])
        assert again or back == len(seen) - 1, back

    while True:
        entries = read(fd, size)
        if not entries:
            break
        seen += entries
        if rng and rng.random() < 0.1:
            for _ in range(rng.randrange(1, 4)):
                visit(rng.choice([rng.randrange(len(seen)),
                                  len(seen) - rng.randrange(1, 3)]))
            os.lseek(fd, entries[-1][1], os.SEEK_SET)
    if rng:
        for _ in range(100):
            visit(rng.randrange(len(seen)))
        visit(len(seen) - 1)
    names = [name for name, _ in seen if name not in (b".", b"..")]
    assert len(names) == len(set(names)), "a name was listed twice"
    sys.stdout.buffer.write(b"".join(n + b"\n" for n in names))


if __name__ == "__main__":
    main()
