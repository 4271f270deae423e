#!/bin/bash
# The cases of tests/cases, and of the corpus if it is there, by paths: what the
# conformance runner asks of the C interface is asked of a mount.
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/lib.sh"
start_mount || exit 1

# run DIRECTORY COMPARED LEFT_OUT: at least and at most so many operations.
run() {
	local result counts
	result=$(python3 "$tests/cases.py" "$m" "$1")
	printf '%s\n' "$result"
	set -- "$1" "$2" "$3" $(printf '%s\n' "$result" | tail -n 1 |
		tr -c '0-9\n' ' ')
	same "$1: cases that failed" 0 "$6"
	check "$1: operations compared" [ "$7" -ge "$2" ]
	check "$1: operations left out" [ "$8" -le "$3" ]
	passed=$((passed + $7))
}

run "$tests/../cases" 380 15
[ ! -d "$tests/../../../shared/oracle/cases" ] ||
	run "$tests/../../../shared/oracle/cases" 2150 20
