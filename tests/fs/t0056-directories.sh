#!/bin/bash
# What a directory costs and tells: inode numbers, links, lists that begin at
# once and grow nothing, and lists of what changes meanwhile.
STALE=100
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" || exit 1

# figure NAME: of the mount; operations OPERATION: how many requests of a kind.
figure() {
	sed -n "s/^tabletfs_$1 //p" "$m/.tabletfs/metrics"
}
operations() {
	figure "request_duration_seconds_count{operation=\"$1\"}" | grep . ||
		echo 0
}

# inodes: every object of $m that stands for data, and its number.
inodes() {
	(cd "$m" && stat -c '%i %h %n' . u u/r u/r/f u/r/f/* u/r/f/.versions \
		u/r/f/.versions/* u/r/f/.versions/*/*)
}
mkdir -p "$m/u/r/f" "$m/u/s/f"
echo 1 >"$m/u/s/f/q"
for q in a b %25~; do echo 1 >"$m/u/r/f/$q"; echo 2 >"$m/u/r/f/$q"; done
before=$(inodes)
same "no two share a number" "" "$(echo "$before" | cut -d ' ' -f 1 | sort |
	uniq -d)"
remount
same "the numbers after a remount" "$before" "$(inodes)"
stop_mount
mv "$store" "$store.moved" && mkdir "$store" && cp -r "$store.moved/." "$store"
start_mount
same "and of a copy of the store" "$before" "$(inodes)"
check "d_ino is st_ino, and d_type the type" python3 - "$m" <<'PYTHON'
import os, stat, sys
m = sys.argv[1]
for d in ["", "/u", "/u/r", "/u/r/f", "/u/r/f/.versions",
          "/u/r/f/.versions/a", "/u/.scan", "/u/.scan/rows", "/.tabletfs",
          "/u/.schema", "/u/.schema/f", "/u/.at/now", "/u/.at/now/r/f"]:
    names = 0
    for e in os.scandir(m + d):
        s = os.lstat(e.path)
        assert e.inode() == s.st_ino, e.path
        assert e.is_dir(follow_symlinks=False) == stat.S_ISDIR(s.st_mode)
        assert e.is_symlink() == stat.S_ISLNK(s.st_mode)
        assert s.st_nlink == 1, e.path
        names += 1
    assert names, d
PYTHON
old=$(stat -c %i "$m/u/r/f/a")
rm "$m/u/r/f/a" && echo 3 >"$m/u/r/f/a"
same "a path keeps its number" "$old" "$(stat -c %i "$m/u/r/f/a")"

# Control names: only where they are asked for, each where it belongs.
names() {
	(cd "$m" && for d in . u u/r u/r/f; do ls -AU "$d" | xargs; done)
}
same "directories of data list data" "t u
r s
f
%25~ a b" "$(names)"
remount -o showctl
same "with showctl control names come first" ".tabletfs t u
.at .as-of .drop .schema .granularity .import .mutate .recipes .scan .stats .advice \
.keyviz r s
.row.jsonl f
.versions %25~ a b" "$(names)"
same "and types are those of stat" "" "$(python3 - "$m" <<'PYTHON'
import os, sys
for place in "", "/u", "/u/r", "/u/r/f":
    for e in os.scandir(sys.argv[1] + place):
        if e.is_dir(follow_symlinks=False) != os.path.isdir(e.path):
            print(e.path)
PYTHON
)"
remount
for d in "" /u/.schema/f /u/.import /u/.drop /u/.at; do
	check "inside, all is listed: $d" \
		[ -n "$(ls "$m${d:-/.tabletfs}")" ]
done

# Rows without a cell, of which a list has a piece at a time, and what becomes
# of them meanwhile: none that stays is left out, wherever the reader goes, and
# none comes twice to who reads straight on.
mkdir "$m/v" "$m/v/.schema/f"
check "rows in memory, changed while they are listed" python3 - "$m/v" <<'PYTHON'
import ctypes, os, sys
d, c = sys.argv[1], ctypes.CDLL(None, use_errno=True)
class Dirent(ctypes.Structure):
    _fields_ = [("rest", ctypes.c_byte * 19), ("name", ctypes.c_char * 256)]
c.opendir.restype, c.readdir.restype = ctypes.c_void_p, ctypes.POINTER(Dirent)
c.telldir.restype = ctypes.c_long
def read(at):
    e = c.readdir(at)
    return e.contents.name.decode() if e else None
row = lambda i: "m%04d-" % i + "n" * 200
made = [row(i) for i in range(4000)]
for n in made[::2] + made[1::2]:
    os.mkdir(d + "/" + n)
at = ctypes.c_void_p(c.opendir(d.encode()))
seen, places = [], {}
while (n := read(at)):
    seen.append(n)
    places[n] = c.telldir(at)
    if n in made and made.index(n) % 500 == 3:
        i = made.index(n)
        # Behind the reader and before it, in this piece and in later ones.
        for k in [i - 1] + [x for x in (i + 300, i + 1500) if x < 4000]:
            os.makedirs(d + "/" + row(k) + "/f", exist_ok=True)
            open(d + "/" + row(k) + "/f/q", "w").close()
        os.mkdir(d + "/a%04d" % i)
        if i + 400 < 4000:
            os.rmdir(d + "/" + made[i + 400])
            made[i + 400] = ""
