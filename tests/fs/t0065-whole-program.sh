#!/bin/bash
# Programs that ask whether a file was replaced while they had it open: tail -F,
# log rotation, a lock that is a file. What has the name of an open file must
# have another inode number than that, in stat as in lists.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f" || exit 1
d=$m/t/r/f
follower= writer=
: >out
: >err

at_end() {
	kill $follower $writer 2>/dev/null
	stop_mount 2>/dev/null
}

# within WHAT COMMAND...: waits until it succeeds, for 10 s at most.
within() {
	local what=$1 i
	shift
	for ((i = 0; i < 200; i++)); do
		! "$@" || { pass; return; }
		sleep 0.05
	done
	fail "$what: $*; tail says: $(xargs <err)"
}

# shown TEXT: waits until the follower has printed that line.
shown() {
	within "tail shows $1" grep -qxF -- "$1" out
}

# follow OPTION...: begins to follow log by its name.
follow() {
	: >out # not what the last one has shown
	tail -s 0.05 -n +1 "$@" -F "$d/log" >out 2>err &
	follower=$!
}

unfollow() {
	kill $follower
	wait $follower 2>/dev/null
	follower=
}

# tail -F, told of changes and asking for them.
for option in "" ---disable-inotify; do
	echo one >"$d/log"
	follow $option
	shown one
	echo two >"$d/new"
	mv "$d/new" "$d/log"
	shown two
	echo three >>"$d/log"
	shown three
	rm "$d/log"
	echo four >"$d/log"
	shown four
	echo five >>"$d/log"
	shown five
	sed -i s/five/six/ "$d/log"
	shown six
	unfollow
	same "each line once $option" "one two three four five four six" \
		"$(xargs <out)"
	rm "$d/log"
done

# Log rotation beside a program that writes numbers to its log and opens it again
# when it is told to. It tells the number that its open log has.
cat >writer.py <<'PYTHON'
import os, signal, sys
path, told = sys.argv[1:]
fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
n = 0

def reopen(*_):
    global fd
    os.close(fd)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def write(*_):
    global n
    for _ in range(10):
        n += 1
        os.write(fd, b"%d\n" % n)
    with open(told + ".new", "w") as f:
        f.write(f"{n} {os.fstat(fd).st_ino}\n")
    os.rename(told + ".new", told)

signals = {signal.SIGHUP: reopen, signal.SIGUSR1: write}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
open(told, "w").close()
while True:
    signals[signal.sigwait(signals)]()
PYTHON

# Whether the writer has written all; then number is that of its log.
has_written() {
	read -r n number <told || true
	[ "${n:-}" = "$written" ]
}

# Has the writer write ten more, and waits for that.
write_unseen() {
	written=$((written + 10))
	kill -USR1 $writer
	within "the writer writes $written" has_written
}

# Whether tail has noted that many truncations.
has_noted() {
	[ "$(grep -c truncated err)" = "$1" ]
}

# And waits for tail to show them.
write_ten() {
	write_unseen
	shown $written
}

reopen() {
	kill -HUP $writer
}

begin_log() {
	rm -f "$d"/log* told
	written=0
	python3 writer.py "$d/log" told &
	writer=$!
	within "the writer begins" [ -e told ]
	follow
	write_ten
	same "the log's number, as it is open" "$number" "$(stat -c %i "$d/log")"
}

end_log() {
	unfollow
	kill $writer
	wait $writer 2>/dev/null
	writer=
}

# By rename and create; the program opens the new log.
begin_log
for i in 1 2 3; do
	mv "$d/log" "$d/log.$i"
	: >"$d/log"
	refuse "the new log has the old one's number" \
		[ "$(stat -c %i "$d/log")" = "$number" ]
	same "the old one keeps it" "$number" "$(stat -c %i "$d/log.$i")"
	reopen
	write_ten
done
end_log
same "rename and create: each line once" "$(seq 40)" "$(cat "$d"/log.? "$d/log")"
same "in tail as well" "$(seq 40)" "$(cat out)"

# By a copy; the file stays, and so does its number.
begin_log
for i in 1 2 3; do
	old=$number
	cp "$d/log" "$d/log.$i"
	truncate -s 0 "$d/log"
	# tail goes by the size, which may soon be larger than before.
	within "tail notes a truncation" has_noted $i
	write_ten
	same "copytruncate keeps the number" "$old" "$number"
done
end_log
same "copytruncate: each line once" "$(seq 40)" "$(cat "$d"/log.? "$d/log")"
same "in tail as well" "$(seq 40)" "$(cat out)"

# By rename, of a program that goes on writing to the old log for a while.
begin_log
old=$number
mv "$d/log" "$d/log.1"
: >"$d/log"
write_unseen
same "an open log keeps its number" "$old" "$number"
same "which is that of its new name" "$old" "$(stat -c %i "$d/log.1")"
same "it grows there" "$(seq 20)" "$(cat "$d/log.1")"
same "and not in the new log" "" "$(cat "$d/log")"
reopen
write_ten
end_log
same "rename: each line once" "$(seq 30)" "$(cat "$d/log.1" "$d/log")"

# A lock that is a file: whoever got it with flock looks if it is still the file
# of that name, and removes it in the end. Two at once would both add to the
# same number.
cat >locker.py <<'PYTHON'
import fcntl, os, sys
directory, count = sys.argv[1], sys.argv[2]
lock = directory + "/lock"

def acquire():
    while True:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(fd), os.stat(lock)):
                return fd
        except FileNotFoundError:
            pass
        os.close(fd)

