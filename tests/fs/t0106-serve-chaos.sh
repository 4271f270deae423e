#!/bin/bash
# Twenty clients read, write, scan, check and administer over the wire beside
# programs on the mount, while the daemon is killed and mounted again: no write
# that was acknowledged is lost, all read the same, and in the end there is no
# more memory and no descriptor than in the beginning. make check-serve-long has
# MINUTES of it, and a kill after EVERY seconds, 60.
. "$(dirname "$0")/lib.sh"
chaos=$(dirname "$TABLETFS")/tests/fs/chaos
[ -x "$chaos" ] || skip_all "$chaos is not built"
seconds=$((${MINUTES:-0} * 60))
[ $seconds != 0 ] || seconds=10
every=${EVERY:-$((seconds >= 60 ? 60 : 3))} address=unix:$work/socket
MOUNT="-o memory=64M -o serve=$address"
# What a mount with this memory may have: see t0081-memory.
most=$(((64 + 64) << 10))

# Those of clients: a store has a file open or closes it as it likes.
descriptors() {
	ls -l "/proc/$daemon/fd" | grep -c socket:
}
# held ACCOUNT: its bytes.
held() {
	sed -n "s/^memory_$1 //p" "$m/.tabletfs/stats"
}

check "a mount that is served" start_mount >/dev/null
before=$(descriptors)
T createtable t families=f granularity=millis
"$chaos" "$address" "$m" $seconds "${CLIENTS:-20}" "${SEED:-1}" >said 2>&1 &
clients=$! kills=0 peak=0 until=$((SECONDS + seconds - 1))
next=$((SECONDS + every))
while kill -0 $clients 2>/dev/null; do
	now=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status")
	peak=$((now > peak ? now : peak))
	if [ $SECONDS -ge $next ] && [ $SECONDS -lt $until ]; then
		kill -9 "$daemon"
		await_end
		fusermount3 -uz "$m"
		check "it comes back" start_mount >/dev/null
		kills=$((kills + 1)) next=$((SECONDS + every))
	fi
	sleep 0.1
done
wait $clients
same "no client saw anything wrong" 0 $?
cat said
echo "$kills kills, at most $((peak >> 10)) MiB"
check "it was killed" [ $kills -gt 0 ]
is_sanitized || check "memory was within its word: $peak KiB" \
	[ $peak -le $most ]
for i in $(seq $((50 * ${SLOW:-1}))); do
	[ "$(held wire)" = 0 ] && [ "$(descriptors)" = "$before" ] && break
	sleep 0.1
done
same "no memory is left" 0 "$(held wire)"
same "no descriptor is left" "$before" "$(descriptors)"
stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
