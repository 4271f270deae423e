#!/bin/bash
# The system tests of Google's client for Node, from its repository, beside
# tabletfs serve. They are not here: NODEJS_BIGTABLE=DIR is a checkout of
# github.com/googleapis/nodejs-bigtable, v6.5.0, compiled (npm install; npm run
# compile). system-test.names has each test and whether it is to pass.
wire_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$wire_tests/../.." && pwd)/build/tabletfs}
. "$wire_tests/../lib.sh"
store=$work/store
. "$wire_tests/../fs/serve.sh"

at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

[ -n "${NODEJS_BIGTABLE:-}" ] ||
	skip_all "NODEJS_BIGTABLE does not tell of the tests of the client for Node"
mocha=$NODEJS_BIGTABLE/node_modules/.bin/mocha
tests=$NODEJS_BIGTABLE/build/system-test
[ -x "$mocha" ] && [ -d "$tests" ] || skip_all "$tests has not been compiled"

serve
check "it says where" [ -n "$address" ]
export BIGTABLE_EMULATOR_HOST=$address GOOGLE_CLOUD_PROJECT=p GCLOUD_PROJECT=p
export METADATA_SERVER_DETECTION=none
for file in bigtable mutate-rows read-rows read-rows-acceptance-tests \
	app-profile cluster; do
	(cd "$NODEJS_BIGTABLE" && timeout $((600 * ${SLOW:-1})) "$mocha" --exit \
		--timeout $((30000 * ${SLOW:-1})) --reporter json \
		--reporter-option "output=$work/$file.json" \
		"$tests/$file.js" >"$work/$file.log" 2>&1)
	check "$file ran" [ -s "$file.json" ]
done
python3 - ./*.json <<'PYTHON' | sort >passed
import json
import sys

for path in sys.argv[1:]:
    for test in json.load(open(path))["passes"]:
        print(" ".join(test["fullTitle"].split()))
PYTHON
sed -n 's/^passes //p' "$wire_tests/system-test.names" | sort >wanted
passed=$((passed + $(comm -12 wanted passed | wc -l)))
while read -r name; do
	fail "$name does not pass"
done < <(comm -23 wanted passed)
while read -r name; do
	fail "$name passes: system-test.names does not know"
done < <(comm -13 wanted passed)
check "the server ends" stop
