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
