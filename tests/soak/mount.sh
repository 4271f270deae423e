#!/bin/bash
# Workloads that go on, through a mount: files are written and removed, tables
# come and go, while what the store's directory, the daemon and a probe show is
# held against tests/soak/bounds. See soak.h.
#
#   tests/soak/mount.sh [SECONDS [SEED [WORKLOAD...]]]
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../fs/lib.sh"
export TABLETFS_STORE=$store
start_mount -o memory=16M || exit 1
python3 "$here/mount.py" "$store" "$m" "$daemon" "$TABLETFS" \
	"$here/bounds" "${1:-1}" "${2:-1}" "${@:3}" >report 2>&1
status=$?
cat report
set -- $(tail -n 1 report | tr -c '0-9\n' ' ')
passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
[ $status = 0 ] || [ "$failed" != 0 ] || failed=1
check "nothing is wrong" "$TABLETFS" check
