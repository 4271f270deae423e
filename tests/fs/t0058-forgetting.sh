#!/bin/bash
# The kernel is made to forget names, so that the daemon's memory is bounded
# however many a walk has met; nobody who uses them sees anything of it.
. "$(dirname "$0")/lib.sh"

if [ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" != 6.18 ]; then
	echo "the kernel cannot be told to forget: $(uname -r)" >&2
	skipped=1
	exit 0
fi
start_mount -o memory=16M || exit 1
mkdir "$m/t" "$m/t/.schema/f"
# Nodes of all of them would take more than 40 MB.
python3 -c 'for i in range(100000):
    key = "row%05d" % i + "x" * 200
    print("{\"row\":\"%s\",\"set\":{\"f\":{\"q\":\"%05d\"}}}" % (key, i))' |
	dd bs=1M iflag=fullblock of="$m/t/.import/jsonl" status=none

check "what is in use stays, and names are found" python3 - "$m/t" <<'PYTHON'
import os, random, subprocess, sys
os.chdir(sys.argv[1])
table = os.getcwd()

def row(i):
    return "%s/row%05d%s" % (table, i, "x" * 200)

def is_whole(i):
    with open(row(i) + "/f/q") as f:
        assert f.read() == "%05d" % i
    return os.stat(row(i)).st_ino

numbers = [is_whole(i) for i in range(100)]
opened = os.open(row(0) + "/f/q", os.O_RDONLY)
draft = os.open(row(1) + "/f/draft", os.O_WRONLY | os.O_CREAT)
os.write(draft, b"not yet ")
directory = os.open(row(3), os.O_RDONLY)
os.mkdir("local")
os.chdir(row(2) + "/f")
rng = random.Random(1)
for _ in range(2):
    walk = subprocess.Popen(["ls", "-lU", table], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    lines = 0
    while chunk := walk.stdout.read1():
        lines += chunk.count(b"\n")
        is_whole(rng.randrange(100000))
    assert walk.wait() == 0 and lines == 100002, lines
assert os.getcwd() == row(2) + "/f" and os.listdir() == ["q"]
assert os.listdir(directory) == ["f"]
assert os.pread(opened, 9, 0) == b"00000"
os.write(draft, b"committed")
os.close(draft)
assert open(row(1) + "/f/draft").read() == "not yet committed"
assert os.path.isdir(table + "/local")
assert numbers == [is_whole(i) for i in range(100)]
PYTHON

# Those that it was told of last it may still be forgetting.
bytes() {
	sed -n 's/^node_bytes //p' "$m/.tabletfs/stats"
}
for try in $(seq 1000); do
	[ "$(bytes)" -gt 34000000 ] || break
	read -rt 0.01 <> <(:)
done
check "nodes take 32 MiB: $(bytes) bytes" [ "$(bytes)" -le 34000000 ]
# A sanitizer keeps what was freed.
peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status")
[ -n "${SAN:-}" ] || check "and all at most 16 and 64 MiB: $peak KiB" \
	[ "$peak" -le $((80 << 10)) ]
