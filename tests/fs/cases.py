"""
Runs .case files through a mount: cases.py MOUNT DIRECTORY...

Everything goes by paths: mkdir and .schema make tables and families, .mutate
takes mutations, .drop drops ranges, .import takes files, and .scan, .row.jsonl
and directories are read. What a path cannot say is no failure but counted by its
reason, each of which is in REASONS: what changes nothing is left out alone, a
change with all that comes after it in the case. Prints failures and counts.
"""

import base64
import collections
import json
import os
import sys
import time

import oracle
from steps import (Inexpressible, expression, filter_steps, is_cut, range_steps,
                   spell, unspell)

REASONS = {
    "ranges": "a union of ranges or a list of keys; each is a scan of its own",
    "range": "a range that is empty by construction; a path finds no rows",
    "name": "a step's value of more than 255 bytes",
    "nothing": "a mutation of nothing, which is no error",
    "headers": "an import of half a header, which the next writer may go on with",
    "all": "a drop of the empty prefix, which its token confirms",
    "add now": "an addition without a time; a path adds to the newest version",
}


def json_key(key):
    """Bytes as a JSON object's key."""
    try:
        text = key.decode()
        if not text.startswith("base64:"):
            return text
    except UnicodeDecodeError:
        pass
    return "base64:" + base64.b64encode(key).decode()


def json_bytes(value):
    return {"base64": base64.b64encode(value).decode()}


def read_value(version):
    if "base64" in version:
        return base64.b64decode(version["base64"])
    return version["value"].encode()


def read_row(line):
    """A line of JSON: the key and {family: {qualifier: [(us, value, label)]}}."""
    body = json.loads(line)
    row = body["row"]
    key = row.encode() if isinstance(row, str) else read_value(row)
    cells = {}
    for family, columns in {**body.get("set", {}),
                            **body.get("merge", {})}.items():
        for name, versions in columns.items():
            qualifier = (base64.b64decode(name[7:])
                         if name.startswith("base64:") else name.encode())
            if not isinstance(versions, list):
                versions = [versions]
            cells.setdefault(family.encode(), {})[qualifier] = [
                (v["timestamp"], read_value(v), v.get("label", ""))
                for v in versions]
    return key, cells


