#!/bin/bash
# Stores of every format version that was released hold what they held when they
# were made (tests/golden/make), are whole, and can be written and rewritten.
# unit/test_golden opens them read-only.
golden=$(cd "$(dirname "$0")/../golden" && pwd)
. "$(dirname "$0")/lib.sh"

for version in "$golden"/v*/; do
	[ -d "$version/store" ] || continue
	name=$(basename "$version")
	rm -rf "$store"
	cp -r "$version/store" "$store"
	same "$name: nothing is wrong" "no problem found" \
		"$("$TABLETFS" -store "$store" check)"
	check "$name: is as it was made" \
		diff "$version/expected" <("$golden/dump" "$store")
	check "$name: can be written" \
		"$TABLETFS" -store "$store" set wide new f:q=1@1
	check "$name: and rewritten" "$TABLETFS" -store "$store" compact
	"$TABLETFS" -store "$store" deleterow wide new
	check "$name: is the same then" \
		diff "$version/expected" <("$golden/dump" "$store")
done
[ "$passed" -gt 0 ] || skipped=1
