#!/bin/bash
# Random reads, writes, truncations and mappings of one file; see fsx.py.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
for seed in ${SEEDS:-1 2 3 4 5 6}; do
	check "seed $seed" python3 "$here/fsx.py" "$m/t/r/f/file$seed" "$seed" \
		"${STEPS:-300}"
done
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
before=$(md5sum "$m"/t/r/f/*)
remount
same "a remount shows the same" "$before" "$(md5sum "$m"/t/r/f/*)"
