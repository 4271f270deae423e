#!/bin/bash
# The program has the probes that store/base/probe.h lists, and no others.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
program=${TABLETFS:-$top/build/tabletfs}
command -v readelf >/dev/null || skip_all "there is no readelf"
echo '#include <sys/sdt.h>' | gcc -E -x c - >/dev/null 2>&1 ||
	skip_all "there is no sys/sdt.h"
listed=$(sed -n 's/^ \*   \([a-z_]*\)  *[a-z].*/\1/p' "$top/store/base/probe.h")
check "some are listed" [ "$(wc -w <<<"$listed")" -gt 10 ]
same "probes" "$(sort <<<"$listed")" \
	"$(readelf -n "$program" | grep -A1 'Provider: tabletfs$' |
		sed -n 's/^ *Name: //p' | sort -u)"
