#!/bin/bash
# Counters to which very much is added: in few commits what comes at once, and
# beside others who write and read.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1

metric() {
	sed -n "s/^tabletfs_$1 //p" "$m/.tabletfs/metrics"
}

v=$m/t/r
mkdir "$m/t" "$m/others"
for type in intsum intmin intmax inthll; do
	mkdir "$m/t/.schema/$type"
	echo $type >"$m/t/.schema/$type/type"
	mkdir -p "$v/$type"
done
mkdir -p "$m/others/r/f"

# The lines of one write(2) are one change.
commits=$(metric writes_total)
for type in intsum intmin intmax inthll; do
	check "100,000 lines of $type" dd if=<(seq -50 99949) of="$v/$type/n" \
		bs=64k iflag=fullblock conv=notrunc status=none
done
commits=$(($(metric writes_total) - commits))
check "in few commits: $commits" [ "$commits" -le 100 ]
same "sum" 4994950000 "$(cat "$v/intsum/n")"
same "least" -50 "$(cat "$v/intmin/n")"
same "greatest" 99949 "$(cat "$v/intmax/n")"
different=$(cat "$v/inthll/n")
check "different ones: $different" \
	[ "$different" -gt 97000 -a "$different" -lt 103000 ]
same "one version each" "1 1 1 1" "$(for type in intsum intmin intmax inthll; do
	versions t/r/$type n
done | xargs)"

# One that was made is there, with nothing in it, before its first number.
check "a counter without a number" python3 - "$v/intsum/made" <<'PYTHON'
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
assert open(sys.argv[1]).read() == ""
os.write(fd, b"5\n")
assert open(sys.argv[1]).read() == "5\n"
PYTHON

# Line by line, with a reader of it and a writer of another table meanwhile.
check "beside others" python3 - "$v/intsum/line" "$v/inthll/line" \
	"$m/others/r/f/q" <<'PYTHON'
import os, sys

LINES = 10000
counter, users, other = sys.argv[1:]
ready, tell = os.pipe()
if os.fork() == 0:
    os.close(ready)
    adds = [os.open(path, os.O_WRONLY | os.O_CREAT) for path in (counter, users)]
    for i in range(LINES):
        for add in adds:
            assert os.write(add, b"%d\n" % i) == len(str(i)) + 1
    os._exit(0)
os.close(tell)


def ended():
    """Whether the writer is no more, and with it its end of the pipe."""
    import select
    return bool(select.select([ready], [], [], 0)[0])


written = reads = last = 0
while not ended():
    with open(other, "w") as f:
        f.write("%d\n" % written)
    written += 1
    # It is there without a number first.
    try:
        now = int(open(counter).read() or 0)
    except FileNotFoundError:
        continue
    # A sum of the first numbers, and it only grows.
    n = int((8 * now + 1) ** 0.5 + 1) // 2
    assert n * (n - 1) // 2 == now and now >= last, (now, last)
    last = now
    reads += 1
assert os.wait()[1] == 0
print(written, "writes,", reads, "reads", file=sys.stderr)
# The least that is no standing still, on whatever machine.
assert written >= LINES // 500, "others waited: %d writes" % written
assert reads > 0
assert int(open(other).read()) == written - 1
PYTHON
sum=$((9999 * 5000))
same "all of them" $sum "$(cat "$v/intsum/line")"
# In errors of one in a hundred.
users=$(($(cat "$v/inthll/line") / 100))
check "and $users hundred" [ $users -ge 97 -a $users -le 103 ]

# What was added since the mount is there again, and is gone on from.
remount
same "stays" $sum "$(cat "$v/intsum/line")"
echo 1 >"$v/intsum/line"
same "goes on" $((sum + 1)) "$(cat "$v/intsum/line")"
rm "$v/intsum/line"
echo 7 >"$v/intsum/line"
same "begins anew" 7 "$(cat "$v/intsum/line")"
same "no errors" "" "$(cat "$m/.tabletfs/errors")"