def write(path, data):
    """One open, all bytes, one close, whose error counts."""
    fd = os.open(path, os.O_WRONLY)
    try:
        while data:
            data = data[os.write(fd, data):]
    except OSError:
        os.close(fd)
        raise
    os.close(fd)


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Case:
    def __init__(self, mount, path):
        self.mount = os.fsencode(mount)
        self.clock = oracle.Clock()
        self.operations = oracle.load(path)

    # Paths.

    def table(self, text):
        name = oracle.parse_name(text)
        if not name:
            raise Inexpressible("name")
        return os.path.join(self.mount, spell(name, "row"))

    def family(self, o):
        name = oracle.parse_name(o.words[2])
        if not name:
            raise Inexpressible("name")
        return os.path.join(self.table(o.words[1]), b".schema",
                            spell(name, "row"))

    def row(self, table, key):
        """The row's directory; one with a cut name is looked for."""
        name = spell(key, "row")
        if len(name) <= 255:
            return os.path.join(table, name)
        for name in os.listdir(table):
            path = os.path.join(table, name)
            if is_cut(name) and read_row(
                    read(path + b"/.row.jsonl"))[0] == key:
                return path
        return os.path.join(table, b"no such row")

    # Tables and families.

    def do_table(self, o):
        path = self.table(o.words[1])
        try:
            os.mkdir(path)
        except OSError:
            # The emulator has no limit; Bigtable's is 1,000.
            if len(os.listdir(self.mount)) < 1000:
                raise
            return None
        write(path + b"/.granularity", b"millis\n")
        return ["ok"]

    def do_droptable(self, o):
        path = self.table(o.words[1])
        self.drop(path, b"")
        os.rmdir(path)
        return ["ok"]

    def do_tables(self, _):
        names = sorted(map(unspell, os.listdir(self.mount)))
        return [f"table {oracle.show_name(n)}" for n in names] + ["end"]

    def do_family(self, o):
        path = self.family(o)
        os.mkdir(path)
        try:
            for key, value in o.options(3):
                self.set_rule(path, key, value)
        except OSError:
            os.rmdir(path)
            raise
        return ["ok"]

    def set_rule(self, path, key, value):
        if key == "gc":
            write(path + b"/gc", oracle.gc_words(value).encode())
        else:
            word = {"utf8": "stringutf8bytes"}.get(value, "int" + value)
            write(path + b"/type", word.encode())

    def do_setgc(self, o):
        self.set_rule(self.family(o), *o.options(3)[0])
        return ["ok"]

    do_settype = do_setgc

    def do_dropfamily(self, o):
        """rmdir of a family takes one without cells: they go first."""
        path = self.family(o)
        table, name = self.table(o.words[1]), oracle.parse_name(o.words[2])
        os.stat(path)
        scan = table + b"/.scan/family/" + spell(name, "value") + b"/jsonl"
        for line in read(scan).splitlines():
            row, _ = read_row(line)
            self.mutate(table, row, [{"delete": {name.decode(): True}}])
        os.rmdir(path)
        return ["ok"]

    def do_families(self, o):
        names = os.listdir(self.table(o.words[1]) + b"/.schema")
        return [f"family {oracle.show_name(unspell(n))}"
                for n in sorted(names)] + ["end"]

    def do_wait(self, _):
        return []

    def do_sleep(self, o):
        time.sleep(int(o.words[1]) / 1000)
        return []

    # Changes.

    def version(self, us, value):
        us = self.clock.parse(us)
        return {**value, **({"timestamp": us} if us != -1 else {})}

    def mutation(self, words):
        """A mutation in words as one of "mutations"."""
        kind, rest = words[0], words[1:]
        if kind == "delrow":
            return {"delete": True}
        family = oracle.parse_name(rest[0]).decode()
        if kind == "delfam":
            return {"delete": {family: True}}
        qualifier = oracle.parse_bytes(rest[1])
        if kind == "delcol":
            wanted = {"qualifier": json_bytes(qualifier)}
            for word in rest[2:]:
                key, value = word.split("=")
                if self.clock.parse(value) != 0:
                    wanted[key] = self.clock.parse(value)
            return {"delete": {family: wanted}}
        if kind in ("incr", "append"):
            name = "increment" if kind == "incr" else kind
            value = (int(rest[2]) if kind == "incr"
                     else json_bytes(oracle.parse_bytes(rest[2])))
        elif kind == "add":
            if self.clock.parse(rest[2]) < 0:
                raise Inexpressible("add now")
            name, value = kind, self.version(rest[2], {"value": int(rest[3])})
        else:
            name = kind
            value = self.version(rest[2],
                                 json_bytes(oracle.parse_bytes(rest[3])))
        return {name: {family: {json_key(qualifier): value}}}

    def mutate(self, table, row, mutations, **more):
        line = {"row": json_bytes(row), "mutations": mutations, **more}
        write(table + b"/.mutate", json.dumps(line).encode() + b"\n")

    def do_set(self, o):
        self.mutate(self.table(o.words[1]), oracle.parse_bytes(o.words[2]),
                    [self.mutation(o.words[:1] + o.words[3:])])
        return ["ok"]

    do_add = do_merge = do_delcol = do_delfam = do_delrow = do_set

    def do_mutate(self, o):
        if not o.block:
            raise Inexpressible("nothing")
        self.mutate(self.table(o.words[1]), oracle.parse_bytes(o.words[2]),
                    [self.mutation(line.split(" ")) for line in o.block])
        return ["ok"]

    def do_bulk(self, o):
        out = []
        for i, line in enumerate(o.block):
            row, *words = line.split(" ")
            try:
                self.mutate(self.table(o.words[1]), oracle.parse_bytes(row),
                            [self.mutation(words)])
                out.append(f"e {i} OK")
            except OSError:
                out.append(f"e {i} failed")
        if o.expected() == [f"all {len(out)} OK"] and all(
                line.endswith(" OK") for line in out):
            return o.expected()
        return out

    def rules(self, o, lines):
        """The new version of each column is what was made."""
        table, key = self.table(o.words[1]), oracle.parse_bytes(o.words[2])
        if not lines:
            raise Inexpressible("nothing")
        self.mutate(table, key, [self.mutation(words) for words in lines])
        made = {}
        cells = read_row(read(self.row(table, key) + b"/.row.jsonl"))[1]
        for words in lines:
            family = oracle.parse_name(words[1])
            qualifier = oracle.parse_bytes(words[2])
            made.setdefault(family, {})[qualifier] = \
                cells[family][qualifier][:1]
        return oracle.show_cells(made, self.clock) + ["ok"]

    def do_incr(self, o):
        return self.rules(o, [o.words[:1] + o.words[3:]])

    do_append = do_incr

    def do_rmw(self, o):
        return self.rules(o, [line.split(" ") for line in o.block])

    def do_check(self, o):
        """What does not hold is an error if there is no "else". With one, the
        reads that follow tell which was done."""
        table = self.table(o.words[1])
        filters = dict(o.options(3))
        branches = {"true": [], "false": []}
        for line in o.block:
            branch, *words = line.split(" ")
            branches[branch].append(self.mutation(words))
        if not o.block:
            raise Inexpressible("nothing")
        os.stat(table)
        more = {"if": {"present": True}}
        if "filter" in filters:
            more["if"] = {"filter": expression(filters["filter"], self.clock)}
        if branches["false"]:
            more["else"] = {"mutations": branches["false"]}
        try:
            self.mutate(table, oracle.parse_bytes(o.words[2]),
                        branches["true"], **more)
        except OSError:
            # What was wrong: the line, or only that the condition does not hold?
            if branches["false"] or not self.last_error().endswith(
                    "the condition does not hold"):
                raise
            return ["matched 0"]
        return None if branches["false"] else ["matched 1"]

    def last_error(self):
        return read(self.mount + b"/.tabletfs/errors").decode(
            errors="replace").rstrip("\n")

    def drop(self, table, prefix):
        path = table + b"/.drop/prefix/" + spell(prefix, "value")
        preview = read(path + b"/preview").split()
        write(path + b"/apply", preview[preview.index(b"token") + 1])

    def do_dropprefix(self, o):
        prefix = oracle.parse_bytes(o.words[2])
        if not prefix:
            raise Inexpressible("all")
        self.drop(self.table(o.words[1]), prefix)
        return ["ok"]

    def do_dropall(self, o):
        self.drop(self.table(o.words[1]), b"")
        return ["ok"]

    def do_import(self, o):
        options = dict(o.options(2))
        path = self.table(o.words[1]) + b"/.import/"
        steps = b""
        if "family" in options:
            steps += b"family/" + options["family"].encode() + b"/"
        if options.get("ts") == "value":
            steps += b"timestamp/value-encoded/"
        data = oracle.parse_bytes(options["csv"])
        if data.count(b"\n") < (1 if "family" in options else 2):
            raise Inexpressible("headers")
        wrong = None
        try:
            write(path + steps + b"csv", data)
        except OSError as e:
            wrong = e
        # Where lines are refused, the rest is taken; cbt may stop there.
        told = dict(line.split(b" ", 1)
                    for line in read(path + b"last").splitlines()[:9])
        if wrong and (b"error" in told or told[b"refused"] == b"0" or
                      o.expected()[0].startswith("err ")):
            raise wrong
        return [f"imported {told[b'rows'].decode()}"]

    # Reads.

    def scan(self, o, first, terminal, steps=()):
        """The texts of a terminal: with a filter as an expression and, if there
        are such, with the steps that say the same."""
        steps = list(steps)
        filters = []
        for key, value in o.options(first):
            if key == "limit":
                if int(value) > 0:
                    steps.append((b"limit", value.encode()))
            elif key == "reversed":
                if value == "1":
                    steps.append((b"reverse", None))
            elif key == "filter":
                filters = filter_steps(value, self.clock)
            else:
                if any(step in (b"prefix", b"range") for step, _ in steps):
                    raise Inexpressible("ranges")
                steps += range_steps(key, value)
        return [read(self.path(o, steps + f) + b"/" + terminal)
                for f in filters or [[(b"versions", b"all")]]]

    def path(self, o, steps):
        path = self.table(o.words[1]) + b"/.scan"
        for step, value in steps:
            path += b"/" + step
            if value is not None:
                name = spell(value, "value")
                if len(name) > 255:
                    raise Inexpressible("name")
                path += b"/" + name
        return path

    def rows(self, o, first, steps=()):
        """Rows by each way to ask for them."""
        return [[read_row(line) for line in text.splitlines()]
                for text in self.scan(o, first, b"jsonl", steps)]

    def show(self, rows):
        out = []
        for key, cells in rows:
            out.append("row " + oracle.show_bytes(key))
            out += oracle.show_cells(cells, self.clock)
        return out

    def do_scan(self, o):
        return self.one([self.show(rows) + [f"end {len(rows)}"]
                         for rows in self.rows(o, 2)])

    @staticmethod
    def one(results):
        """The result, or all of them if they differ."""
        return results[0] if all(r == results[0] for r in results) else results

    def do_keys(self, o):
        """A directory's listing where that can say it, else .scan's keys."""
        if len(o.words) == 2:
            lists = [os.listdir(self.table(o.words[1]))]
        else:
            lists = [text.split(b"\n")[:-1]
                     for text in self.scan(o, 2, b"keys")]
        if any(map(is_cut, lists[0])):
            lists = [[key for key, _ in rows] for rows in self.rows(o, 2)]
        else:
            lists = [list(map(unspell, names)) for names in lists]
        return self.one([[f"row {oracle.show_bytes(k)}" for k in keys] +
                         [f"end {len(keys)}"] for keys in lists])

    def do_hash(self, o):
        lines = self.show(self.rows(o, 2)[0])
        rows = sum(line.startswith("row ") for line in lines)
        text = "\n".join("> " + line for line in lines)
        digest = oracle.hashlib.sha256(text.encode()).hexdigest()
        return [f"rows {rows} cells {len(lines) - rows} sha256 {digest}"]

    def do_count(self, o):
        return self.one([["n " + text.decode().strip()]
                         for text in self.scan(o, 2, b"count")])

    def do_lookup(self, o):
        table, key = self.table(o.words[1]), oracle.parse_bytes(o.words[2])
        if len(o.words) > 3:
            ways = self.rows(o, 3, [(b"prefix", key)])
            ways = [[r for r in rows if r[0] == key] for rows in ways]
        else:
            os.stat(table)
            try:
                ways = [[read_row(read(self.row(table, key) +
                                       b"/.row.jsonl"))]]
            except FileNotFoundError:
                ways = [[]]
        return self.one([self.show(rows) + [f"end {len(rows)}"]
                         for rows in ways])

    def clean(self):
        """As a new instance again."""
        for name in os.listdir(self.mount):
            path = os.path.join(self.mount, name)
            self.drop(path, b"")
            os.rmdir(path)


