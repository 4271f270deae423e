#!/bin/bash
# What was typed to Google's cbt, typed to tabletfs: it prints the same, but for
# the differences that tests/transcripts names.
transcripts=$(cd "$(dirname "$0")/../transcripts" && pwd)
. "$(dirname "$0")/lib.sh"

result=$(python3 "$transcripts/run.py" tabletfs \
	"$TABLETFS" "$transcripts"/*.txt)
printf '%s\n' "$result" | sed '$d'
set -- $(printf '%s\n' "$result" | tail -n 1)
passed=$((passed + $1)) failed=$((failed + $3))
check "all of them ran" [ "$1" -gt 300 ]
