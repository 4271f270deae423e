#!/bin/bash
# Commands, imports and mounts beside others of their kind: each meets its own
# store, runs as it was said, hears its own report, and waits for what ends.
. "$(dirname "$0")/lib.sh"

on() {
	local store=$1
	shift
	"$TABLETFS" -store "$store" "$@"
}

# A daemon whose mount was taken away goes on while a file of it is open. What
# is mounted there next is another store, which no command for the first meets.
start_mount || exit 1
mkdir -p "$m/users/alice/f"
echo A >"$m/users/alice/f/q"
exec 7<"$m/users/alice/f/q"
fusermount3 -uz "$m"
first=$daemon
"$TABLETFS" mount "$work/other" "$m"
other=$(sed -n 's/pid \([0-9]*\),.*/\1/p' "$work/other/lock")
mkdir -p "$m/users/bob/f"
echo B >"$m/users/bob/f/q"
printf '{"row":"x","set":{"f":{"q":"1"}}}\n' >rows.jsonl
for verb in "deleteallrows users" "import users rows.jsonl" "ls"; do
	refuse "not on another's store: $verb" on "$store" $verb
done
same "which is as it was" bob "$(ls "$m/users")"
on "$store" ls 2>message
check "why: $(cat message)" grep -q "pid $first" message
check "its own is told apart" on "$work/other" count users
exec 7<&-
daemon=$first await_end
same "its own store has all" alice "$(on "$store" read users | sed -n 2p)"
"$TABLETFS" umount "$m"
daemon=$other await_end

# Who comes when a daemon is about to end waits for it.
for i in 1 2 3 4 5 6; do
	start_mount || fail "mount after umount $i"
	umount "$m"
	case $i in
	1 | 2) check "mount waits" start_mount && umount "$m" ;;
	3 | 4) check "a command waits" on "$store" count users ;;
	*)
		fusermount3 -u "$m" 2>/dev/null
		check "mount of another waits" "$TABLETFS" mount "$store" "$m"
		umount "$m"
		;;
	esac
done
check "until it has ended" on "$store" count users
daemon=

# A request that is more than the kernel takes at once: all of it, or nothing.
start_mount
on "$store" createtable t families=f
# The pid in the line is one of another namespace: the place is no less its own.
line=$(head -n 1 "$store/lock")
printf '%s\n%s\n' "$line" "00000000-0000-0000-0000-000000000000 1 2 3 4" \
	>"$store/lock"
same "who is in another container is reached" "t users" \
	"$(on "$store" ls | xargs)"
check "long requests" python3 - "$m/.tabletfs/ctl" <<'PYTHON'
import errno, os, sys


def run(words, framed=True, cut=0):
    text = b"".join(w + b"\0" for w in words)
    if framed:
        text = b"w%d\n" % len(text) + text
    fd = os.open(sys.argv[1], os.O_RDWR)
    try:
        os.write(fd, text[:len(text) - cut])
        return os.pread(fd, 1 << 20, 0)
    finally:
        os.close(fd)


def count():
    return run([b"count", b"t"]).split(b"\n")[1]


run([b"set", b"t", b"r", b"f:q=1"])
assert count() == b"1", count()
# The kernel's first piece ends with a NUL: by itself it is a shorter command.
words = [b"deleterow", b"t", b"r", b"app-profile=", b"y" * 1000]
size = sum(len(w) + 1 for w in words) + (1 << 20)
words[3] += b"x" * ((1 << 20) - len(b"w%d\n" % size) -
                    sum(len(w) + 1 for w in words[:4]))
run(words)
assert count() == b"1", "a part of a request ran"
piece = b"app-profile=" + b"x" * (100 << 10)
reply = run([b"set", b"t", b"s", b"f:q=1"] + [piece] * 20)
assert reply.endswith(b"x 0\n"), reply
assert count() == b"2", count()
for framed, cut in (False, 0), (True, 1):
    try:
        reply = run([b"deleterow", b"t", b"r"], framed, cut)
        assert not reply, reply
    except OSError as e:
        assert e.errno == errno.EINVAL, e
    assert count() == b"2", "a request without its end ran"
PYTHON

# Two imports into one table: each command hears what became of its own.
for i in $(seq 200); do
	printf '{"row":"good%s","set":{"f":{"q":"1"}}}\n' "$i"
done >good.jsonl
sed 's/"f"/"none"/' good.jsonl >bad.jsonl
wrong=0
for i in 1 2 3 4 5 6 7 8; do
	on "$store" import t bad.jsonl 2>bad.out &
	bad=$!
	on "$store" import t good.jsonl 2>good.out &
	good=$!
	wait $bad && wrong=$((wrong + 1))
	wait $good || wrong=$((wrong + 1))
	grep -q "refused lines: 200" bad.out || wrong=$((wrong + 1))
	grep -q "Done importing 200 rows" good.out || wrong=$((wrong + 1))
done
same "reports that were another's" 0 $wrong
check "a file of .import tells how its own import went" \
	python3 - "$m/t/.import/jsonl" <<'PYTHON'
import errno, os, sys
line = b'{"row":"%s","set":{"f":{"q":"1"}}}\n'
one = os.open(sys.argv[1], os.O_RDWR)
two = os.open(sys.argv[1], os.O_RDWR)
os.write(one, line % b"a")
os.write(two, line % b"b" + line % b"c")
os.fsync(one)
os.fsync(two)
assert b"\nrows 1\n" in os.pread(one, 4096, 0), os.pread(one, 4096, 0)
assert b"\nrows 2\n" in os.pread(two, 4096, 0)
os.close(one)
assert b"\nstate running\n" in os.pread(two, 4096, 0)
try:
    os.open(sys.argv[1], os.O_RDONLY)
    sys.exit("an import was begun to be read only")
except OSError as e:
    assert e.errno == errno.EACCES, e
PYTHON
printf '{"row":"last","set":{"f":{"q":"1"}}}' >no-newline.jsonl
on "$store" import t no-newline.jsonl 2>out
same "a last line without newline" "Done importing 1 rows." "$(cat out)"

# A store that was moved while it is mounted, and another one at its path: a
# command for the place of the mount is for the one that is mounted there.
stop_mount
mkdir one two
for name in one two; do
	"$TABLETFS" mount "$work/moved" "$work/$name"
	mkdir -p "$name/t/$name/f"
	echo "$name" >"$name/t/$name/f/a"
	[ $name = two ] || mv moved moved.old
	if [ $name = one ]; then
		same "it is found where it is" one "$(on one read t | sed -n 2p)"
		check "and told that it is: $("$TABLETFS" mounts)" \
			grep -q "pid .* still serves it here" <("$TABLETFS" mounts)
	fi
done
on one deleteallrows t
same "its rows go" "" "$(ls one/t)"
same "and not those of the other" two "$(cat two/t/two/f/a)"
on one createtable u families=f
check "nor has it the new table" [ -d one/u ]
refuse "where it is not" test -e two/u
check "it ends, whatever the other does" timeout 20 "$TABLETFS" umount one
check "and that one goes on" test -d two/t
"$TABLETFS" umount two
same "all is where it was put" u "$(on moved.old ls | sed -n '$p' | cut -f 1)"
