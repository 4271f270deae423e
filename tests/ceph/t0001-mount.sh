#!/bin/bash
# A mount of a store in a pool: who has it is told, a stopped owner is deposed
# and says so, and one whose cluster is silent for a while goes on.
. "$(dirname "$0")/../fs/lib.sh"
cluster=$(cd "$fs_tests/../ceph" && pwd)/cluster
wait_for() {
	local i
	for ((i = 0; i < 300 * ${SLOW:-1}; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}

status 1 "a store that is not there" T read t
told "no store at $store; create, createtable or mount makes one"
status 1 "no cluster" env CEPH_CONF=/nowhere "$TABLETFS" -store "$store" read t
told "/etc/ceph/ceph.conf, or the file that CEPH_CONF names"
check "a mount makes one" start_mount
mkdir -p "$m/t/r/f"
echo one >"$m/t/r/f/q"
check "a command goes through the mount" T set t r2 f:q=two
same "whose effect it shows" two "$(cat "$m/t/r2/f/q")"
mkdir "$work/second"
status 1 "a second mount" "$TABLETFS" mount "$store" "$work/second"
told "in use by pid $daemon, mounted at $m"
check "df tells of the pool" test "$(df --output=size "$m" | tail -n 1)" -gt 1000
stop_mount
same "a command without it" 1 "$(T read t | grep -cF '"one\n"')"

start_mount
kill -KILL "$daemon"
await_end
begun=$(date +%s%N)
check "the place of a killed daemon is taken" start_mount
took=$((($(date +%s%N) - begun) / 1000000))
echo "a killed owner's store was mounted again in $took ms"
same "what was there" two "$(cat "$m/t/r2/f/q")"

# An OSD that is stopped makes all wait, and nobody is deposed by that.
for osd in osd.0 osd.1 osd.2; do
	"$cluster" kill "$CEPH_DIR" $osd STOP
done
(echo late >"$m/t/r/f/late") & writer=$!
sleep 8
check "a write waits for the cluster" kill -0 $writer
for osd in osd.0 osd.1 osd.2; do
	"$cluster" kill "$CEPH_DIR" $osd CONT
done
check "and is done when it answers" wait $writer
same "with its value" late "$(cat "$m/t/r/f/late")"
check "the same mount goes on" wait_for sh -c "echo on >$m/t/r/f/on"
same "the same daemon" "$daemon" "$(find_daemon)"

# The kernel keeps what it was told no longer than nobody else can have the store:
# what it answers by itself, and what it asks again after that.
requests() {
	sed -n 's/^requests //p' "$m/.tabletfs/stats"
}
stat "$m/t/r/f/q" >/dev/null
before=$(requests)
stat "$m/t/r/f/q" >/dev/null
between=$(($(requests) - before))
sleep 6
before=$(requests)
stat "$m/t/r/f/q" >/dev/null
asked=$(($(requests) - before - between))
check "it asks again after a while, $between and $asked" [ $asked -gt 0 ]

# One that is stopped is deposed when its time has passed.
stat "$m/t/r/f/q" >/dev/null && cat "$m/t/r/f/q" >/dev/null
ls "$m/t/r/f" >/dev/null
kill -STOP "$daemon"
begun=$(date +%s%N)
check "a stopped owner's store is free after a while" T set t r3 f:q=three
took=$((($(date +%s%N) - begun) / 1000000))
echo "a stopped owner's store was written to after $took ms"
kill -CONT "$daemon"
refuse "it takes nothing" sh -c "echo x >$m/t/r/f/x" 2>/dev/null
errno ESTALE cat "$m/t/r/f/q"
errno ESTALE stat "$m/t/r/f/q"
errno ESTALE ls "$m/t/r/f"
same "which takes nothing back" three \
	"$(T lookup t r3 | sed -n 's/^ *"\(three\)"/\1/p')"
stop_mount
check "the store is whole" T check
