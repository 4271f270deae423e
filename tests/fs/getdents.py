"""getdents.py DIRECTORY SIZE: names in order, read with buffers of SIZE bytes.

With a third argument REWIND, seeks back to the middle of what it has read every
so often and must read the same names again.
"""
import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
SYS_getdents64 = 217


def read(fd, size):
    buf = ctypes.create_string_buffer(size)
    n = libc.syscall(SYS_getdents64, fd, buf, size)
    if n < 0:
        raise OSError(ctypes.get_errno(), "getdents64")
    at = 0
    while at < n:
        ino, offset, length, kind = struct.unpack_from("<QqHB", buf, at)
        name = buf.raw[at + 19:at + length].split(b"\0", 1)[0]
        yield ino, offset, name
        at += length


def main():
    path, size = sys.argv[1], int(sys.argv[2])
    rewind = len(sys.argv) > 3
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    names, offsets = [], []
    round_ = 0
    while True:
        entries = list(read(fd, size))
        if not entries:
            break
        for ino, offset, name in entries:
            assert ino > 0
            names.append(name)
            offsets.append(offset)
        round_ += 1
        if rewind and round_ % 50 == 0:
            back = len(names) // 3 if round_ % 100 else len(names) - 3
            os.lseek(fd, offsets[back], os.SEEK_SET)
            again = [name for _, _, name in read(fd, size)]
            assert again, "nothing after seekdir"
            want = names[back + 1:back + 1 + len(again)]
            assert again[:len(want)] == want, (again[:3], want[:3])
            os.lseek(fd, offsets[-1], os.SEEK_SET)
    names = [n for n in names if n not in (b".", b"..")]
    assert len(names) == len(set(names)), "a name was listed twice"
    sys.stdout.buffer.write(b"".join(n + b"\n" for n in names))


main()