for _ in range(200):
    fd = acquire()
    os.close(os.open(count + ".in", os.O_CREAT | os.O_EXCL))
    n = int(open(count).read())
    open(count, "w").write(str(n + 1))
    os.unlink(count + ".in")
    os.unlink(lock)
    os.close(fd)
PYTHON
echo 0 >count
python3 locker.py "$d" "$work/count" &
one=$!
check "a second process with the lock" python3 locker.py "$d" "$work/count"
check "and the first" wait $one
same "each was alone" 400 "$(cat count)"

# The rule itself.
cat >numbers.py <<'PYTHON'
import ctypes, fcntl, os, sys
import getdents
m = sys.argv[1]
f = m + "/t/numbers/f"
os.makedirs(f)
RENAME_EXCHANGE = 2
libc = ctypes.CDLL(None, use_errno=True)

def listed(directory):
    """By names, the numbers that a list shows, which must be those of stat;
    read with attributes, and, in small pieces, without them."""
    whole = {e.name: e.inode() for e in os.scandir(directory)}
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    small = {}
    while entries := getdents.numbers(fd, 64):
        small.update(entries)
    os.close(fd)
    for name, number in whole.items():
        assert small[os.fsencode(name)] == number, (name, small, whole)
        assert os.stat(directory + "/" + name).st_ino == number, name
    return whole

def number(name):
    n = os.stat(f + "/" + name).st_ino
    assert listed(f)[name] == n, name
    return n

def make(name):
    fd = os.open(f + "/" + name, os.O_RDWR | os.O_CREAT)
    os.write(fd, name.encode())
    os.fsync(fd)
    return fd

def ino(fd):
    return os.fstat(fd).st_ino

# Removed and made again, three times, all open.
fds = [make("a")]
first = ino(fds[0])
assert number("a") == first
for _ in range(3):
    os.unlink(f + "/a")
    fds.append(make("a"))
    assert number("a") == ino(fds[-1])
assert len(set(map(ino, fds))) == 4
assert ino(fds[0]) == first
for fd in fds:
    os.close(fd)
assert number("a") == first, "nobody has another open"

# A file that nobody has open takes the name of one that is open.
fd = make("b")
old = ino(fd)
os.close(make("c"))
os.rename(f + "/c", f + "/b")
assert ino(fd) == old != number("b")
other = os.open(f + "/b", os.O_RDONLY)
assert ino(other) == number("b")
os.close(fd)
assert ino(other) == number("b") != old, "an open file's number changed"
os.close(other)
assert number("b") == old, "the hash of the path"

# An open file keeps its number over renames, also its row's, and back.
fd = make("d")
old = ino(fd)
os.rename(f + "/d", f + "/e")
assert ino(fd) == number("e") == old
os.close(make("d"))
assert number("d") != old
os.rename(f + "/e", f + "/d")
assert ino(fd) == number("d") == old
os.rename(m + "/t/numbers", m + "/t/renamed")
assert ino(fd) == os.stat(m + "/t/renamed/f/d").st_ino == old
assert listed(m + "/t/renamed/f")["d"] == old
os.makedirs(f)
os.close(make("d"))
assert number("d") != old
os.close(fd)
assert number("d") == old
assert listed(m + "/t/renamed/f")["d"] != old
os.rename(m + "/t/renamed", m + "/t/again")
listed(m + "/t/again/f")

# Exchanged.
fd = make("x")
old = ino(fd)
os.close(make("y"))
assert libc.renameat2(-100, (f + "/x").encode(), -100, (f + "/y").encode(),
                      RENAME_EXCHANGE) == 0
assert ino(fd) == number("y") == old != number("x")
os.close(fd)
assert number("x") == old != number("y")

# Changed by another way than its path.
fd = make("o")
old = ino(fd)
with open(m + "/t/.mutate", "w") as mutate:
    mutate.write('{"row":"numbers","set":{"f":{"o":"other"}}}\n')
assert open(f + "/o").read() == "other"
assert ino(fd) == old != number("o")
assert os.pread(fd, 9, 0) == b"o"
os.close(fd)
assert number("o") == old

# A lock: who waited for it finds that the file was replaced.
a = os.open(f + "/lock", os.O_RDWR | os.O_CREAT)
b = os.open(f + "/lock", os.O_RDWR)
fcntl.flock(a, fcntl.LOCK_EX)
os.unlink(f + "/lock")
os.close(a)
c = os.open(f + "/lock", os.O_RDWR | os.O_CREAT)
fcntl.flock(c, fcntl.LOCK_EX | fcntl.LOCK_NB)
fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
assert os.path.samestat(os.fstat(c), os.stat(f + "/lock"))
assert not os.path.samestat(os.fstat(b), os.stat(f + "/lock"))

# An aggregate's files, which are of another kind.
os.mkdir(m + "/t/.schema/sums")
open(m + "/t/.schema/sums/type", "w").write("intsum")
sums = m + "/t/numbers/sums"
with open(m + "/t/.mutate", "w") as mutate:
    mutate.write('{"row":"numbers","add":{"sums":{"n":1}}}\n')
fd = os.open(sums + "/n", os.O_RDONLY)
os.unlink(sums + "/n")
with open(m + "/t/.mutate", "w") as mutate:
    mutate.write('{"row":"numbers","add":{"sums":{"n":1}}}\n')
assert not os.path.samestat(os.fstat(fd), os.stat(sums + "/n"))
os.close(fd)
assert listed(sums)["n"] == os.stat(sums + "/n").st_ino
PYTHON
check "numbers of open files" python3 numbers.py "$m"

# What nobody has open has the same numbers after a remount.
listing() {
	(cd "$m" && find . -mindepth 1 -printf '%P %i\n' | sort)
}
before=$(listing)
remount
same "numbers after a remount" "$before" "$(listing)"
