#!/bin/bash
# Requests that take long: a signal ends them, others do not wait for them, and
# neither does the end of the mount.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" && mkdir -p "$m/t/a/f"
echo 1 >"$m/t/a/f/q"
seq -f '{"row":"row%06.0f","set":{"f":{"q":"a value of some length"}}}' \
	0 99999 >rows.jsonl
cp rows.jsonl "$m/t/.import/jsonl"

# read(2) as the kernel answers it, while another process sends signals.
cat >interrupt.py <<'PYTHON'
import ctypes, errno, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGINT, lambda *_: None)
signal.siginterrupt(signal.SIGINT, True)
path, want = sys.argv[1], sys.argv[2].encode() + b"\n"
buf = ctypes.create_string_buffer(4096)
me = os.getpid()
child = os.fork()
if child == 0:
    while True:
        os.kill(me, signal.SIGINT)
interrupted = 0
for _ in range(1000):
    try:
        fd = os.open(path, os.O_RDONLY)
    except InterruptedError:
        continue
    n = libc.read(fd, buf, len(buf))
    if n < 0:
        assert ctypes.get_errno() == errno.EINTR, ctypes.get_errno()
        interrupted += 1
        if interrupted == 3:
            break
    os.close(fd)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
assert interrupted, "never"
# Asked again, it tells the truth: neither too little nor an end.
answer = b""
while part := os.read(fd, 4096):
    answer += part
assert answer == want, (answer, want)
PYTHON
for q in count:100001 value/no.*match/count:0 family/f/column/q/count:100001 \
	regex/.*9/versions/1/count:10000 value/1%0A/keys:a; do
	check "SIGINT ends .scan/${q%:*}" timeout 120 python3 interrupt.py \
		"$m/t/.scan/${q%:*}" "${q##*:}"
done
check "a program that is killed ends" python3 - "$m/t/.scan" <<'PYTHON'
import os, signal, subprocess, sys
for i in range(20):
    p = subprocess.Popen(["cat", sys.argv[1] + "/value/no.*match/count"],
                         stdout=subprocess.PIPE)
    p.send_signal(signal.SIGINT)
    p.wait(60)
p = subprocess.Popen(["ls", "-l", sys.argv[1] + "/.."],
                     stdout=subprocess.PIPE)
p.stdout.read(10)
p.send_signal(signal.SIGINT)
assert p.wait(60) == -signal.SIGINT
PYTHON
same "which is no error to note" 0 "$(grep -c Interrupted "$m/.tabletfs/errors")"

# As many scans as there are threads, each blocked by a reader who does not read:
# lookups, reads and writes are answered, and so is a scan more.
check "many scans that wait" python3 - "$m/t" <<'PYTHON'
import os, subprocess, sys
t = sys.argv[1]
scans = [subprocess.Popen(["cat", t + "/.scan/jsonl"], stdout=subprocess.PIPE)
         for _ in range(20)]
for s in scans:
    assert s.stdout.read(1) == b"{"
assert open(t + "/a/f/q").read() == "1\n"
with open(t + "/a/f/new", "w") as f:
    f.write("2")
assert open(t + "/a/f/new").read() == "2"
assert open(t + "/.scan/count").read() == "100001\n"
os.unlink(t + "/a/f/new")
lines = [s.stdout.read().count(b"\n") for s in scans]
assert lines == [100001] * 20, lines
assert [s.wait() for s in scans] == [0] * 20
PYTHON

# The end does not wait for who holds files, scans or directories open.
exec 3<"$m/t/.scan/jsonl" 4<"$m/t" 5>"$m/t/a/f/draft" 6>"$m/t/.import/jsonl"
head -c 10 <&3 >/dev/null
echo kept >&5
echo '{"row":"b","set":{"f":{"q":"1"}}}' >&6
kill -TERM "$daemon"
await_end
refuse "SIGTERM ends the mount" mountpoint -q "$m"
errno ENOTCONN cat <&3
exec 3<&- 4<&- 5>&- 6>&-
start_mount
same "what was written is there" kept "$(cat "$m/t/a/f/draft")"
same "imported, too" 1 "$(cat "$m/t/b/f/q")"
