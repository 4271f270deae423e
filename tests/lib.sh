# For test scripts: a temporary directory, which is gone when the script ends,
# and counted checks, whose sum is the last line. Source it; it leaves the shell
# in the directory, $work. A script may define at_end, which runs before that.
#
# Debian's own programs come first, whose packages the suites name. A python3 of
# pyenv is a shell script that takes eight times as long to begin.
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
passed=0 failed=0 skipped=0
work=$(mktemp -d "${TMPDIR:-/tmp}/tabletfs-test.XXXXXX") || exit 1
cd "$work" || exit 1

at_end() {
	:
}

# A child that a signal meets before it has forgotten the traps has nothing to
# clean up.
finish() {
	local status=$?
	[ "$BASHPID" = $$ ] || exit
	trap - EXIT INT TERM
	cd /
	at_end
	rm -rf "$work"
	[ "$status" = 0 ] || [ "$status" = 77 ] || failed=$((failed + 1))
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] || exit 1
	exit $((status == 77 ? 77 : 0))
}
trap finish EXIT
trap 'exit 130' INT TERM

# skip_all WHY: ends the script, as one test that could not run.
skip_all() {
	echo "skipped: $*"
	skipped=1
	exit 77
}

# skip WHY: one check that could not run.
skip() {
	echo "skipped: $*"
	skipped=$((skipped + 1))
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
