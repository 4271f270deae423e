# For test scripts: packages of npm. Source it behind lib.sh.

# npm_package NAME@VERSION: has it, with what it needs, in a directory of its own
# below build/npm and puts that into modules. It is fetched once; where that
# cannot be, as without network, it returns 1.
npm_package() {
	local name=${1//[@\/]/-} prefix
	prefix=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/npm/${name#-}
	modules=$prefix/node_modules
	command -v node >/dev/null && command -v npm >/dev/null || return 1
	[ -e "$prefix/whole" ] || {
		mkdir -p "$prefix" &&
			timeout $((300 * ${SLOW:-1})) npm install --no-audit \
				--no-fund --loglevel=error --prefix "$prefix" \
				"$1" >/dev/null 2>&1 &&
			touch "$prefix/whole"
	}
}
