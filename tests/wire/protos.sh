#!/bin/bash
# The table of protocol buffers beside Google's own, which a package of its client
# for Node has: each number, name, kind, and what is repeated or in a oneof. Of
# that package nothing is kept here; without npm, or the network, or the package
# in build/npm, this is skipped.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
. "$top/tests/npm.sh"
package=@google-cloud/bigtable-api@0.3.0
program=$top/${B:-build}/tests/wire/table

[ -x "$program" ] || skip_all "$program is not built"
npm_package "$package" || skip_all "npm does not get $package"
protos=$modules/@google-cloud/bigtable-api/build/protos/protos.json

# compare TABLE: a line for each difference.
compare() {
	python3 - "$protos" "$1" <<'PYTHON'
import json
import re
import sys

root = json.load(open(sys.argv[1]))
SCALARS = ("bool", "int32", "int64", "double", "string", "bytes")


def find(path):
    node = root
    for part in path.split("."):
        node = node.get("nested", {}).get(part)
        if node is None:
            return None
    return node


def resolve(name, scope):
    """The full name of what a field calls name, and what that is."""
    parts = scope.split(".")
    while True:
        path = ".".join(parts + [name])
        node = find(path)
        if node is not None:
            return path, node
        if not parts:
            return name, None
        parts.pop()


def camel(name):
    return re.sub("_([a-z0-9])", lambda m: m.group(1).upper(), name)


def fields(message):
    """Of Google's message: number -> (name, repeated, in a oneof, kind, full
    name of the message)."""
    node = find(message)
    if node is None:
        return None
    members = {m for o in node.get("oneofs", {}).values() for m in o["oneof"]
               if not o["oneof"][0] in node["fields"] or
               not node["fields"][m].get("options", {}).get(
                   "proto3_optional")}
    found = {}
    for name, f in node.get("fields", {}).items():
        kind, full = f["type"], ""
        if kind not in SCALARS:
            full, target = resolve(kind, message)
            kind = "int32" if target and "values" in target else "message"
        repeated = f.get("rule") == "repeated"
        if "keyType" in f:
            repeated, full, kind = True, "map " + (full or kind), "message"
        found[f["id"]] = (name, repeated, name in members, kind, full)
    return found


def differs(line, wanted):
    words = line.split(" ")
    number, name = int(words[1]), words[2]
    repeated, oneof = "repeated" in words[3:5], "oneof" in words[3:5]
    rest = words[3 + repeated + oneof:]
    kind, full = rest[0], " ".join(rest[1:])
    if number not in wanted:
        return "has no field %d" % number
    w = wanted[number]
    if camel(name.rstrip("_")) != camel(w[0]):
        return "field %d is %s, not %s" % (number, w[0], name)
    if (repeated, oneof, kind) != w[1:4]:
        return "field %d is %s" % (number, w[1:])
    # Of what stands for any message only its presence is asked for.
    if full and full not in ("google.protobuf.Empty", w[4]):
        return "field %d is of %s" % (number, w[4])
    return None


message, wanted, count = None, None, 0
for line in open(sys.argv[2]):
    line = line.rstrip("\n").rstrip(" ")
    if line.startswith("message "):
        message = line[8:]
        wanted = fields(message)
        if message.startswith("map "):
            value = message[4:]
            scalar = value in SCALARS
            wanted = {1: ("key", False, False, "string", ""),
                      2: ("value", False, False,
                          value if scalar else "message",
                          "" if scalar else value)}
        if wanted is None:
            print("there is no message " + message)
            wanted = {}
        continue
    count += 1
    why = differs(line, wanted)
    if why:
        print("%s %s: %s" % (message, line, why))
if count < 200:
    print("only %d fields" % count)
PYTHON
}

check "the table is printed" "$program" >table
same "differences" "" "$(compare table)"

# The comparison finds what is wrong.
sed 's/^field 4 rows_limit/field 12 rows_limit/' table >wrong
same "a wrong number" 1 "$(compare wrong | wc -l)"
sed 's/ rows_limit int64/ rows_limit int32/' table >wrong
same "a wrong kind" 1 "$(compare wrong | wc -l)"
sed 's/ row_keys repeated/ row_keys/' table >wrong
same "one of many" 1 "$(compare wrong | wc -l)"
sed 's/ sink oneof/ sink/' table >wrong
same "out of its oneof" 1 "$(compare wrong | wc -l)"
