. "$fs_tests/../npm.sh"

# make_duckdb DIRECTORY: puts a program duckdb there, which takes -csv -c SQL,
# unless there is one. The npm package is fetched once, to build/npm; where that
# cannot be, as without network, it returns 1.
make_duckdb() {
	! command -v duckdb >/dev/null || return 0
	npm_package @duckdb/node-api@1.5.6-r.1 || return 1
	cat >"$1/duckdb" <<-END
		#!/bin/sh
		NODE_PATH=$modules exec node "$fs_tests/duckdb.js" "\$@"
	END
	chmod +x "$1/duckdb"
	"$1/duckdb" -csv -c 'select 1' >/dev/null 2>&1
}
