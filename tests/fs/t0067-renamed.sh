#!/bin/bash
# What is open while its row or table is renamed, or its table dropped: what is
# written then is in what was renamed, in nothing, or refused.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
drop="$TABLETFS -store $store deletetable"

python3 "$fs_tests/renamed.py" "$m" $drop >cases || fail "renamed.py ended"
while read -r result case; do
	check "$case" [ $result = ok ]
done <cases

exec 3>>"$m/t1/r/n/sum"
rm "$m/t1/r/n/sum"
check "a removed sum takes a number" echo 5 >&3
exec 3>&-
check "and does not come back" [ ! -e "$m/t1/r/n/sum" ]

for what in chmod stat-table stat-row unlink mutate import add family; do
	check "$what beside renames" \
		python3 "$fs_tests/renamed_race.py" "$m" $what 1.5
	ls "$m" >/dev/null || remount || exit 1
	$drop t || exit 1
done
