#!/bin/bash
# Several programs at once, each checked against a model; see stress.py.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
start_mount || exit 1
mkdir "$m/t"
for seed in ${SEEDS:-${SEED:-1 2 3}}; do
	check "seed $seed" python3 "$here/stress.py" "$m" "$seed" 3 "${STEPS:-400}"
	rm -rf "$m/t/shared"
done
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
before=$(find "$m" -type f -exec md5sum {} + | sort -k2)
remount
same "a remount shows the same" "$before" \
	"$(find "$m" -type f -exec md5sum {} + | sort -k2)"
stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
