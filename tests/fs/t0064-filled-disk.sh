#!/bin/bash
# A neighbour takes every block of the disk as soon as it is free: deletions go
# on, the store can be opened, and writes go on in the same mount when there is
# space again. On ext2 room is held by zeros, as it has no fallocate.
. "$(dirname "$0")/lib.sh"

small=$work/small
mkdir "$small"
filler=
trap 'status=$?
	[ -z "$filler" ] || kill $filler
	stop_mount 2>/dev/null
	umount -l "$small" 2>/dev/null
	(exit $status)
	finish' EXIT
store=$small/store
export TABLETFS_STORE=$store

# Byte by byte at the end.
cat >filler.py <<'PYTHON'
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    for size in (1 << 20, 4096, 1):
        try:
            while True:
                os.write(fd, b"x" * size)
        except OSError:
            pass
    time.sleep(0.0005)
PYTHON
fill() {
	python3 filler.py "$small/ballast" &
	filler=$!
	until [ "$(df --output=avail "$small" | tail -1)" -eq 0 ]; do
		sleep 0.1
	done
}
empty() {
	kill $filler
	wait $filler 2>/dev/null
	filler=
	rm "$small/ballast"
}
# Seconds until a write is taken.
again() {
	local began=$SECONDS
	until mkdir -p "$m/t/$1/f" 2>/dev/null &&
		echo "$1" >"$m/t/$1/f/q" 2>/dev/null; do
		[ $((SECONDS - began)) -lt 20 ] || break
		sleep 0.1
	done
	echo $((SECONDS - began))
}
# disk KIND: mounts an empty one of 64 MB; fails if there is none of that kind.
disk() {
	if [ "$1" = tmpfs ]; then
		mount -t tmpfs -o size=64m none "$small"
	else
		truncate -s 64M image && mkfs.ext2 -q -F -m 0 image &&
			mount -o loop image "$small"
	fi 2>/dev/null
}

filled_disk() {
	start_mount
	mkdir -p "$m/t/.schema/f" "$m/u/.schema/f"
	seq -f '{"row":"r","set":{"f":{"q%05.0f":"v"}}}' 1 3000 >"$m/t/.mutate"
	for i in 1 2 3 4; do
		head -c 3000000 /dev/urandom | base64 -w 1000 |
			sed 's/.*/{"row":"b'$i'","set":{"f":{"&":"&"}}}/' |
			awk '{ sub(/"f":\{"[^"]*"/, "\"f\":{\"" NR "\""); print }'
	done >"$work/bulk"
	check "a table of some size" sh -c "cat '$work/bulk' >'$m/u/.mutate'"
	fill
	# What a merge gives back meanwhile it may get before the neighbour.
	for i in $(seq 20); do
		sh -c "head -c 3000000 /dev/urandom >$m/t/r/f/large" \
			2>message || break
	done
	check "no room for writes: $(cat message)" \
		grep -q "No space left on device" message
	n=0
	for i in $(seq -f %05.0f 1 1500); do
		rm "$m/t/r/f/q$i" 2>message || break
		n=$((n + 1))
	done
	same "deletions are taken: $(cat message)" 1500 $n
	check "of a range" "$TABLETFS" deleteallrows u
	check "of a table" "$TABLETFS" deletetable u
	check "a sync" "$TABLETFS" sync

	# It dies, and the neighbour goes on.
	kill -9 "$daemon"
	fusermount3 -u -z "$m"
	check "it can be read" sh -c "'$TABLETFS' read t >out"
	check "and checked" "$TABLETFS" check
	check "and mounted to be read" start_mount -o ro
	same "what is left" 1500 "$(ls "$m/t/r/f" | grep -c q)"
	stop_mount
	check "and mounted" start_mount
	check "deletions go on" rm "$m/t/r/f/q02000"
	same "what is left then" 1499 "$(ls "$m/t/r/f" | grep -c q)"
	empty
	check "writes go on after $(again one) s" [ -e "$m/t/one/f/q" ]
	fill
	check "once more, a deletion" rm "$m/t/one/f/q"
	empty
	t=$(again two)
	check "and a write after $t s" [ "$t" -le 5 ]
	remount
	same "all is there" "1499 two" "$(ls "$m/t/r/f" | grep -c q) $(cat "$m/t/two/f/q")"
	check "nothing is wrong" "$TABLETFS" check
	stop_mount
}

for kind in tmpfs ext2; do
	if disk $kind; then
		filled_disk
		umount "$small"
	else
		skipped=$((skipped + 1))
	fi
done
