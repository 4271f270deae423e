#!/bin/bash
# Every command of the pages in tools/doc, each page in a directory of its own,
# prints what stands below it.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/duckdb.sh"
mkdir bin && ln -s "$TABLETFS" bin/tabletfs
export PATH=$work/bin:$PATH TZ=UTC
unset TABLETFS_STORE
make_duckdb "$work/bin" || rm -f "$work/bin/duckdb"
for page in "$fs_tests/../../tools/doc"/*.md; do
	name=$(basename "$page" .md)
	mkdir "$name"
	sums=$(cd "$name" && python3 "$fs_tests/book.py" "$page" 2>&1)
	grep -v "passed, " <<<"$sums" >&2
	passed=$((passed + $(sed -n '$s/ passed.*//p' <<<"$sums")))
	skipped=$((skipped + $(sed -n '$s/.*, \(.*\) skipped$/\1/p' <<<"$sums")))
	same "$name" "0 failed" "$(sed -n '$s/.*passed, \(.*\),.*/\1/p' <<<"$sums")"
	! mountpoint -q "$name/mnt" || fusermount3 -u "$name/mnt"
done
