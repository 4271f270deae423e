"""
Keys as names, and ranges and filters of cases as steps of .scan, as fs/README.md
and tools/README.md say them.
"""

import re

import oracle

# Names of filters in an expression, of those that take one string or number.
FILTERS = {
    "rowregex": "row_key_regex", "family": "family_name_regex",
    "qual": "column_qualifier_regex", "value": "value_regex",
    "cellsrow": "cells_per_row_limit",
    "cellsrowoffset": "cells_per_row_offset",
    "cellscol": "cells_per_column_limit", "strip": "strip_value",
    "pass": "pass_all", "block": "block_all", "sample": "row_sample",
    "chain": "chain", "interleave": "interleave", "cond": "condition",
}
BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


class Inexpressible(Exception):
    """No path says this; the argument is a key of REASONS in cases.py."""


# What is written %XX, and what makes a '%' an escape; a dot only at the start,
# of rows always, of values where it is all there is.
RAW = rb"[\0-\x1f\x7f/]|^\.%s"
ESCAPE = (rb"%%(?:25)*(?:[01][0-9A-F]|2F|7F|~[0-9a-f]{16}\Z)|"
          rb"^%%(?:25)*(?:~\Z|2E%s)")
DOTS = {"row": b"", "value": rb"(?=\.?\Z)"}


def spell(key, level):
    """The name of a key at a level: row or value."""
    def write(match):
        return b"%25" + match[0][1:] if match[0][:1] == b"%" else \
            b"%%%02X" % match[0][0]

    dots = DOTS[level]
    return re.sub(RAW % dots + b"|" + ESCAPE % dots, write, key) or b"%~"


def unspell(name):
    """The key of a row's name that is not cut."""
    def read(match):
        escape = match[0][1:]
        if escape[:2] == b"25":
            return b"%" + escape[2:]
        return b"" if escape == b"~" else bytes.fromhex(escape.decode())

    return re.sub(ESCAPE % DOTS["row"], read, name)


def is_cut(name):
    return len(name) > 200 and re.search(rb"%~[0-9a-f]{16}$", name)


def flatten(text):
    """A chain as a list of (name, arguments); a filter alone is one of one."""
    name, arguments = oracle.parse_call(text)
    if name != "chain":
        return [(name, arguments)]
    return [part for a in arguments for part in flatten(a)]


def expression(text, clock):
    """A filter as tools/README.md says it."""
    name, arguments = oracle.parse_call(text)

    def string(text):
        return f"x'{oracle.parse_bytes(text).hex()}'"

    def bounds(words):
        return [BOUNDS[w[:2]] + string(w[3:]) for w in words]

    if name == "label":
        return f"apply_label('{arguments[0]}')"
    if name == "ts":
        times = [clock.parse(a) if a else 0 for a in text_times(text)]
        words = map(str, times if times[1] else times[:1])
        return f"timestamp_range({', '.join(words)})"
    if name == "cols":
        family = f"x'{oracle.parse_name(arguments[0]).hex()}'"
        return f"column_range({', '.join([family] + bounds(arguments[1:]))})"
    if name == "vals":
        return f"value_range({', '.join(bounds(arguments))})"
    if name in ("chain", "interleave", "cond"):
        words = ["block_all" if a == "-" else expression(a, clock)
                 for a in arguments]
    else:
        words = [string(a) if name in ("rowregex", "family", "qual", "value")
                 else a for a in arguments]
    return FILTERS[name] + (f"({', '.join(words)})" if "(" in text else "")


def filter_steps(text, clock):
    """The ways to say a filter: as an expression, and perhaps as steps."""
    ways = [[(b"filter", expression(text, clock).encode())]]
    steps = plain_steps(text, clock)
    return ways + ([list(steps.items())] if steps else [])


def plain_steps(text, clock):
    """A filter as steps, None if they cannot say it. Their order is: cells of a
    column and a time, then the newest of these, then those of a value."""
    out = {}
    for name, arguments in flatten(text):
        late = b"versions" in out or b"value" in out
        if name == "family":
            family = oracle.parse_bytes(arguments[0])
            if not re.fullmatch(rb"[-_a-zA-Z0-9]+", family):
                return None
            more = {b"family": family}
        elif name in ("rowregex", "qual", "value"):
            step = {"rowregex": b"regex", "qual": b"column",
                    "value": b"value"}[name]
            more = {step: oracle.parse_bytes(arguments[0])}
        elif name == "ts" and not late and text.count("ts(") == 1:
            more = {step: str(clock.parse(us)).encode() for step, us in
                    zip((b"since", b"until"), text_times(text))
                    if us and (step, us) != (b"until", "0")}
        elif name == "cellscol" and not late:
            more = {b"versions": arguments[0].encode()}
        else:
            return None
        if out.keys() & more.keys():
            return None
        out.update(more)
    if out:
        out.setdefault(b"versions", b"all")
    return out


def text_times(text):
    """The two times of the one ts(FROM,TO); either may be empty."""
    return re.search(r"ts\(([^,]*),([^)]*)\)", text).groups()


def range_steps(key, value):
    if key == "prefix":
        return [(b"prefix", oracle.parse_bytes(value))]
    if key == "keys":
        raise Inexpressible("ranges")
    start = end = b""
    for bound in value.split(","):
        kind, _, text = bound.partition(":")
        at = oracle.parse_bytes(text)
        if at and kind in ("gt", "le"):
            at += b"\0"
        if kind[0] == "g":
            start = at
        else:
            end = at
    if end and start >= end:
        raise Inexpressible("range")
    # Two dots part start and end, so none may be before them.
    if b".." in start or start.endswith(b"."):
        raise Inexpressible("ranges")
    return [(b"range", start + b".." + end)]
