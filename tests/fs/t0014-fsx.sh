#!/bin/bash
# Random reads, writes, truncations, renames and mappings of one file and of
# many, with a remount after each seed; see fsx.py. make check-fsx runs a million
# operations of it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
for seed in ${SEEDS:-1 2 3 4 5 6 7 8}; do
	check "seed $seed" python3 "$here/fsx.py" "$m/t/r/f" "$seed" \
		"${STEPS:-300}" $((seed % 3 * 4 + 1))
	same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
	remount
	check "a remount shows the same" \
		sh -c "cd '$m/t/r/f' && md5sum -c --quiet sums"
	rm -f "$m"/t/r/f/*
done
