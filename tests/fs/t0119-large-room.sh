#!/bin/bash
# The room of what was removed or written over comes back: by itself, by compact,
# and when a quota or the disk is full; mostly of large values.
#
# Waits: for what was deleted to come back by itself.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# KiB that the mount takes.
taken() {
	df --output=used -k "$m" | tail -n 1
}

# fill NAME COUNT: so many files of 1 MB that no codec shortens.
fill() {
	local i
	for i in $(seq "$2"); do
		head -c 1000000 /dev/urandom >"$m/t/r/f/$1$i" || return
	done
}

# within SECONDS KIB: whether the mount takes no more than that before long.
within() {
	local i
	for i in $(seq $((2 * $1 * ${SLOW:-1}))); do
		[ "$(taken)" -le "$2" ] && return
		sleep 0.5
	done
	taken >&2
	return 1
}

# again COMMAND...: until it succeeds, or for some seconds.
again() {
	local i
	for i in $(seq $((20 * ${SLOW:-1}))); do
		"$@" 2>/dev/null && return
		sleep 0.5
	done
}

# Of a quota: less than half is removed, and lies in the file of the rest.
stop_mount
start_mount -o quota=20M
mkdir -p "$m/t/r/f"
fill v 19
sum=$(cat "$m"/t/r/f/v{9,1?} | sha256sum)
rm "$m"/t/r/f/v[1-8]
check "what was removed comes back by itself" within 20 12000
check "so that more can be written" cp "$m/t/r/f/v9" "$m/t/r/f/new"
same "what stays is whole" "$sum" "$(cat "$m"/t/r/f/v{9,1?} | sha256sum)"

# Too little to be moved by itself.
before=$(taken)
rm "$m/t/r/f/v9"
T compact
check "compact frees less than an eighth" [ "$(taken)" -le $((before - 900)) ]