real = [n for n in made if n]
assert seen == sorted(seen)
assert len(set(seen)) == len(seen), len(seen)
assert set(real) <= set(seen), sorted(set(real) - set(seen))[:5]
for n in real[::-501] + real[7::666]:
    c.seekdir(at, ctypes.c_long(places[n]))
    rest = []
    while (x := read(at)):
        rest.append(x)
    want = set(real[real.index(n) + 1:])
    assert want <= set(rest), (n, len(want - set(rest)))
c.closedir(at)
assert sorted(real) == sorted(x for x in os.listdir(d) if x[0] == "m")
PYTHON
# Who removes cells alone leaves directories, as many as there may be; beside
# them rm -r finds what it empties, and mkdir has its own share.
seq -f '{"row":"k%05g","set":{"f":{"q":"x"}}}' 12000 >"$m/v/.import/jsonl"
check "cells alone are removed" python3 - "$m/v" <<'PYTHON'
import os, sys
for i in range(12000):
    os.unlink("%s/k%05d/f/q" % (sys.argv[1], i + 1))
PYTHON
size=$(sed -n 's/^empty_directory_bytes //p' "$m/.tabletfs/stats")
check "directories stay: $size" [ $((size >> 20)) -ge 4 -a $((size >> 20)) -le 6 ]
mkdir -p "$m/v/a/f" "$m/v/b/f" && echo 1 >"$m/v/a/f/q" && echo 2 >"$m/v/b/f/q"
check "rm -r" rm -r "$m/v/a" "$m/v/b"
check "mkdir" mkdir "$m/v/new"
"$TABLETFS" -store "$store" deletetable v
remount

# A list of many rows.
python3 -c 'import random
random.seed(1)
for i in range(60000):
    print("{\"row\":\"row%05d-%064x\",\"set\":{\"f\":{\"q\":\"\"}}}"
          % (i, random.getrandbits(256)))' >rows.jsonl
check "import" cp rows.jsonl "$m/t/.import/jsonl"
"$TABLETFS" -store "$store" compact
remount -o memory=16M
# bytes_read: by the daemon, from files.
bytes_read() {
	sed -n 's/^rchar: //p' "/proc/$daemon/io"
}
stat "$m/t/row09999" >/dev/null 2>&1
before=$(bytes_read)
check "opendir and the first entries" python3 - "$m/t" <<'PYTHON'
import os, sys
with os.scandir(sys.argv[1]) as it:
    assert next(it).name.startswith("row00000-")
PYTHON
first=$(($(bytes_read) - before))
ls -U "$m/t" >out
all=$(($(bytes_read) - before - first))
check "read $first bytes, all of it $all" [ $((first * 4)) -lt "$all" ]
same "all are listed" 60000 "$(wc -l <out)"
check "nodes for the first ones only" [ "$(figure nodes)" -lt 4500 ]
if ! ldd "$TABLETFS" | grep -qE '[at]san'; then
	resident() {
		sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status"
	}
	before=$(resident)
	ls -fU "$m/t/" "$m/t/." "$m/t/../t" >/dev/null
	check "listing again takes no memory" \
		[ $(($(resident) - before)) -lt 4096 ]
else
	skipped=$((skipped + 1))
fi

# ls -l is told all by the list itself. The kernel asks for attributes while it
# sees them used, and at a list's beginning: find and du, which read a list before
# they look at it, look up the rest; they ask no attributes.
seq -f '{"row":"row%06.0f","set":{"f":{"q":"a value of some length"}}}' \
	0 999 >"$m/u/.import/jsonl"
for command in "ls -lU ." "find . -size +0" "du -s ."; do
	remount
	before=$(operations lookup)
	(cd "$m/u" && $command >/dev/null)
	most=950
	[ -z "$stale" ] || most=990 # these read lists by 4 KiB
	[ "${command#ls}" = "$command" ] || most=20
	check "$command: lookups" [ $(($(operations lookup) - before)) -lt $most ]
	check "$command: getattrs" [ "$(operations getattr)" -lt 20 ]
	check "$command: lists with attributes" \
		[ "$(operations readdirplus)" -gt 0 ]
done

# Lists of what is removed and made meanwhile.
mkdir -p "$m/u/wide/f"
seq -f '{"row":"wide","set":{"f":{"c%05.0f":"v"}}}' 0 1999 \
	>"$m/u/.import/jsonl"
check "removing each entry as it is read" python3 - "$m/u/wide/f" <<'PYTHON'
import os, sys
for e in os.scandir(sys.argv[1]):
    os.unlink(e.path)
assert os.listdir(sys.argv[1]) == []
PYTHON
check "each entry once while others come and go" python3 - "$m/u/wide/f" \
	"$here" <<'PYTHON'
import os, sys
sys.path.insert(0, sys.argv[2])
from getdents import read
d = sys.argv[1]
stay = [b"s%04d" % i for i in range(1000)]
for name in stay:
    open(d.encode() + b"/" + name, "w").close()
fd = os.open(d, os.O_RDONLY)
seen, n = [], 0
while True:
    part = [name for name, _ in read(fd, 2048)]
    if not part:
        break
    seen += part
    for i in range(20):
        open("%s/n%04d" % (d, n), "w").close()
        if n >= 10:
            os.unlink("%s/n%04d" % (d, n - 10))
        n += 1
assert [x for x in seen if x[:1] == b"s"] == stay
assert len(seen) == len(set(seen))
assert seen == sorted(seen)
os.lseek(fd, 0, os.SEEK_SET)
again = []
while True:
    part = [name for name, _ in read(fd, 2048)]
    if not part:
        break
    again += part
assert again == [b".", b".."] + sorted(map(os.fsencode, os.listdir(d)))
PYTHON
