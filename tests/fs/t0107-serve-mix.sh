#!/bin/bash
# What short calls wait for behind a scan that finds nothing and a large write on
# one connection, how soon a scan that was given up ends, what a reader who takes
# nothing costs, and requests that decode to thirty times as much, and what large
# calls leave in memory. LONG=1, as in make check-serve-long, has 1 GiB and 100 MiB
# and holds the times against their bounds, which are for a machine that does
# little else; else only memory is.
#
# Alone: it measures time.
fs_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$fs_tests/../.." && pwd)/build/tabletfs}
. "$fs_tests/../lib.sh"
store=$work/store
. "$fs_tests/serve.sh"
mix=$(dirname "$TABLETFS")/tests/fs/serve_mix
[ -x "$mix" ] || skip_all "$mix is not built"
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}
long=${LONG:-} rows=20000 mib=8
[ -z "$long" ] || { rows=1000000 mib=${MIB:-97}; }

# figure LINE WORD: the number behind the word.
figure() {
	sed -n "s/^$1.* $2 \(-\{0,1\}[0-9.]*\).*/\1/p" figures
}
# below TEXT BOUND NUMBER
below() {
	check "$1: $3 is below $2" \
		[ "$(printf '%s\n' "$3" "$2" | sort -g | head -n 1)" = "$3" ]
}

for sync in no yes; do
	[ $sync = no ] || [ -n "$long" ] || continue
	store=$work/store-$sync
	serve sync=$sync
	echo "sync=$sync"
	"$mix" "$address" "$server" $rows $mib 8 90 >figures
	same "measured" 0 $?
	cat figures
	# Sanitizers keep what is freed.
	grep -qE '__(asan|tsan)_init' "$TABLETFS" || {
		below "KiB of a stalled reader" 10240 "$(figure stalled each)"
		below "KiB that large calls leave" 8192 \
			"$(figure "rest later" KiB)"
		below "KiB of a flood" 200000 "$(figure flood KiB)"
	}
	[ -z "$long" ] || {
		below "p99 of gets" 5 "$(figure "beside get" p99)"
		below "pings" 50 "$(figure "beside ping" max)"
		below "a cancel" 50 "$(figure cancel max)"
	}
	check "it ends" stop
done
