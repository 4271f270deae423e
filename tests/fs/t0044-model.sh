#!/bin/bash
# Each line of the tables of tools/doc that set a command beside a path: the
# command on one store, the path on another. Both must show the same and then
# hold the same.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
PATH=$(dirname "$TABLETFS"):$PATH

lines=0
for page in bigtable dynamodb hbase; do
	result=$(python3 "$root/tests/fs/examples.py" \
		"$root/tools/doc/$page.md" "$work/other" "$store" "$m")
	printf '%s\n' "$result" | sed '$d'
	set -- $(printf '%s\n' "$result" | tail -n 1)
	passed=$((passed + $1)) failed=$((failed + $2)) lines=$((lines + $1))
done
check "all lines ran" [ "$lines" -ge 80 ]
