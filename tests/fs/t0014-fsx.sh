#!/bin/bash
# Random operations on one file and on many, the same as on a local filesystem,
# with remounts; see fsx.c. make check-fs-long runs a million of them.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
export TABLETFS store m
again='"$TABLETFS" umount "$m" && "$TABLETFS" mount "$store" "$m"'

# fsx SEED OPERATIONS FILES SIZE: with three remounts, and one after it.
fsx() {
	# A family without cells would not outlive a remount.
	rm -rf local && mkdir local && mkdir -p "$m/t/r/f"
	touch local/keep "$m/t/r/f/keep"
	check "seed $1, $2 operations, $3 files of $4 bytes" "${TABLETFS%/*}/tests/fs/fsx" -seed "$1" \
		-ops "$2" -files "$3" -size "$4" \
		-remount $(($2 / 4)) "$again" "$m/t/r/f" local
	daemon=$(find_daemon)
	same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
	remount
	check "a remount shows the same" diff -r local "$m/t/r/f"
	rm -rf "$m/t"
}

seed=${SEED:-1} ops=${OPS:-4000}
fsx $((seed)) "$ops" 1 5000
fsx $((seed + 1)) "$ops" 5 5000
fsx $((seed + 2)) "$ops" 40 500
fsx $((seed + 3)) "$ops" 4 30000
# Around where a draft leaves memory, a value becomes a large one.
fsx $((seed + 4)) $((ops / 4)) 3 200000
fsx $((seed + 5)) $((ops / 20)) 2 3000000
stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
