#!/bin/bash
# Renames: what they keep, what they replace, what they refuse.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f" "$m/t/r/g" "$m/t/s/f"
f=$m/t/r/f

# rename FROM TO FLAGS: renameat2(2) and the name of its error.
rename() {
	python3 - "$@" <<'PYTHON'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
r = libc.renameat2(-100, os.fsencode(sys.argv[1]), -100,
                   os.fsencode(sys.argv[2]), int(sys.argv[3]))
print("ok" if r == 0 else errno.errorcode[ctypes.get_errno()])
PYTHON
}

echo 1 >"$f/a"; echo 2 >"$f/a"; echo 3 >"$f/a"
same "to a new name" ok "$(rename "$f/a" "$f/b" 0)"
same "moves the history" 3 "$(versions t/r/f b)"
check "and leaves nothing" [ ! -e "$f/a" ]
check "nor a version" [ ! -e "$f/.versions/a" ]
echo x >"$f/tmp"
time=$(stat -c %.6Y "$f/tmp")
same "over a name" ok "$(rename "$f/tmp" "$f/b" 0)"
same "adds a version" 4 "$(versions t/r/f b)"
same "with the content" x "$(cat "$f/b")"
same "and its time" "$time" "$(stat -c %.6Y "$f/b")"
echo old >"$f/tmp" && touch -d '2001-01-01 UTC' "$f/tmp"
newest=$(ls -U "$f/.versions/b" | head -1)
same "an older value over a newer one" ok "$(rename "$f/tmp" "$f/b" 0)"
same "is newer than that" $((newest + 1)) "$(ls -U "$f/.versions/b" | head -1)"
same "and seen" old "$(cat "$f/b")"

echo c >"$f/c"
same "NOREPLACE" EEXIST "$(rename "$f/c" "$f/b" 1)"
same "NOREPLACE to a new name" ok "$(rename "$f/c" "$f/d" 1)"
same "EXCHANGE" ok "$(rename "$f/b" "$f/d" 2)"
same "swaps contents" "c old" "$(cat "$f/b" "$f/d" | xargs)"
same "and histories" "1 5" "$(echo $(versions t/r/f b) $(versions t/r/f d))"
echo x >"$f/x1"
exec 3>"$f/x2"
echo y >&3
same "EXCHANGE of an open file" ok "$(rename "$f/x1" "$f/x2" 2)"
same "swaps" "y x" "$(cat "$f/x1" "$f/x2" | xargs)"
echo z >&3
exec 3>&-
same "and it goes on with its file" "y z x" "$(cat "$f/x1" "$f/x2" | xargs)"
same "EXCHANGE with none" ENOENT "$(rename "$f/b" "$f/none" 2)"
same "of a missing one" ENOENT "$(rename "$f/none" "$f/x" 0)"
same "to itself" ok "$(rename "$f/b" "$f/b" 0)"
same "across families" EXDEV "$(rename "$f/b" "$m/t/r/g/b" 0)"
same "across rows" EXDEV "$(rename "$f/b" "$m/t/s/f/b" 0)"
same "of a family" EXDEV "$(rename "$m/t/r/f" "$m/t/r/h" 0)"

exec 3>"$f/open"
echo begin >&3
same "of a file being written" ok "$(rename "$f/open" "$f/moved" 0)"
same "commits it" begin "$(cat "$f/moved")"
echo end >&3
exec 3>&-
same "and goes on with it" "begin end" "$(xargs <"$f/moved")"
same "in one version" 1 "$(versions t/r/f moved)"
echo other >"$f/victim"
exec 3>>"$f/victim"
echo lost >&3
same "over an open file" ok "$(rename "$f/moved" "$f/victim" 0)"
exec 3>&-
same "whose bytes go nowhere" "begin end" "$(xargs <"$f/victim")"

echo v1 >"$f/e"; echo v2 >"$f/e"
mv "$f/e" "$f/e~"
echo v3 >"$f/e"
rm "$f/e~"
same "history comes back when a backup is removed" 3 "$(versions t/r/f e)"
same "beneath what was written" v3 "$(cat "$f/e")"

exec 3>"$f/writing"
echo before >&3
same "of a row" ok "$(rename "$m/t/r" "$m/t/r2" 0)"
echo after >&3
same "goes on with open files" "before after" "$(xargs <"$m/t/r2/f/writing")"
exec 3>&-
same "in one version" 1 "$(versions t/r2/f writing)"
same "moves its cells" v3 "$(cat "$m/t/r2/f/e")"
same "with their versions" 3 "$(versions t/r2/f e)"
same "and leaves none" "r2 s" "$(ls "$m/t" | xargs)"
same "over a directory" ENOTEMPTY "$(rename "$m/t/r2" "$m/t/s" 0)"
rmdir "$m/t/s/f"
same "over an empty one" ok "$(rename "$m/t/r2" "$m/t/s" 0)"
same "keys" s "$(cat "$m/t/.scan/keys")"

# Who has found a file by its name, and opens it when another has the name, reads
# the one that was found: else a reader may see what comes next, and then, by a
# file found between, what was before.
mkdir -p "$m/t/found/f"
check "what was found before a rename over it" python3 - "$m/t/found/f" <<'PYTHON'
import os, sys
os.chdir(sys.argv[1])
def replace(text):
    with open("new", "w") as f:
        f.write(text)
    os.rename("new", "q")
def read(fd):
    with open(f"/proc/self/fd/{fd}") as f:
        return f.read()
texts = ["first", "second is longer", "3", "large " * 100000, "last"]
found = []
for text in texts:
    replace(text)
    found.append(os.open("q", os.O_PATH))
for _ in range(2):
    got = [read(fd) for fd in found]
    assert got == texts, [text[:20] for text in got]
    assert os.stat("q").st_size == 4
PYTHON

# Who reads what is replaced by rename sees one value or the next, whole.
# A rename that takes its time leaves some for others to come in between.
remount -o sync
check "values that are replaced are not torn" python3 - "$m/t/torn/f" <<'PYTHON'
import os, sys
d = sys.argv[1]
os.makedirs(d)
def replace(n):
    with open(d + "/new", "wb") as f:
        f.write(b"%d " % n * (n % 100 + 1))
    os.rename(d + "/new", d + "/q")
replace(1)
readers = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        last = n = 1
        while n < 1000:
            with open(d + "/q", "rb", buffering=0) as f:
                data = f.read()
            n = int(data.split()[0])
            if data != b"%d " % n * (n % 100 + 1) or n < last:
                print("after", last, data, file=sys.stderr)
                os._exit(1)
            last = n
        os._exit(0)
    readers.append(pid)
for n in range(2, 1001):
    replace(n)
sys.exit(sum(os.waitpid(pid, 0)[1] != 0 for pid in readers))
PYTHON
