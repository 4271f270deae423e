#!/bin/bash
# What was typed to Google's cbt, typed to it again: beside tabletfs serve, and
# beside Google's emulator where that is installed. Each prints what the
# transcripts say, but for the differences of the server that these name.
wire_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$wire_tests/../.." && pwd)/build/tabletfs}
. "$wire_tests/../lib.sh"
transcripts=$wire_tests/../transcripts
EMULATOR=${EMULATOR:-$(command -v cbtemulator ||
	echo /usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator)}

command -v cbt >/dev/null || skip_all "there is no cbt"

# compare SYSTEM PROGRAM
compare() {
	local result
	result=$(python3 "$transcripts/run.py" "$1" "$2" "$transcripts"/*.txt)
	printf '%s\n' "$result" | sed '$d'
	set -- "$1" $(printf '%s\n' "$result" | tail -n 1)
	passed=$((passed + $2)) failed=$((failed + $4))
	check "all of them ran beside $1" [ "$(($2 + $4))" -gt 300 ]
}

compare served "$TABLETFS"
if [ -x "$EMULATOR" ]; then
	compare emulator "$EMULATOR"
else
	skip "there is no emulator at $EMULATOR"
fi
