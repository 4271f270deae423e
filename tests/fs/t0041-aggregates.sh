#!/bin/bash
# Files of aggregate families: what is written is added.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/views" "$m/t/.schema/low" "$m/t/.schema/who" \
	"$m/t/.schema/plain"
echo intsum >"$m/t/.schema/views/type"
echo intmin >"$m/t/.schema/low/type"
echo inthll >"$m/t/.schema/who/type"
mkdir -p "$m/t/r/plain"
echo x >"$m/t/r/plain/x"
v=$m/t/r/views
mkdir "$v" "$m/t/r/low" "$m/t/r/who"

echo 1 >"$v/today"
same "a first number" 1 "$(cat "$v/today")"
echo 2 >"$v/today"
same "adds" 3 "$(cat "$v/today")"
printf '10\n20\n-4' >>"$v/today"
same "a line each" 29 "$(cat "$v/today")"
same "its size" 3 "$(stat -c %s "$v/today")"
same "as listed" today "$(ls "$v")"
same "one version" 1 "$(versions t/r/views today)"
same "which reads so too" 29 "$(cat "$v"/.versions/today/*)"
for i in 5 -7 6; do echo $i >"$m/t/r/low/q"; done
same "the least" -7 "$(cat "$m/t/r/low/q")"
seq 500 >"$m/t/r/who/q"
seq 300 600 >"$m/t/r/who/q"
same "different ones" 600 "$(cat "$m/t/r/who/q")"

echo intsum >type
errno ENOTEMPTY cp type "$m/t/.schema/plain/type"
same "values stay what they are" "bytes x" \
	"$(cat "$m/t/.schema/plain/type" "$m/t/r/plain/x" | xargs)"
check "why is told" grep -q 'family "plain" has cells' "$m/.tabletfs/errors"

printf '1\nmany\n5\n' >lines
errno EINVAL cp lines "$v/today"
same "up to a wrong line" 30 "$(cat "$v/today")"
check "the reason is told" grep -q 'many' "$m/.tabletfs/errors"
printf '010\n' >"$v/digits"
printf '+2\n' >"$v/digits"
same "decimal digits" 12 "$(cat "$v/digits")"
for wrong in 0x10 1_000 0b1 1e3 9223372036854775808; do
	echo "$wrong" >lines
	errno EINVAL cp lines "$v/digits"
	check "told: $wrong" grep -q "\"$wrong\" is no decimal" \
		"$m/.tabletfs/errors"
done
same "and nothing else" 12 "$(cat "$v/digits")"
check "a wrong line in pieces ends" python3 - "$v/digits" <<'PYTHON'
import errno, os, sys
from fails import fails

fd = os.open(sys.argv[1], os.O_WRONLY)
os.write(fd, b"1x")
fails(errno.EINVAL, os.write, fd, b"2\n")
os.write(fd, b"30\n")
os.write(fd, b"4" * 40)
fails(errno.EINVAL, os.write, fd, b"4" * 40)
os.write(fd, b"100\n")
os.close(fd)
PYTHON
same "what follows is added" 142 "$(cat "$v/digits")"
echo 9223372036854775807 >"$v/digits"
same "a sum wraps around" -9223372036854775667 "$(cat "$v/digits")"
rm "$v/digits"
refuse "an empty file is none" touch "$v/never"
refuse "and is gone" test -e "$v/never"
check "truncate is ignored" truncate -s 0 "$v/today"
same "it stays" 30 "$(cat "$v/today")"
check "a copy elsewhere" cp "$v/today" "$m/t/r/plain/copy"
same "is its text" 30 "$(cat "$m/t/r/plain/copy")"
echo 1 >"$v/other"
errno EPERM mv "$v/other" "$v/today"
check "a free name" mv "$v/other" "$v/another"
same "takes it along" 1 "$(cat "$v/another")"
check "a row" mv "$m/t/r" "$m/t/s"
same "takes all along" "30 1 -7 600" \
	"$(cd "$m/t/s" && cat views/today views/another low/q who/q | xargs)"
v=$m/t/s/views

# Eight writers at once lose nothing.
jobs=
for i in 1 2 3 4 5 6 7 8; do
	(for j in $(seq 25); do echo 1 >>"$v/count"; done) &
	jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
same "all counted" 200 "$(cat "$v/count")"

echo '{"row": "s", "add": {"views": {"today": 5, "then": {"value": 7,
"timestamp": 1000}}}, "set": {"plain": {"x": 1}}}' | tr -d '\n' >line
check "as JSON" cp line "$m/t/.mutate"
same "to the newest" 35 "$(cat "$v/today")"
same "to a time" 7 "$(cat "$v/.versions/then/1000")"
cat "$m/t/.scan/versions/all/jsonl" >all
mkdir "$m/u" "$m/u/.schema/views" "$m/u/.schema/low" "$m/u/.schema/who" \
	"$m/u/.schema/plain"
for f in views low who; do
	cat "$m/t/.schema/$f/type" >"$m/u/.schema/$f/type"
done
check "an export" cp all "$m/u/.import/jsonl"
same "comes back" "$(cat all)" "$(cat "$m/u/.scan/versions/all/jsonl")"
rm "$v/today"
refuse "removed" test -e "$v/today"
echo 4 >"$v/today"
same "begins anew" 4 "$(cat "$v/today")"
remount
same "and stays" 4 "$(cat "$v/today")"
