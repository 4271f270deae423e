#!/bin/bash
# A full disk: writers are told, nothing that was taken is lost, and the same
# mount goes on when there is space again.
. "$(dirname "$0")/lib.sh"

small=$work/small
mkdir "$small"
if ! mount -t tmpfs -o size=16m none "$small" 2>/dev/null; then
	skipped=1
	exit 0
fi
# Before what lib.sh does at the end.
trap 'stop_mount 2>/dev/null; umount -l "$small"; finish' EXIT
store=$small/store
export TABLETFS_STORE=$store

fill() { head -c 64m /dev/zero >"$small/ballast" 2>/dev/null; }
digest() { sha256sum <"$1" | cut -c 1-20; }

start_mount
mkdir -p "$m/t/row0/sum"
echo intsum >"$m/t/.schema/sum/type"
# Values that do not compress, until there is no space for more.
taken=0
while [ $taken -lt 1000 ]; do
	head -c 50000 /dev/urandom >value
	mkdir -p "$m/t/row$taken/f" || break
	cp value "$m/t/row$taken/f/v" 2>message || break
	digest value >"sum$taken"
	taken=$((taken + 1))
done
check "values were taken first" [ $taken -gt 50 ]
check "then there was no space: $(cat message)" \
	grep -q "No space left on device" message
# The rest of it, too, so that not even a flush has space.
fill
errno ENOSPC sh -c "head -c 200000 /dev/urandom >$m/t/row0/f/w"
"$TABLETFS" compact t 2>message
check "nor is there for a compaction: $(cat message)" \
	grep -q "No space left on device" message
check "stats tell it" sh -c "'$TABLETFS' stats | grep -q 'trouble.*No space'"
same "all rows are there" "$taken" \
	"$(for i in $(seq 0 $((taken - 1))); do
		[ "$(digest "$m/t/row$i/f/v")" = "$(cat "sum$i")" ] && echo
	done | wc -l)"

# A number whose line is not complete, and then no space for the rest of it.
check "there is none" python3 - "$m/t/row0/sum/total" "$small/ballast" <<PYTHON
import errno, os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(fd, b"1")
try:
    os.write(fd, b"2\n")
    sys.exit("a number was taken")
except OSError as e:
    assert e.errno == errno.ENOSPC, e
os.unlink(sys.argv[2])
os.write(fd, b"2\n")
os.close(fd)
PYTHON
same "the same write again adds the same number" 12 \
	"$(cat "$m/t/row0/sum/total")"

# Space again: the same mount goes on.
check "small writes go on" sh -c "echo more >$m/t/row0/f/more"
check "they can be synced" sync "$m/t/row0/f/more"
rm -r "$m/t"/row[1-9]*
check "what was deleted is given back" "$TABLETFS" compact t
check "so that large ones go on, too" cp value "$m/t/row0/f/large"
refuse "stats tell no trouble" sh -c "'$TABLETFS' stats | grep trouble"
remount
same "a first value" "$(cat sum0)" "$(digest "$m/t/row0/f/v")"
same "a late value" "$(digest value)" "$(digest "$m/t/row0/f/large")"
check "nothing is wrong" "$TABLETFS" check
stop_mount

# A store is closed on a full disk, and opened when there is space.
start_mount
echo last >"$m/t/row0/f/last"
fill
stop_mount
rm "$small/ballast"
start_mount
same "what was written before" last "$(cat "$m/t/row0/f/last")"
stop_mount

# What is open lies beside the store, whose disk fills up: a write that fails
# leaves no bytes of its own, and what came before it is committed once there is
# space for it. No history gives way.
start_mount
"$TABLETFS" history off
fill
truncate -s -6M "$small/ballast"
check "a write that fails is cut off" python3 - "$m/t/row0/f/draft" \
	"$small/ballast" <<'PYTHON'
import errno, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
taken, piece = 0, b"x" * (256 << 10)
while taken < 64 << 20:
    try:
        taken += os.write(fd, piece)
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
        break
assert 1 << 20 < taken < 64 << 20, taken
assert os.fstat(fd).st_size == taken, (os.fstat(fd).st_size, taken)
assert os.pread(fd, taken + 1, 0) == b"x" * taken
# What the store has given back meanwhile is taken, too.
try:
    with open(sys.argv[2], "ab", buffering=0) as f:
        while f.write(piece):
            pass
except OSError as e:
    assert e.errno == errno.ENOSPC, e
try:
    os.pwrite(fd, piece, taken + (1 << 20))
    sys.exit("a write beyond the end was taken")
except OSError as e:
    assert e.errno == errno.ENOSPC, e
assert os.fstat(fd).st_size == taken, os.fstat(fd).st_size
os.unlink(sys.argv[2])
os.close(fd)
with open(sys.argv[1], "rb") as f:
    assert f.read() == b"x" * taken
PYTHON
stop_mount
