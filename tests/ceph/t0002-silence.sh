#!/bin/bash
# A cluster that does not answer: what is mounted goes on when it does again, a
# daemon that is to end is not kept by it, and a command has an end.
. "$(dirname "$0")/../fs/lib.sh"
cluster=$(cd "$fs_tests/../ceph" && pwd)/cluster
osds="osd.0 osd.1 osd.2"

# signal NAME DAEMON...
signal() {
	local name=$1 daemon
	shift
	for daemon; do
		"$cluster" kill "$CEPH_DIR" "$daemon" "$name"
	done
}
at_end() {
	signal CONT $osds
	stop_mount 2>/dev/null
}
# ends_within SECONDS PID: sets took.
ends_within() {
	local begun=$SECONDS
	while kill -0 "$2" 2>/dev/null && [ $((SECONDS - begun)) -lt "$1" ]; do
		sleep 0.2
	done
	took=$((SECONDS - begun))
	! kill -0 "$2" 2>/dev/null
}

start_mount
mkdir -p "$m/t/r/f"
echo one >"$m/t/r/f/q"
sync "$m/t/r/f/q"

# The OSD of the root hangs for 30 s; two others have what it has.
hung=osd.$(ceph osd map test root "${store##*/}" --format json |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["acting_primary"])')
signal STOP "$hung"
(echo two >"$m/t/r/f/two") & writer=$!
sleep 30
signal CONT "$hung"
check "a write comes through, with $hung hung for 30 s" wait $writer
same "it is read" two "$(cat "$m/t/r/f/two")"
check "and the mount goes on" sh -c "echo three >'$m/t/r/f/three'"

# A mount knows its OSDs without a monitor.
signal KILL mon.a
check "without a monitor it is written to" timeout 20 sh -c \
	"echo four >'$m/t/r/f/four'"
same "and read" four "$(timeout 20 cat "$m/t/r/f/four")"
"$cluster" run "$CEPH_DIR" mon.a
"$cluster" await "$CEPH_DIR"
check "the mount goes on" sh -c "echo five >'$m/t/r/f/five'"
same "the same daemon" "$daemon" "$(find_daemon)"
stop_mount

# To end, a daemon does not need an answer; nor does a command.
"$TABLETFS" mount -f "$store" "$m" >said 2>&1 & daemon=$!
for i in $(seq 100); do
	grep -q "is served" said && break
	sleep 0.2
done
echo six >"$m/t/r/f/six"
signal STOP $osds
(echo seven >"$m/t/r/f/seven") 2>/dev/null & writer=$!
sleep 1
kill -TERM "$daemon"
check "a daemon that is to end ends" ends_within 80 "$daemon"
echo "it ended after $took s"
same "and says why" 1 "$(grep -c "$store: has not answered" said)"
check "who waited is told" ends_within 20 $writer
fusermount3 -u "$m" 2>/dev/null
begun=$SECONDS
status 1 "a command" timeout 150 "$TABLETFS" -store "$store" read t
told "the cluster did not answer for 30 s"
echo "a command ended after $((SECONDS - begun)) s"
signal CONT $osds
"$cluster" await "$CEPH_DIR"
daemon=
check "it is mounted again" start_mount
same "with what was said to be done" "one six" \
	"$(cat "$m/t/r/f/q" "$m/t/r/f/six" | xargs)"
stop_mount
check "the store is whole" T check
