#!/bin/bash
# What the Makefile offers to whoever works on the code: help, single suites,
# seeds, and the list of commands for editors.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL T SEED
run() {
	make -s -C "$top" "$@" 2>&1
}

# Every target that is not a file, and one line for each.
run help >help
for target in $(sed -n '/^\.PHONY/,/[^\\]$/p' "$top/Makefile" |
	sed 's/^\.PHONY://' | tr -d '\\'); do
	same "help on $target" 1 "$(grep -c "^  $target  *[^ ]" help)"
done
for variable in SAN T SEED; do
	same "help on $variable" 1 "$(grep -c "^  $variable=  *[^ ]" help)"
done
same "no line is too long" "" "$(awk 'length > 80' help)"

# suites MAKE-ARGUMENT...: those that make check runs then.
suites() {
	run check-built "$@" | sed -n 's/ *[0-9]* passed .*skipped *[0-9]*s$//p' |
		xargs
}
same "one suite" unit/test_wal "$(suites T=test_wal)"
same "several, by any part of a name" "unit/test_key unit/test_wal" \
	"$(suites T="t_wal unit/test_k")"
check "a name that nothing has" grep -q "no suite has a name with nothing" \
	<(run check-built T=nothing)
refuse "and that is an error" run check-built T=nothing >/dev/null

model=$top/${B:-build}/tests/log/sim_main_model.log
for seed in 7 8; do
	same "one seed" sim/main_model "$(suites T=main_model SEED=$seed)"
	cp "$model" "seed$seed"
	"$top/${B:-build}/tests/sim/main_model" -seed $seed >direct
	check "the one that was asked for" cmp direct "seed$seed"
done
refuse "which is not the other" cmp -s seed7 seed8

check "compile_commands.json" run compile_commands.json SAN=
check "each source is in it, once" cmp <(cd "$top" &&
	find store fs tools tests -name '*.c' | LC_ALL=C sort) \
	<(python3 -c 'import json, sys
print(*sorted(c["file"] for c in json.load(open(sys.argv[1]))), sep="\n")' \
	"$top/compile_commands.json")
# What tells the version needs a flag of its own.
check "its commands compile" python3 -c 'import json, shlex, subprocess, sys
for c in json.load(open(sys.argv[1])):
    source = open(c["directory"] + "/" + c["file"]).read()
    if "TABLETFS_VERSION" in source:
        subprocess.run(shlex.split(c["command"]) +
                       ["-fsyntax-only", "-MF", "/dev/null"],
                       check=True, cwd=c["directory"])' \
	"$top/compile_commands.json"
