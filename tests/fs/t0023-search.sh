#!/bin/bash
# Programs that look through a tree, follow a file, or run many at a time.
. "$(dirname "$0")/lib.sh"
start_mount -o gc=never || exit 1
for r in alice bob carol; do
	mkdir -p "src/$r/info" "src/$r/log"
	echo "name $r" >"src/$r/info/name"
	seq 1000 >"src/$r/log/numbers"
done
mkdir "$m/t"
cp -r src/. "$m/t/"

same "find" 6 "$(find "$m/t" -type f | wc -l)"
same "find of directories" 10 "$(find "$m/t" -type d | wc -l)"
same "find -name" "$m/t/bob/info/name" \
	"$(find "$m/t" -path '*bob*' -name 'n*e')"
same "find -size" 3 "$(find "$m/t" -type f -size +1k | wc -l)"
same "find -empty" "" "$(find "$m/t" -empty)"
touch -d 2001-02-03 mark
find "$m/t" -type f -exec touch -d 2001-02-03 {} +
same "find -newer meets none" "" "$(find "$m/t" -type f -newer mark)"
echo x >"$m/t/bob/info/name"
same "find -newer" "$m/t/bob/info/name" "$(find "$m/t" -type f -newer mark)"
same "find -mmin" "$m/t/bob/info/name" "$(find "$m/t" -type f -mmin -9)"
same "find -delete" "$m/t/carol/log/numbers" \
	"$(find "$m/t/carol/log" -type f -print -delete)"
check "find -delete of directories" find "$m/t/carol" -delete
same "nothing of the row is left" "alice bob" "$(ls "$m/t" | xargs)"
rm -rf src/carol
cp "$m/t/bob/info/name" src/bob/info/name

same "grep -r" "$m/t/alice/info/name" "$(grep -rl 'name alice' "$m/t")"
same "grep -c" 2 "$(grep -rc '^99' "$m/t" | grep -c ':11$')"
same "grep that finds nothing" "1" "$(grep -rq absent "$m/t"; echo $?)"
same "wc" "$(cat src/*/*/* | wc)" "$(cat "$m/t"/*/*/* | wc)"
same "cksum" "$(cd src && find . -type f | sort | xargs cksum)" \
	"$(cd "$m/t" && find . -type f | sort | xargs cksum)"

same "du -b of files" "$(cd src && find . -type f -print0 |
	du -bc --files0-from=- | tail -1)" "$(cd "$m/t" &&
	find . -type f -print0 | du -bc --files0-from=- | tail -1)"
check "du of all" sh -c "du -s '$m' >du && [ \$(cut -f1 du) -ge 8 ]"
same "df tells the space below the store" \
	"$(stat -f -c '%S %b' "$work")" "$(stat -f -c '%S %b' "$m")"
same "df" "$m" "$(df --output=target "$m" | tail -1)"
check "df -i" sh -c "df -i '$m' >/dev/null"

# What was is beside what is.
sleep_us() { python3 -c 'import sys, time
while time.time() * 1e6 <= float(sys.argv[1]): pass' "$1"; }
then=$(($(date +%s%N) / 1000 + 1))
sleep_us "$then"
check "diff -r of then and now finds nothing" diff -r "$m/t/.at/$then" "$m/t"
echo changed >"$m/t/bob/info/name"
mkdir -p "$m/t/dan/info"
echo new >"$m/t/dan/info/name"
diff -r "$m/t/.at/$then" "$m/t" >changes
same "diff -r finds what changed" 1 $?
same "which is" "1c1
< x
---
> changed
Only in $m/t: dan" "$(grep -v '^diff' changes)"
check "diff -r of the past and what was copied" diff -r "$m/t/.at/$then" src
check "cp -a out of the past" cp -a "$m/t/.at/$then" past
check "its result" diff -r src past
check "tar of the past" sh -c \
	"tar -C '$m/t/.at/$then' -c . | tar -C src -d 2>&1 | grep -c Contents"' \
	| grep -qx 0'

# A program that follows a file sees each line when it has been appended.
f=$m/t/dan/info/follow
: >"$f"
mkfifo lines
timeout 60 tail -n +1 -s 0.01 -f "$f" >lines &
tail=$!
exec 3<lines
for i in 1 2 3 4 5; do
	echo "line $i" >>"$f"
	IFS= read -r -t 30 line <&3
	same "tail -f during appends" "line $i" "$line"
done
(for i in 6 7; do echo "line $i"; done) >>"$f"
IFS= read -r -t 30 line <&3
IFS= read -r -t 30 line <&3
same "tail -f of one that stays open" "line 7" "$line"
kill "$tail"
wait "$tail" 2>/dev/null
exec 3<&-
same "each append is a version" 7 "$(versions t/dan/info follow)"

# Many that append to one file: all that each wrote, once, in its order.
: >"$f"
check "xargs -P8 with appends" sh -c \
	"seq 400 | xargs -P8 -I{} sh -c 'echo line {} >>$f'"
check "none was lost" cmp <(seq -f 'line %g' 400 | sort) <(sort "$f")
: >"$f"
check "xargs -P8, of more lines each" sh -c \
	"seq 8 | xargs -P8 -I{} sh -c 'for i in \$(seq 100); do
		echo {} \$i; done >>$f'"
check "none was lost" cmp <(for w in $(seq 8); do seq -f "$w %g" 100; done |
	sort) <(sort "$f")
for w in $(seq 8); do
	check "in the order of each" cmp <(seq -f "$w %g" 100) \
		<(grep "^$w " "$f")
done

# With locks, even those who read and write back.
echo 0 >"$f"
check "flock" sh -c "seq 100 | xargs -P8 -I{} flock '$f' sh -c \
	'n=\$(cat $f); echo \$((n + 1)) >$f'"
same "no addition was lost" 100 "$(cat "$f")"
exec 4>>"$f"
flock 4
refuse "flock -n of one who is locked out" flock -n "$f" true
flock -u 4
check "then he has it" flock -n "$f" true
exec 4>&-
check "locks of byte ranges" python3 - "$f" <<'PYTHON'
import fcntl, os, sys
f = open(sys.argv[1], "r+b")
fcntl.lockf(f, fcntl.LOCK_EX, 10, 0)
pid = os.fork()
if pid == 0:
    g = open(sys.argv[1], "r+b")
    fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
    try:
        fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
    except BlockingIOError:
        os._exit(0)
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
PYTHON
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
