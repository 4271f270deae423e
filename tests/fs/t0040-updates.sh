#!/bin/bash
# Mutations that depend on what is there, through .mutate and .row.jsonl.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" "$m/t/.schema/lock"

mutate() {
	printf '%s\n' "$@" >lines
	cp lines "$m/t/.mutate"
}
claim='{"row": "r", "if": {"family": "lock", "qualifier": "owner",
"absent": true}, "set": {"lock": {"owner": "w7"}}}'
claim=$(echo $claim)

check "a claim" mutate "$claim"
same "is taken" w7 "$(cat "$m/t/r/lock/owner")"
errno EINVAL mutate "${claim/w7/w8}"
same "only once" w7 "$(cat "$m/t/r/lock/owner")"
check "append and increment" mutate \
	'{"row": "r", "append": {"f": {"line": "x"}}, "increment": {"f": {"n": 5}}}' \
	'{"row": "r", "append": {"f": {"line": "y"}}, "increment": {"f": {"n": -3}}}'
same "appended" xy "$(cat "$m/t/r/f/line")"
same "incremented" 0000000000000002 "$(xxd -p "$m/t/r/f/n")"
printf '%s\n' '{"if": {"family": "f", "qualifier": "line", "equals": "xy"},
"mutations": [{"set": {"f": {"line": "z"}}}, {"append": {"f": {"line": "!"}}}],
"else": {"delete": true}}' >row
check "a row's own" cp row "$m/t/r/.row.jsonl"
same "in order" 'z!' "$(cat "$m/t/r/f/line")"
check "the other branch" cp row "$m/t/r/.row.jsonl"
refuse "deletes" test -e "$m/t/r"

# Eight writers at once: none loses what another does.
for i in 1 2 3 4 5 6 7 8; do
	(for j in $(seq 20); do
		echo '{"row": "c", "increment": {"f": {"n": 1}}}'
	done) >"add$i"
done
jobs=
for i in 1 2 3 4 5 6 7 8; do
	cp "add$i" "$m/t/.mutate" &
	jobs="$jobs $!"
done
for job in $jobs; do
	check "a writer" wait "$job"
done
same "all counted" 00000000000000a0 "$(xxd -p "$m/t/c/f/n")"

# Filters as conditions, and in a path.
check "a filter that holds" mutate '{"row": "q", "set": {"f": {"a": "1"}}}' \
	'{"row": "q", "if": {"filter": "chain(family_name_regex('"'f'"'), value_regex('"'1'"'))"}, "set": {"f": {"b": "2"}}}'
same "is done" 2 "$(cat "$m/t/q/f/b")"
errno EINVAL mutate \
	'{"row": "q", "if": {"filter": "value_regex('"'no'"')"}, "set": {"f": {"c": "3"}}}'
errno EINVAL mutate '{"row": "q", "if": {"filter": "nonsense"}, "set": {"f": {"c": "3"}}}'
refuse "which changed nothing" test -e "$m/t/q/f/c"
scan=$m/t/.scan/prefix/q/filter
same "a filter in a path" "2" "$(cat "$scan/column_qualifier_regex('b')/csv" |
	tail -n +2 | cut -d, -f5)"
same "and its rows" "q" "$(ls "$scan/value_regex('2')/rows")"
same "none" "0" "$(cat "$scan/value_regex('3')/count")"
errno ENOENT cat "$scan/value_regex(/count"
check "with the reason" grep -q "string in quotes" "$m/.tabletfs/errors"

# The same by verbs, mounted.
export TABLETFS_STORE=$store
check "mutate" "$TABLETFS" mutate t '{"row": "v", "set": {"f": {"n": "1"}}}' \
	'{"row": "v", "append": {"f": {"n": "2"}}}'
same "both" 12 "$(cat "$m/t/v/f/n")"
refuse "one whose condition does not hold" "$TABLETFS" mutate t \
	'{"row": "v", "if": {"absent": true}, "set": {"f": {"n": "3"}}}'
check "deleterows" "$TABLETFS" deleterows t start=q end=r
refuse "deletes them" test -e "$m/t/q"
check "and no others" test -e "$m/t/v"
refuse "an empty prefix" "$TABLETFS" deleterows t prefix=
