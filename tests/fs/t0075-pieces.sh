#!/bin/bash
# Large values are read in pieces, whatever file shows them: the daemon's memory
# does not grow with them.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
size=$((60 << 20))
for version in 1 2; do
	head -c "$size" /dev/urandom >"want$version"
	cp "want$version" "$m/t/r/f/big"
done
newest=$(ls "$m/t/r/f/.versions/big" | sort -n | tail -n 1)
oldest=$(ls "$m/t/r/f/.versions/big" | sort -n | head -n 1)

# From here on the most memory that the daemon has is counted anew.
forget_peak() {
	sync "$m/t/r/f/big"
	echo 5 >"/proc/$daemon/clear_refs"
	before=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' \
		"/proc/$daemon/status")
}

# peak TEXT: it was at most 24 MiB more than before.
peak() {
	local now
	now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' \
		"/proc/$daemon/status")
	same "$1: $before kB became $now" yes \
		"$([ $((now - before)) -lt $((24 << 10)) ] && echo yes)"
}

# Six readers of a part each, all of whom have it open at the end.
cat >read.py <<'PYTHON'
import os, sys
path, want = sys.argv[1:]
want = open(want, "rb").read()
files = [os.open(path, os.O_RDONLY) for _ in range(6)]
for i, f in enumerate(files):
    at = len(want) // 6 * i + 12345
    assert os.pread(f, 100, at) == want[at:at + 100], at
assert os.pread(files[0], 100, len(want) - 7) == want[-7:]
assert os.pread(files[0], 100, len(want)) == b""
PYTHON
for path in ".versions/big/$oldest:1" ".versions/big/$newest:2" \
	"../../.at/now/r/f/big:2" "../../.at/$oldest/r/f/big:1"; do
	file=$m/t/r/f/${path%:*} want=want${path##*:}
	forget_peak
	check "parts of ${path%:*}" python3 read.py "$file" "$want"
	peak "parts of ${path%:*}"
	check "all of ${path%:*}" cmp "$want" "$file"
	peak "all of ${path%:*}"
done

# Who has a version open reads on, wherever its pieces move.
exec 3<"$m/t/r/f/.versions/big/$oldest"
rm "$m/t/r/f/.versions/big/$newest"
check "a compaction" "$TABLETFS" -store "$store" compact
same "what is open is read on" "$(md5sum <want1)" "$(md5sum <&3)"
kill -TERM "$daemon"
await_end
exec 3<&-
check "and is no reason not to end well" "$TABLETFS" -store "$store" check \
	>/dev/null
