#!/bin/bash
# Writing and reading cells, and how many versions that leaves.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
f=$m/t/r/f

echo one >"$f/a"
same "> leaves one version" 1 "$(versions t/r/f a)"
echo two >"$f/a"
same "a second > adds one" 2 "$(versions t/r/f a)"
echo three >>"$f/a"
same ">> adds one" 3 "$(versions t/r/f a)"
same ">> appends" "two three" "$(xargs <"$f/a")"
exec 3>"$f/b"
echo 1 >&3
cat /dev/null >&3
echo 2 >&3
(echo 3 >&3)
same "a writer's bytes are seen at once" "1 2 3" "$(xargs <"$f/b")"
exec 3>&-
same "an open file's writes leave one version" 1 "$(versions t/r/f b)"
same "with all of them" "1 2 3" "$(xargs <"$f/b")"

: >"$f/empty"
same "an empty value is a file" 0 "$(stat -c %s "$f/empty")"
same "of one version" 1 "$(versions t/r/f empty)"
truncate -s 2 "$f/a"
same "truncate cuts" tw "$(cat "$f/a")"
same "and adds a version" 4 "$(versions t/r/f a)"
truncate -s 4 "$f/a"
same "and grows with zeroes" "74770000" "$(xxd -p "$f/a")"

touch -d '2001-02-03 04:05:06.123456 UTC' "$f/b"
same "touch -d stamps the version" 981173106123456 \
	"$(ls "$m/t/r/f/.versions/b")"
same "stat shows it" 981173106.123456000 "$(stat -c %.9Y "$f/b")"
touch -d '2000-01-01 UTC' "$f/a"
newest=$(ls -U "$f/.versions/a" | head -1)
second=$(ls -U "$f/.versions/a" | sed -n 2p)
same "but not before the next older one" $((second + 1)) "$newest"
touch "$f/new"
same "touch makes an empty file" 0 "$(stat -c %s "$f/new")"
errno EINVAL touch -d '1960-01-01 UTC' "$f/b"

echo now >"$f/c" && touch -d 2100-01-01 "$f/c" && echo later >"$f/c"
same "what was written last is seen" later "$(cat "$f/c")"

same "versions are listed newest first" "$(ls "$f/.versions/a" | sort -rn)" \
	"$(ls -U "$f/.versions/a")"
rm "$f/.versions/a/$newest"
same "rm of a version removes that one" 4 "$(versions t/r/f a)"
same "and the one before is seen" tw "$(cat "$f/a")"
same "by its timestamp" tw "$(cat "$f/.versions/a/$second")"
refuse "versions are not written" sh -c "echo x >'$f/.versions/a/$second'"
rm "$f/a"
check "rm removes the cell" [ ! -e "$f/a" ]
check "with its versions" [ ! -e "$f/.versions/a" ]
echo again >"$f/a"
same "a new one starts anew" 1 "$(versions t/r/f a)"

exec 3>"$f/gone"
echo x >&3
rm "$f/gone"
echo y >&3
exec 3>&-
check "what was removed is not committed" [ ! -e "$f/gone" ]

head -c 3000000 /dev/urandom >big
cp big "$f/big"
check "a large value" cmp big "$f/big"
same "is one version" 1 "$(versions t/r/f big)"
printf X | dd of="$f/big" bs=1 seek=2999999 conv=notrunc status=none
printf X | dd of=big bs=1 seek=2999999 conv=notrunc status=none
check "written in its last byte" cmp big "$f/big"
errno EFBIG truncate -s 104857601 "$f/big"

(for i in $(seq 50); do echo "a$i" >>"$f/log"; done) &
(for i in $(seq 50); do echo "b$i" >>"$f/log"; done)
wait
same "two appenders both survive" 100 "$(wc -l <"$f/log")"

python3 - "$f/p" <<'PYTHON' && pass || fail "python"
import mmap, os, sys
p = sys.argv[1]
with open(p + ".tmp", "w") as f:
    f.write("first")
    f.flush()
    os.fsync(f.fileno())
os.replace(p + ".tmp", p)
assert open(p).read() == "first"
with open(p, "a") as f:
    f.write(" second")
assert open(p).read() == "first second"
with open(p, "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
    m[0:5] = b"FIRST"
    m.flush()
    m.close()
assert open(p).read() == "FIRST second"
with open(p, "rb") as f:
    assert mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:5] == b"FIRST"
fd = os.open(p, os.O_RDWR)
os.ftruncate(fd, 3)
assert os.fstat(fd).st_size == 3
assert os.pread(fd, 10, 0) == b"FIR"
os.unlink(p)
assert os.pread(fd, 10, 0) == b"FIR"
os.close(fd)
assert not os.path.exists(p)
PYTHON
# Who has a version open goes on with it when it is removed.
echo old >"$f/v" && sleep 0.01 && echo new >"$f/v" || exit 1
oldest=$f/.versions/v/$(ls "$f/.versions/v" | head -n 1)
exec 5<"$oldest"
check "an open version is removed" rm "$oldest"
same "and is read" old "$(cat <&5)"
same "and has no name" "0 4" "$(stat -Lc "%h %s" /dev/fd/5)"
exec 5<&-
errno ENOENT cat "$oldest"

sync "$f/b"
same "no error was logged but those asked for" 0 \
	"$(grep -cvE 'large|1970|Permission' "$m/.tabletfs/errors")"