READS = {"tables", "families", "scan", "keys", "hash", "count", "lookup"}


def run_operation(case, o):
    try:
        return getattr(case, "do_" + o.words[0])(o)
    except OSError as e:
        return [f"err {e.strerror}"]


def is_right(o, got):
    want = o.expected()
    return got is None or (len(want) == len(got) and
                           all(map(oracle.agrees, want, got)))


def run_case(case, name, counts, places):
    """Which of the counts of cases it is."""
    kind = "whole"
    for i, o in enumerate(case.operations):
        try:
            got = run_operation(case, o)
        except Inexpressible as e:
            places[e.args[0]].append(f"{name}:{o.line}")
            kind = "in part"
            if o.words[0] in READS or o.expected()[0].startswith("err "):
                continue
            rest = len(case.operations) - i - 1
            places[e.args[0]].append(f"and {rest} after it")
            counts["left out"] += rest
            return kind
        if not is_right(o, got):
            print(f"{name}:{o.line}: {' '.join(o.words)[:80]}: expected "
                  f"{o.expected()}, got {got}"[:2000])
            return "failed"
        counts["compared"] += 1
    return kind


def main(mount, *directories):
    counts = collections.Counter()
    places = collections.defaultdict(list)
    for directory in directories:
        for name in sorted(os.listdir(directory)):
            if name.endswith(".case"):
                case = Case(mount, os.path.join(directory, name))
                counts[run_case(case, name, counts, places)] += 1
                case.clean()
    for reason, where in sorted(places.items()):
        print(f"left out: {REASONS[reason]}:", *where)
        counts["left out"] += sum(":" in place for place in where)
    print(f"cases: {counts['whole']} whole, {counts['in part']} in part, "
          f"{counts['failed']} failed; operations: {counts['compared']} "
          f"compared, {counts['left out']} left out")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
