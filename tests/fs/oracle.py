"""
The .case files of tests/cases and of the corpus they are like: operations, each
with the result that it must have. Tokens become bytes and numbers here; what an
operation does is cases.py's.
"""

import hashlib
import re
import time

UNITS = {"us": 1, "ms": 1000, "s": 10**6, "m": 60 * 10**6,
         "h": 3600 * 10**6, "d": 86400 * 10**6}
SHOWN_MAX = 128


class Operation:
    def __init__(self, line, words):
        self.line = line
        self.words = words
        self.block = []  # lines, without the indent
        self.observed = []
        self.conforming = []

    def expected(self):
        return self.conforming or self.observed

    def options(self, first):
        """The words from first on that are KEY=VALUE, in order."""
        return [w.split("=", 1) for w in self.words[first:]]


def load(path):
    """The operations of a file."""
    out = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f.read().split("\n"), 1):
            if line.startswith("  "):
                out[-1].block.append(line[2:])
            elif line[:1] in (">", "="):
                result = line[2:].split(" # ")[0]
                last = out[-1]
                (last.observed if line[0] == ">"
                 else last.conforming).append(result)
            elif line and line[0] != "#" and line != "end":
                out.append(Operation(number, line.split(" ")))
    return out


def parse_bytes(text):
    repeat, digits = re.fullmatch(r"(?:r(\d+))?x([0-9a-f]*)", text).groups()
    return bytes.fromhex(digits) * int(repeat or 1)


def parse_name(text):
    return bytes.fromhex(text[2:]) if text.startswith("0x") else text.encode()


def parse_duration(text):
    count, unit = re.fullmatch(r"(\d+)([a-z]+)", text).groups()
    return int(count) * UNITS[unit]


def split_list(text):
    """The elements of "a,b(c,d),e": commas outside parentheses part them."""
    out, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            out.append(text[begin:i])
            begin = i + 1
    return out + [text[begin:]] if text else []


def parse_call(text):
    """NAME or NAME(A,B): the name and the list of A, B."""
    name, _, rest = text.partition("(")
    return name, split_list(rest[:-1])


def gc_words(text):
    """A policy as cbt writes it."""
    name, arguments = parse_call(text)
    if name in ("and", "or"):
        mark = " && " if name == "and" else " || "
        return "(" + mark.join(map(gc_words, arguments)) + ")"
    kind, _, value = name.partition(":")
    return {"versions": "maxversions=", "age": "maxage="}.get(kind, kind) + value


class Clock:
    """The times of one run of a case: what "now" is, and what to call them."""

    def __init__(self):
        self.base = time.time_ns() // 10**6 * 1000
        self.symbols = {}

    def parse(self, text):
        if not text.startswith("now"):
            return int(text)
        us = self.base
        if len(text) > 3:
            us += parse_duration(text[4:]) * (1 if text[3] == "+" else -1)
        self.symbols.setdefault(us, text)
        return us

    def show(self, us):
        if us in self.symbols:
            return self.symbols[us]
        now = time.time_ns() // 1000
        if self.base <= us <= now + 1000 and us % 1000 == 0:
            return "server"
        return str(us)


def show_bytes(value):
    if len(value) > SHOWN_MAX:
        return f"len{len(value)}:sha256:{hashlib.sha256(value).hexdigest()}"
    return "x" + value.hex()


def show_name(name):
    if re.fullmatch(rb"[-_.a-zA-Z0-9]+", name):
        return name.decode()
    return "0x" + name.hex()


def show_cells(row, clock):
    """A row {family: {qualifier: [(time, value, label)]}} as lines, times
    descending; copies of a version, which have no order, by value and label."""
    out = []
    for family in sorted(row):
        for qualifier in sorted(row[family]):
            versions = row[family][qualifier]
            if versions != sorted(versions, key=lambda v: -v[0]):
                out.append("versions out of order")
            for us, value, label in sorted(
                    versions, key=lambda v: (-v[0], v[1:])):
                out.append(f"c {show_name(family)} {show_bytes(qualifier)} "
                           f"{clock.show(us)} {show_bytes(value)}" +
                           (f" labels={label}" if label else ""))
    return out


def agrees(want, got):
    """Whether a line of a result is as it must be; failed is failed."""
    if want.startswith("err "):
        return got.startswith("err ")
    if want.startswith("e "):
        want, got = want.split(), got.split()
        return want[:2] == got[:2] and (want[2] == "OK") == (got[2] == "OK")
    return want == got
