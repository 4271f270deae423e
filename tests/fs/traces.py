"""What files of a store have of given bytes.

    traces.py TABLETFS STORE FILE...

Each FILE is a secret: its bytes are looked for in every file of STORE, as they
stand there, and in each block of an sst unpacked, by where `tabletfs inspect`
says that blocks are; of a long one three pieces are. Prints a line for each
file that has any."""
import os
import re
import struct
import subprocess
import sys

PIECE = 64
BLOCK = re.compile(r"^block .* offset (\d+) size (\d+) raw (\d+)$", re.MULTILINE)


def pieces(secret):
    if len(secret) <= PIECE:
        return [secret]
    middle = len(secret) // 2
    return [secret[:PIECE], secret[middle:middle + PIECE], secret[-PIECE:]]


def unpack(data):
    """An LZ4 block."""
    out, at = bytearray(), 0

    def length(n):
        nonlocal at
        while n >= 15:
            n += data[at]
            at += 1
            if data[at - 1] != 255:
                break
        return n

    while at < len(data):
        token = data[at]
        at += 1
        n = length(token >> 4)
        out += data[at:at + n]
        at += n
        if at >= len(data):
            break
        back = data[at] | data[at + 1] << 8
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    return bytes(out)


def keys(block):
    """The keys of a block, which share their beginnings."""
    try:
        count = struct.unpack("<I", block[-4:])[0] & 0x7fffffff
        end, at, key = len(block) - 4 - 4 * count, 0, b""
        while at < end:
            sizes = []
            for _ in range(3):
                n = shift = 0
                while True:
                    n |= (block[at] & 127) << shift
                    shift += 7
                    at += 1
                    if block[at - 1] < 128:
                        break
                sizes.append(n)
            at += 1
            key = key[:sizes[0]] + block[at:at + sizes[1]]
            at += sizes[1] + sizes[2]
            yield key
    except (IndexError, struct.error):
        return


def contents(program, path):
    with open(path, "rb") as file:
        raw = file.read()
    yield raw
    if not path.endswith(".sst"):
        return
    text = subprocess.run([program, "inspect", path], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    for offset, size, _ in BLOCK.findall(text):
        block = raw[int(offset):int(offset) + int(size)]
        content = block[:-5]
        if block[-5] == 1:
            content = unpack(block[4:-5])
        yield content
        yield from keys(content)


def main():
    program, store = sys.argv[1:3]
    secrets = []
    for name in sys.argv[3:]:
        with open(name, "rb") as file:
            secrets += [(name, piece) for piece in pieces(file.read())]
    for name in sorted(os.listdir(store)):
        path = os.path.join(store, name)
        if not os.path.isfile(path):
            continue
        has = set()
        try:
            for content in contents(program, path):
                has |= {of for of, piece in secrets if piece in content}
        except FileNotFoundError:
            continue
        if has:
            print(name, *sorted(os.path.basename(of) for of in has))


main()
