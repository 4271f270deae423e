#!/bin/bash
# Ways past a quota: what is not whole yet, what moves, what is made beside data.
# A used up quota refuses each, and what was there stays; what only removes goes on.
#
# Waits: for what was deleted to come back by itself.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

start_mount -o quota=4M || exit 1
# Which would give way.
T history off
mkdir -p "$m/t/r/f" "$m/t/s/f" "$m/u/.schema/f"
head -c 60000 /dev/urandom >"$m/t/r/f/a"
head -c 60000 /dev/urandom >"$m/t/r/f/b"
echo 'key {k}' >recipe
echo 'set f:v {v}' >>recipe
cp recipe "$m/t/.recipes/one"

# A part of a line, without its end: two writers have no more room than one.
cat >parts.py <<'PYTHON'
import os, sys
def fill(fd):
    part, n = b'{"row":"l","set":{"f":{"v":"', 0
    try:
        while n < 64:
            os.write(fd, part)
            part, n = b"x" * (128 << 10), n + 1
    except OSError as e:
        assert e.errno == 28, e
    return n / 8
first, second = (os.open(name, os.O_WRONLY) for name in sys.argv[1:])
n = fill(first)
assert 2 <= n <= 4, "%s MiB of one line" % n
n = fill(second)
assert n <= 2, "%s MiB of another beside it" % n
for fd in first, second:
    try:
        os.close(fd)
    except OSError as e:
        assert e.errno == 22, e
PYTHON
mkdir -p "$m/t/l"
check "parts of lines of .mutate" python3 parts.py "$m/t/.mutate" "$m/u/.mutate"
check "and of .row.jsonl" python3 parts.py "$m/t/l/.row.jsonl" "$m/t/.mutate"
{
	printf '{"row":"l","set":{"f":{"v":"'
	head -c 2000000 /dev/zero | tr '\0' x
	echo '"}}}'
} >long
check "are room again" cp long "$m/t/.mutate"
"$TABLETFS" -store "$store" deleterow t l >/dev/null
"$TABLETFS" -store "$store" compact

head -c 1000000 /dev/urandom >noise
for i in $(seq 9); do
	cp noise "$m/t/s/f/n$i" 2>/dev/null || break
done
# What is left, of which a flush makes some by itself, and what a refusal has
# looked for comes a moment later: until nothing does.
fill() {
	local times=0 tries=0 size
	until [ $times = 3 ] || [ $((tries++)) = 50 ]; do
		for size in 60000 10000 1000 100 1; do
			for i in $(seq $((i + 1)) $((i + 1000))); do
				head -c $size noise >"$m/t/s/f/n$i" || break
			done 2>/dev/null
		done
		sleep 0.2
		sh -c "echo 1 >'$m/t/s/f/little'" 2>/dev/null &&
			times=0 || times=$((times + 1))
	done
}
fill
check "it is used up" [ "$(stat -f -c %a "$m")" -le 8 ]

# What is there may be moved, but not again and again: that is refused, or on a
# slow machine what it leaves comes back meanwhile.
refused_or_back() {
	grep -q "No space left" err || [ "$(store_size)" -le 5 ]
}
check "a row moves" mv "$m/t/r" "$m/t/q"
check "and back" mv "$m/t/q" "$m/t/r"
check "a cell moves" mv "$m/t/r/f/a" "$m/t/r/f/c"
check "and back" mv "$m/t/r/f/c" "$m/t/r/f/a"
check "a time is set" touch -d 2020-01-01 "$m/t/r/f/a"
moves=0
while mv "$m/t/r" "$m/t/q" 2>err && mv "$m/t/q" "$m/t/r" 2>err; do
	moves=$((moves + 1))
	[ $moves -lt 100 ] || break
done
check "not for ever: $moves" refused_or_back
row=r
[ -d "$m/t/r" ] || row=q
check "the row stays" cmp -s <(ls "$m/t/$row/f") <(printf 'a\nb\n')
for i in $(seq 100); do
	touch -d "2020-01-01 +$i min" "$m/t/$row/f/a" 2>err || break
