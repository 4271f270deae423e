#!/bin/bash
# Google's client for Node, of the version that is named here, beside tabletfs
# serve: what it does is in node.js, which checks each answer by itself.
wire_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$wire_tests/../.." && pwd)/build/tabletfs}
. "$wire_tests/../lib.sh"
. "$wire_tests/../npm.sh"
store=$work/store
. "$wire_tests/../fs/serve.sh"
package=@google-cloud/bigtable@7.2.0

at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

npm_package "$package" || skip_all "npm does not get $package"
serve
check "it says where" [ -n "$address" ]
NODE_PATH=$modules BIGTABLE_EMULATOR_HOST=$address \
	METADATA_SERVER_DETECTION=none \
	timeout $((300 * ${SLOW:-1})) node "$wire_tests/node.js" >told 2>&1
check "it comes to its end" [ $? = 0 ]
while read -r verdict text; do
	case $verdict in
	passed) pass ;;
	FAILED) fail "$text" ;;
	*) echo "$verdict $text" ;;
	esac
done <told
check "with as many checks as it has" [ "$passed" -gt 100 ]
check "the server ends" stop
check "and the store is sound" "$TABLETFS" -store "$store" check >/dev/null
