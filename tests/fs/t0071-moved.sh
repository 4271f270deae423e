#!/bin/bash
# Names that change while open: a random program beside a model that knows where
# each write has to land; see moved.py. SEED=N replays, SECONDS_EACH=600 goes on.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
export TABLETFS
seed=${SEED:-1}
for ((i = 0; i < ${ROUNDS:-2}; i++)); do
	start_mount || exit 1
	check "seed $((seed + i))" python3 "$here/moved.py" "$m" "$store" \
		$((seed + i)) "${SECONDS_EACH:-6}"
	daemon=$(find_daemon)
	stop_mount
	check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
	rm -rf "$store"
done

# A commit goes by the rules that its table has then.
start_mount || exit 1
mkdir -p "$m/t/r/f"
check "a table of milliseconds since" python3 - "$m/t" <<'PYTHON'
import os, sys
f = sys.argv[1] + "/r/f/"
fds = [os.open(f + q, os.O_WRONLY | os.O_CREAT) for q in ("a", "b")]
for fd in fds:
    os.write(fd, b"value")
with open(sys.argv[1] + "/.granularity", "w") as control:
    control.write("millis")
os.rename(f + "b", f + "c")
for fd in fds:
    os.close(fd)
for q in "a", "c":
    assert open(f + q).read() == "value"
    time, = os.listdir(f + ".versions/" + q)
    assert time.endswith("000"), time
PYTHON

# A session replaces what it wrote, and no version that it found.
echo one >"$m/t/r/f/q"
echo found >"$m/t/r/f/q"
exec 3<>"$m/t/r/f/q"
mv "$m/t/r/f/q" "$m/t/r/f/moved"
echo wrote >&3
exec 3>&-
same "what was found is a version" "wrote found one" \
	"$(cd "$m/t/r/f/.versions/moved" && cat $(ls -r) | xargs)"
