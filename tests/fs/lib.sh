# For tests/fs/t*.sh: a store and a mount in a temporary directory, both gone
# when the script ends, and counted checks. Source it; it leaves the shell in
# the mount point's parent, $work.
#
#   $work  temporary directory    $store  the store    $m  the mount point
set -u
TABLETFS=${TABLETFS:-$(cd "$(dirname "$0")/../.." && pwd)/build/tabletfs}
# For fails.py.
export PYTHONPATH="$(cd "$(dirname "$0")" && pwd)" PYTHONDONTWRITEBYTECODE=1
passed=0 failed=0 skipped=0 daemon=
work=$(mktemp -d "${TMPDIR:-/tmp}/tabletfs-test.XXXXXX") || exit 1
store=$work/store m=$work/mnt
mkdir "$m"
cd "$work" || exit 1

if [ ! -w /dev/fuse ] || ! command -v fusermount3 >/dev/null; then
	echo "0 passed, 0 failed, 1 skipped"
	rmdir "$m" && cd / && rm -rf "$work"
	trap - EXIT
	exit 77
fi

finish() {
	local status=$?
	trap - EXIT INT TERM
	cd /
	stop_mount 2>/dev/null
	rm -rf "$work"
	[ "$status" = 0 ] || failed=$((failed + 1))
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}
trap finish EXIT
trap 'exit 130' INT TERM

# The daemon that serves $m, by the line that it leaves with the store.
find_daemon() {
	sed -n 's/.*pid \([0-9]*\), mounted at.*/\1/p' "$store/lock"
}

# Returns when it is served.
start_mount() {
	"$TABLETFS" mount "$@" "$store" "$m" || return 1
	daemon=$(find_daemon)
}

# Returns when the daemon has ended.
stop_mount() {
	mountpoint -q "$m" 2>/dev/null || [ -n "$daemon" ] || return 0
	fusermount3 -u "$m" 2>/dev/null || fusermount3 -uz "$m" 2>/dev/null
	await_end
}

# Waits until the daemon is no more.
await_end() {
	[ -z "$daemon" ] || python3 -c 'import os, select, sys
try:
    fd = os.pidfd_open(int(sys.argv[1]))
except ProcessLookupError:
    sys.exit()
select.select([fd], [], [])' "$daemon"
	daemon=
}

remount() {
	stop_mount
	start_mount "$@"
}

pass() {
	passed=$((passed + 1))
}

fail() {
	failed=$((failed + 1))
	echo "FAILED: $*" >&2
}

# check TEXT COMMAND...: the command must succeed.
check() {
	local text=$1
	shift
	if "$@"; then pass; else fail "$text: $*"; fi
}

# refuse TEXT COMMAND...: the command must fail.
refuse() {
	local text=$1
	shift
	if "$@" 2>/dev/null; then fail "$text: $* succeeded"; else pass; fi
}

# same TEXT EXPECTED ACTUAL: two strings must be equal.
same() {
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1: expected $(printf %q "$2"), got $(printf %q "$3")"
	fi
}

# errno NAME COMMAND...: the command must fail and say what NAME stands for.
errno() {
	local name=$1 text out
	shift
	text=$(python3 -c "import errno, os, sys
print(os.strerror(getattr(errno, sys.argv[1])))" "$name")
	if out=$("$@" 2>&1); then
		fail "$* succeeded, not $name"
	else
		case $out in
		*"$text"*) pass ;;
		*) fail "$*: $out, not $name" ;;
		esac
	fi
}

# How many versions a cell has: versions TABLE/ROW/FAMILY QUALIFIER.
versions() {
	ls "$m/$1/.versions/$2" 2>/dev/null | wc -l
}
