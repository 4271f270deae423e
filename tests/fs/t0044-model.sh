#!/bin/bash
# Each line of the tables of store/model/README.md: the command on one store, the
# path on another. Both must show the same and then hold the same.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
PATH=$(dirname "$TABLETFS"):$PATH

result=$(python3 "$root/tests/fs/examples.py" \
	"$root/store/model/README.md" "$work/other" "$store" "$m")
printf '%s\n' "$result" | sed '$d'
set -- $(printf '%s\n' "$result" | tail -n 1)
passed=$((passed + $1)) failed=$((failed + $2))
check "all lines ran" [ "$1" -ge 80 ]