done
check "nor get times: $i" refused_or_back
# refuses_dir NAME: made nowhere while there is no room.
refuses_dir() {
	for try in $(seq 20); do
		fill
		mkdir "$m/$1" 2>err || break
		rmdir "$m/$1" 2>/dev/null
	done
	check "$1 is not made: $(cat err)" grep -q "No space left" err
}
refuses_dir new
refuses_dir "t/$row/new"
refuses_dir t/.schema/another
for try in $(seq 20); do
	fill
	cp recipe "$m/t/.recipes/two" 2>err || break
	rm "$m/t/.recipes/two"
done
check "nor is a recipe: $(cat err)" grep -q "No space left" err
for try in $(seq 20); do
	fill
	cat "$m/t/.recipes/one" >before
	cat recipe 2>err >>"$m/t/.recipes/one" || break
done
check "nor does one grow: $(cat err)" grep -q "No space left" err
check "it stays as it was" cmp before "$m/t/.recipes/one"
check "and each is told" grep -q 'the quota of 4194304 bytes is used up' \
	"$m/.tabletfs/errors"
check "a table's name changes alone" mv "$m/u" "$m/w"

python3 - "$m/t/.mutate" <<'PYTHON'
import json, sys
with open(sys.argv[1], "wb", buffering=0) as f:
    f.write((json.dumps({"row": "s", "mutations": [
        {"delete": {"f": ["n%d" % i for i in range(60000)]}}]}) +
        "\n").encode())
PYTHON
same "what only removes, in one long line, is taken" 0 $?
"$TABLETFS" -store "$store" compact
[ $row = q ] || check "then there is room" mv "$m/t/r" "$m/t/q"
check "for all of it" mv "$m/t/q/f/a" "$m/t/q/f/c"
check "again" touch -d 2020-01-01 "$m/t/q/f/c"
check "and a recipe" cp recipe "$m/t/.recipes/two"
stop_mount
start_mount -o quota=16397105843297379215
check "a quota whose eighth wraps around has room beyond it" mv "$m/t/q/f/c" "$m/t/q/f/a"
stop_mount
check "the store is whole" T check >/dev/null

# History gives way before a write is refused: of a large value that is written
# in part again and again, what was at the seconds that went by would be more
# than there is room for.
store=$work/past
start_mount -o quota=100M || exit 1
mkdir -p "$m/t/.schema/f" && echo maxversions=1 >"$m/t/.schema/f/gc"
mkdir -p "$m/t/r/f" && head -c 20000000 /dev/urandom >"$m/t/r/f/v"
refused=0
for i in $(seq 30); do
	dd if=/dev/urandom of="$m/t/r/f/v" bs=1M count=6 seek=$((i * 6 % 14)) \
		conv=notrunc status=none 2>err || refused=$((refused + 1))
	sleep 0.3
done
check "few of 30 writes are refused while history could go: $refused" \
	[ $refused -le 3 ]
check "since it went" grep -q " history_lost " "$store/LOG"
check "which history tells" grep -q '^lost 20.*Z$' <(T history)
check "and figures" grep -q '^history_lost_us [1-9]' "$m/.tabletfs/stats"
# Where no moment has come since, that is the first thing that is told.
status 1 "a table of then" T undelete never
told "was given up for lack of room"
for i in 1 2; do
	mkdir -p "$m/t/r$i/f"
	check "a copy finds room: $i" cp "$m/t/r/f/v" "$m/t/r$i/f/v"
done
# As fast as it goes, each as large as a seventh of the quota.
head -c 15000000 /dev/urandom >noise
for how in rm true; do
	refused=0
	for i in $(seq 8); do
		cp noise "$m/t/r/f/v" 2>err || refused=$((refused + 1))
		$how "$m/t/r/f/v"
	done
	same "none is refused that follows at once: $how" 0 "$refused"
done
stop_mount
check "this store is whole" T check

# What is written over and over is a third of the quota at any time.
store=$work/over
start_mount -o quota=12M || exit 1
T createtable t families=f:maxversions=1
check "no write is refused while what was written over could go" \
	python3 "$here/over.py" "$m/t" 8
stop_mount
check "and this one" T check
finish
