#!/bin/bash
# Runs every line of the blocks of tools/HACKING.md, at the top of the tree, as
# that page says. The lines of a block share a shell.
top=$(cd "$(dirname "$0")/../.." && pwd)
page=$top/tools/HACKING.md
. "$top/tests/lib.sh"
[ -z "${SAN:-}" ] || skip_all "what the page builds has no sanitizers, or its own"
[ -w /dev/fuse ] || skip_all "there is no FUSE"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL T SEED SAN V B TABLETFS
export TMPDIR=$work

at_end() {
	local mount
	grep -oF " $work/" /proc/mounts | grep -q . || return
	for mount in $(cut -d' ' -f2 /proc/mounts | grep -F "$work/"); do
		fusermount3 -uz "$mount"
	done
}

# skip WHY LINE
skip() {
	echo "skipped, $1: $2"
	skipped=$((skipped + 1))
}

# run LINE: here, since what it sets is there for the next one.
run() {
	local began=$SECONDS missing= list status
	list=$(expr "$1" : '.*# *\(tests/packages-[a-z-]*\)$')
	[ -z "$list" ] || missing=$(tools/install-packages -n "$list")
	[ -z "$missing" ] || { skip "missing:$missing" "$1"; return; }
	echo "\$ $1"
	eval "$1" >"$work/out" 2>&1 </dev/null
	status=$?
	tail -n 20 "$work/out"
	echo "exit status $status, $((SECONDS - began)) s"
	if grep -q 'ptrace.*Operation not permitted' "$work/out"; then
		skip "no process may be traced here" "$1"
	else
		same "$1" 0 $status
	fi
}

awk -v prefix="$work/block" '/^```/ { inside = /^```sh$/; n += inside; next }
	inside { print > sprintf("%s%02d", prefix, n) }' "$page"
for block in block*; do
	(
		set -o pipefail
		cd "$top" || exit 1
		while IFS= read -r line <&3; do
			run "$line"
		done 3<"$work/$block"
		echo "$passed $failed $skipped" >"$work/counts"
	)
	read -r passed failed skipped <counts
done
same "blocks of another kind" "" \
	"$(awk '/^```/ && inside { inside = 0; next }
		/^```/ { inside = 1; if (!/^```sh$/) print }
		/^(    |\t)/ && !inside' "$page")"
same "all lines ran" "$(cat block* | wc -l)" $((passed - 1 + failed + skipped))