# All of it; and what a former life removed.
rm "$m"/t/r/f/*
check "all comes back by itself" within 20 200
fill v 10
rm "$m"/t/r/f/v[1-4]
remount -o quota=20M
check "so it does when it was mounted anew" within 20 6200

# What was removed makes room, for which the write waits.
T history off
fill w 12
rm "$m"/t/r/f/w[1-4]
cat "$m"/t/r/f/w[5-8] >all
check "a write waits for what was removed" cp all "$m/t/r/f/all"
check "and is whole" cmp all "$m/t/r/f/all"
errno ENOSPC cp all "$m/t/r/f/more"
stop_mount

# Small versions that come one after the other beside who has stopped in the middle
# of a scan: four megabytes are there at any time.
rm -rf "$store"
start_mount -o quota=20M
T history off
T createtable t families=f:maxversions=1
check "writes go on beside a scan that was left open" \
	python3 - "$here" "$m/t" <<'PYTHON'
import os, subprocess, sys
here, table = sys.argv[1:]
over = ["python3", here + "/over.py", table]
subprocess.run(over + ["1"], check=True)
with open(table + "/.scan/jsonl", "rb", buffering=0) as rows:
    first = rows.read(10)
    subprocess.run(over + ["12"], check=True)
    while part := rows.read(1 << 20):
        first += part
assert first.count(b"\n") == 2000, first.count(b"\n")
PYTHON
stop_mount
check "and the store is sound" T check
rm -rf "$store"

# A disk that is full: of each pair of files one is removed.
small=$work/small
mkdir "$small"
if ! mount -t tmpfs -o size=24M none "$small" 2>/dev/null; then
	skip "no tmpfs can be mounted"
	exit 0
fi
# Before what lib.sh does at the end.
trap 'stop_mount 2>/dev/null; umount -l "$small"; finish' EXIT
store=$small/store
start_mount
mkdir -p "$m/t/r/f"
i=0
while head -c 200000 /dev/urandom >"$m/t/r/f/v$((i + 1))" 2>/dev/null; do
	i=$((i + 1))
done
rm -f "$m/t/r/f/v$((i + 1))"
check "a disk is full" [ $i -gt 60 ]
rm -f "$m"/t/r/f/v*[02468]
check "half of it is removed and comes back" within 30 16000
head -c 5000000 /dev/urandom >five
again cp five "$m/t/r/f/five"
check "and takes others" cmp five "$m/t/r/f/five"
check "there is room for what compact moves" T compact
stop_mount
check "the store is sound" T check
rm -rf "$store"

# History goes before anything is refused, its oldest first: here all that was
# ever written is far more than there is room for.
start_mount -o commit=1
mkdir -p "$m/t/r/f"
echo kept >"$m/t/r/f/kept"
refused=0
for i in $(seq 20); do
	head -c 2000000 /dev/urandom >"$m/t/r/f/v" || refused=$((refused + 1))
	sleep 1.1
	rm -f "$m/t/r/f/v"
done 2>/dev/null
same "no write is refused while history could go" 0 "$refused"
check "and some went" grep -q " history_lost " "$store/LOG"
stop_mount
check "this store is sound" T check
rm -rf "$store"

# What is written over is as good as free, though nobody rests meanwhile: six
# megabytes are there at any time.
start_mount
T createtable t families=f:maxversions=1
mkdir -p "$m"/t/r{0,1,2}/f
check "no write is refused while what was written over could go" \
	python3 - "$m/t" <<'PYTHON'
import os, sys, time
for i in range(40):
    with open("%s/r%d/f/v" % (sys.argv[1], i % 3), "wb", buffering=0) as f:
        f.write(os.urandom(2000000))
    time.sleep(0.2)
PYTHON
stop_mount
check "that store is sound" T check
rm -rf "$store"

# So it is beside who has stopped in the middle of a list, for whom there are twelve
# megabytes that do not stay, and after one who read rows meanwhile.
start_mount
T createtable t families=f:maxversions=1
check "nor beside who paused in a list, nor after who read" \
	python3 - "$m/t" <<'PYTHON'
import os, sys, time
table = sys.argv[1]
for row in range(300):
    os.makedirs("%s/r%d/f" % (table, row))
    with open("%s/r%d/f/a" % (table, row), "w") as f:
        f.write("x" * 1000)
def put(times, names):
    for i in range(times):
        with open("%s/r/f/%s" % (table, names[i % len(names)]), "wb",
                  buffering=0) as f:
            f.write(os.urandom(3000000))
os.makedirs(table + "/r/f")
put(4, "klmn")
time.sleep(1.2)
names = os.scandir(table)
next(names)
put(8, "klmn")
names.close()
for name in "lmn":
    os.unlink(table + "/r/f/" + name)
rows = open(table + "/.scan/jsonl", "rb", buffering=0)
rows.read(10)
put(8, "k")
rows.close()
# The kernel tells of it a moment later.
time.sleep(0.5)
put(8, "k")
PYTHON
stop_mount
check "that one, too" T check
rm -rf "$store"

# The same of small ones, which the memtable may hold many times: four megabytes
# are there at any time.
start_mount
T history off
T createtable t families=f:maxversions=1
check "nor while small values were written over" \
	python3 "$here/over.py" "$m/t" 16
stop_mount
check "this one is sound, too" T check
rm -rf "$store"

# Who has read some of a scan keeps what that sees, but no files.
start_mount
T history off
T createtable t families=f:maxversions=1,g:maxversions=1
cat >paused.py <<'PYTHON'
import os, subprocess, sys, time
table, program = sys.argv[1:]
def fill():
    with open(table + "/.import/jsonl", "w") as f:
        for i in range(3000):
            v = os.urandom(100).hex()
            f.write('{"row":"r%05d","set":{"f":{"q":"%s"},"g":{"q":"%s"}}}\n' %
                    (i, v, v))
def verb(*words):
    return subprocess.run([program, "-store", os.path.dirname(table), *words],
                          capture_output=True, text=True).stdout
def kept():
    return int(verb("stats").split("\nobsolete_bytes ")[1].split()[0])
fill()
# Which is printed in pieces, when the next cell is known already.
os.makedirs(table + "/a/f")
with open(table + "/a/f/q", "wb") as f:
    f.write(os.urandom(3 << 20))
scans = []
for i in range(4):
    scans.append(os.open(table + "/.scan/jsonl", os.O_RDONLY))
    os.read(scans[-1], 65536)
    fill()
    verb("compact")
end = time.monotonic() + 10
while kept() and time.monotonic() < end:
    fill()
    time.sleep(0.2)
assert not kept(), kept()
PYTHON
check "a scan that pauses keeps no files" \
	python3 paused.py "$m/t" "$TABLETFS"
stop_mount
check "and this" T check
