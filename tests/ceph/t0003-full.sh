#!/bin/bash
# A pool that is full by its quota: writes are refused, the lease stays, and after
# deletions the same mount goes on.
. "$(dirname "$0")/../fs/lib.sh"
pool=full-$$
ceph osd pool create $pool 8 >/dev/null 2>&1
ceph osd pool set-quota $pool max_bytes $((64 << 20)) >/dev/null 2>&1
store=rados:$pool/store
at_end() {
	stop_mount 2>/dev/null
	ceph config set mon mon_allow_pool_delete true
	ceph osd pool rm $pool $pool --yes-i-really-really-mean-it \
		>/dev/null 2>&1
}
start_mount || exit 1
mkdir -p "$m/t/r/f"
head -c 1000000 /dev/urandom >value
count=0
# fill: files of a megabyte until there is no space.
fill() {
	while [ $count -lt 200 ] && cp value "$m/t/r/f/c$count" 2>err; do
		count=$((count + 1))
	done
	check "it is full before 200 MB: $count" test $count -lt 200
	told "No space left on device"
}
fill
sleep 15
# Logs that were flushed may have gone meanwhile.
fill
good=0
for ((i = 0; i < count; i++)); do
	cmp -s value "$m/t/r/f/c$i" && good=$((good + 1))
done
same "what was taken is there" $count $good
check "what is small is deleted" rm "$m/t/r/f/c0"
check "and so is the rest" rm -r "$m/t/r"
goes_on() {
	local i
	for ((i = 0; i < 120 * ${SLOW:-1}; i++)); do
		mkdir -p "$m/t/r2/f" && cp value "$m/t/r2/f/c" 2>/dev/null &&
			return
		sleep 1
	done
	return 1
}
check "then there is space, and the same mount goes on" goes_on
check "with what was written" cmp value "$m/t/r2/f/c"
stop_mount
check "the store is whole" T check
