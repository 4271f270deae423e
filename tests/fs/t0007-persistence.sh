#!/bin/bash
# What was written is there after a remount, and after the daemon was killed.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
seq 100000 >want
cp want "$m/t/r/f/big"
echo small >"$m/t/r/f/small"
echo new >"$m/t/r/f/small"
ino=$(stat -c %i "$m/t/r/f/small")
time=$(stat -c %.9Y "$m/t/r/f/small")
exec 3>"$m/t/r/f/open"
echo uncommitted >&3
fusermount3 -uz "$m"
exec 3>&-
await_end
start_mount
check "a large value" cmp want "$m/t/r/f/big"
same "a small one" new "$(cat "$m/t/r/f/small")"
same "its versions" 2 "$(versions t/r/f small)"
same "its inode number" "$ino" "$(stat -c %i "$m/t/r/f/small")"
same "its time" "$time" "$(stat -c %.9Y "$m/t/r/f/small")"
same "the schema" maxversions=10 "$(cat "$m/t/.schema/f/gc")"

# SIGTERM with an open file: what was written to it is committed.
exec 3>"$m/t/r/f/open"
echo written >&3
kill -TERM "$daemon"
await_end
exec 3>&- 2>/dev/null
start_mount
same "SIGTERM commits open files" written "$(cat "$m/t/r/f/open")"
same "and ends the mount cleanly" "" \
	"$("$TABLETFS" -store "$store" check 2>&1 >/dev/null)"

for i in $(seq 200); do
	echo "value $i" >"$m/t/r/f/c$i" && last=$i
done
kill -KILL "$daemon"
await_end
check "the mount point of a killed daemon is taken over" start_mount
lost=0
for i in $(seq "$last"); do
	[ "$(cat "$m/t/r/f/c$i" 2>/dev/null)" = "value $i" ] || lost=$((lost + 1))
done
same "kill -9 loses nothing that was closed" 0 "$lost"
stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
