#!/bin/bash
# What is open while its table is dropped: scans that are read again from their
# start, and lists that are sought. They fail, each time, and the mount goes on.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1

fill() {
	mkdir -p "$m/t/r/f"
	seq -f '{"row":"k%06.0f#x","set":{"f":{"q":"some text of a value"}}}' \
		3000 >rows
	cp rows "$m/t/.import/jsonl"
}

drop() {
	"$TABLETFS" -store "$store" deletetable t
}

# Reads a file of .scan far on, drops the table, and reads from the start.
scan_again() {
	python3 - "$m/t/.scan/$1" "$TABLETFS" "$store" <<'END'
import errno, os, subprocess, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
while True:
    piece = os.read(fd, 1 << 16)
    if not piece:
        break
subprocess.check_call([sys.argv[2], "-store", sys.argv[3], "deletetable", "t"])
for _ in range(3):
    try:
        os.pread(fd, 4096, 0)
        sys.exit("a dropped table was read")
    except OSError as e:
        if e.errno != errno.ENOENT:
            sys.exit("errno %d" % e.errno)
END
}

# Lists a directory, drops the table, and seeks in the list.
list_again() {
	python3 - "$m/t/$1" "$TABLETFS" "$store" <<'END'
import ctypes, errno, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
memory = ctypes.create_string_buffer(1 << 15)


def getdents():
    n = libc.syscall(217, fd, memory, len(memory))
    if n < 0:
        raise OSError(ctypes.get_errno(), "getdents64")
    return n


while getdents() > 0:
    pass
subprocess.check_call([sys.argv[2], "-store", sys.argv[3], "deletetable", "t"])
for offset in 10, 10, 600, 2000, 11, 2900, 10:
    os.lseek(fd, offset, os.SEEK_SET)
    try:
        n = getdents()
        sys.exit("at %d of a dropped table: %d bytes" % (offset, n))
    except OSError as e:
        if e.errno != errno.ENOENT:
            sys.exit("at %d: errno %d" % (offset, e.errno))
END
}

# Reads or lists a part, drops the table, and goes on: an error, and no end.
go_on() {
	python3 - "$m/t/$1" "$TABLETFS" "$store" <<'END'
import errno, os, stat, subprocess, sys
path, program, store = sys.argv[1:]
fd = os.open(path, os.O_RDONLY)
if stat.S_ISDIR(os.fstat(fd).st_mode):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    memory = ctypes.create_string_buffer(1 << 12)

    def more():
        n = libc.syscall(217, fd, memory, len(memory))
        if n < 0:
            raise OSError(ctypes.get_errno(), "getdents64")
        return n
else:
    def more():
        return len(os.read(fd, 4096))
for _ in range(3):
    assert more() > 0
subprocess.check_call([program, "-store", store, "deletetable", "t"])
given = 0
for _ in range(10000):
    try:
        n = more()
    except OSError as e:
        if e.errno != errno.ENOENT:
            sys.exit("errno %d" % e.errno)
        break
    if n == 0:
        sys.exit("it ended, as if that were all")
    given += n
else:
    sys.exit("it has no end")
# The kernel may hold what it asked for before.
if given > 1 << 18:
    sys.exit("%d bytes of a dropped table" % given)
END
}

for what in . .scan/rows .scan/segments .scan/jsonl .scan/csv .scan/keys; do
	fill
	check "$what does not go on" go_on $what
	ls "$m" >/dev/null || remount
done
for terminal in cbt csv jsonl; do
	fill
	check "$terminal is read again" scan_again $terminal
	check "the mount goes on after $terminal" mountpoint -q "$m"
	ls "$m" >/dev/null || remount
done
for directory in . .scan/rows .scan/segments .scan/value/some.\*/rows; do
	fill
	check "$directory is sought" list_again $directory
	ls "$m" >/dev/null || remount
done
