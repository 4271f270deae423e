#!/bin/bash
# Writers and readers while the daemon is killed and mounted again; see kill.py.
# make check-fs-long has 16 of each for ten minutes.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
start_mount || exit 1
export TABLETFS
workers=${WORKERS:-4}
check "nothing is lost, nothing torn" python3 "$here/kill.py" "$m" "$store" \
	"${SEED:-1}" "${DURATION:-6}" "$workers" "$workers" "${KILLS:-4}"
daemon=$(find_daemon)
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
