#!/bin/bash
# Recipes that are stored with a table: files of .recipes for programs that copy,
# edit and move files, the verb recipe, and recipe=NAME, with a mount and without.
. "$(dirname "$0")/lib.sh"
chmod 755 "$work"
umask 022
export TABLETFS_STORE=$store
printf 'key {a}\nset f:b {b}\n' >good
printf 'key {a}\nset g:q {b}\n' >other
printf 'key {a}\nset f:b {b|nothing}\n' >wrong
printf 'a,b\nr1,1\nr2,2\n' >data.csv

start_mount -o allow_other || exit 1
mkdir -p "$m/t/.schema/f" "$m/t/.schema/g"
r=$m/t/.recipes
same "there are none" "" "$(ls -A "$r")"
same "tables do not list it" "" "$(ls -A "$m/t")"

# Files as others.
check "cp" cp good "$r/daily"
check "its content" cmp good "$r/daily"
same "its size" "$(stat -c %s good)" "$(stat -c %s "$r/daily")"
age=$(($(date +%s) - $(stat -c %Y "$r/daily")))
check "its time is now" [ "$age" -ge -5 -a "$age" -le 600 ]
check "touch" touch -d '2020-05-06 07:08:09 UTC' "$r/daily"
same "gives it another" 1588748889 "$(stat -c %Y "$r/daily")"
check "sed -i" sed -i 's/f:b/f:c/' "$r/daily"
same "has changed it" "set f:c {b}" "$(tail -n 1 "$r/daily")"
check "an appended line" sh -c "echo '# a remark' >>'$r/daily'"
same "is behind the others" "3 # a remark" \
	"$(wc -l <"$r/daily") $(tail -n 1 "$r/daily")"
check "mv to another name" mv "$r/daily" "$r/weekly"
same "which alone is there" weekly "$(ls "$r")"
check "mv over one" sh -c "cp good '$r/new' && mv '$r/new' '$r/weekly'"
check "has its content" cmp good "$r/weekly"
cp other "$r/new"
mv -n "$r/new" "$r/weekly"
check "mv -n leaves what is there" cmp good "$r/weekly"
check "mv out and in again" sh -c "mv '$r/new' out && mv out '$r/new'"
check "brings it whole" cmp other "$r/new"
if command -v rsync >/dev/null; then
	mkdir tree && cp -p good other tree && touch -d '2019-01-01' tree/good
	# Its temporary names have a dot in front.
	check "rsync -t" rsync -rt --inplace tree/ "$r/"
	same "and its times" "$(stat -c %Y tree/good)" "$(stat -c %Y "$r/good")"
	rm "$r/good" "$r/other"
else
	skipped=$((skipped + 2))
fi
check "rm" rm "$r/new"
errno ENOENT rm "$r/new"
errno ENOENT cat "$r/new"
errno EPERM mkdir "$r/directory"
errno EPERM ln -s weekly "$r/link"
errno EINVAL cp good "$r/.hidden"
errno EINVAL cp good "$r/two words"
errno ENAMETOOLONG cp good "$r/$(printf 'x%.0s' $(seq 65))"

# What is no recipe is refused at the close, and the former one stays.
cat >refused.py <<'PYTHON'
import errno, os, sys
from fails import fails

path, text = sys.argv[1], open(sys.argv[2], "rb").read()
fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
os.write(fd, text)
fails(errno.EINVAL, os.fsync, fd)
os.write(fd, b"# and more\n")
# A duplicate's close by another is not the end.
fails(errno.EINVAL, os.close, fd)
PYTHON
check "a wrong one" python3 refused.py "$r/weekly" wrong
check "leaves the former" cmp good "$r/weekly"
check "why is told, with line and column" grep -q \
	't/.recipes/weekly: .*weekly:2:12: unknown function "nothing"' \
	"$m/.tabletfs/errors"
check "a wrong one of a new name" python3 refused.py "$r/fresh" wrong
errno ENOENT cat "$r/fresh"
printf 'key {a}\n' >keyless
check "one without cells" python3 refused.py "$r/weekly" keyless
{ cat good; head -c 70000 /dev/zero | tr '\0' '#'; } >long
errno EFBIG sh -c "dd if=long of='$r/weekly' bs=4096 2>&1 || exit 1"
check "nothing of it is stored" cmp good "$r/weekly"
check "no cut one is" python3 - "$r/weekly" long <<'PYTHON'
import errno, os, sys
from fails import fails

fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
text = open(sys.argv[2], "rb").read()
os.write(fd, text[:4096])
fails(errno.EFBIG, os.write, fd, text)
fails(errno.EFBIG, os.close, fd)
PYTHON
check "the former stays" cmp good "$r/weekly"
: >"$r/weekly"
check "emptied and not written it stays, too" cmp good "$r/weekly"
touch "$r/never"
same "what is made and not written is not there" weekly "$(ls "$r")"

# Open files follow the name, until another takes it.
check "names change while one is open" python3 - "$r" "$m" <<'PYTHON'
import os, sys
r, m = sys.argv[1:]
text = b"key {a}\nset f:open {b}\n"

def read(path):
    with open(path, "rb") as f:
        return f.read()

fd = os.open(r + "/one", os.O_RDWR | os.O_CREAT)
os.write(fd, text)
assert os.pread(fd, 100, 0) == text
assert os.listdir(r) == ["weekly"]
os.fsync(fd)
os.rename(r + "/one", r + "/two")
os.write(fd, b"# 2\n")
os.rename(m + "/t", m + "/moved")
os.close(fd)
moved = m + "/moved/.recipes"
assert sorted(os.listdir(moved)) == ["two", "weekly"]
assert read(moved + "/two") == text + b"# 2\n"
os.rename(m + "/moved", m + "/t")
# Removed, and written over.
for end in (lambda: os.unlink(r + "/two"),
            lambda: os.rename(r + "/weekly", r + "/two")):
    fd = os.open(r + "/two", os.O_WRONLY | os.O_CREAT)
    os.write(fd, text)
    os.fsync(fd)
    os.write(fd, b"# 3\n")
    end()
    os.close(fd)
    assert not os.path.exists(r + "/two") or read(r + "/two") == \
        read("good"), os.listdir(r)
os.rename(r + "/two", r + "/weekly")
# The table is dropped, and another made.
os.mkdir(m + "/gone")
fd = os.open(m + "/gone/.recipes/x", os.O_WRONLY | os.O_CREAT)
os.write(fd, text)
os.rmdir(m + "/gone")
os.mkdir(m + "/gone")
try:
    os.close(fd)
    assert False
except OSError:
    pass
assert os.listdir(m + "/gone/.recipes") == []
PYTHON

# Who may change them may change the table's rules.
if [ "$(id -u)" = 0 ]; then
	alice="setpriv --reuid 1001 --regid 1001 --clear-groups"
	check "others read" $alice cat "$r/weekly" >/dev/null
	errno EACCES $alice cp good "$r/alices"
	errno EACCES $alice rm -f "$r/weekly"
	errno EACCES $alice mv "$r/weekly" "$r/alices"
	errno EACCES $alice sh -c ": >>'$r/weekly'"
	mkdir "$m/hers" && chown 1001:1001 "$m/hers" && chmod 700 "$m/hers"
	check "an owner writes" $alice cp good "$m/hers/.recipes/mine"
	errno EACCES setpriv --reuid 1002 --regid 1002 --clear-groups \
		cat "$m/hers/.recipes/mine"
	same "whose it is" "600 1001" \
		"$(stat -c '%a %u' "$m/hers/.recipes/mine")"
else
	skipped=$((skipped + 7))
fi

# The verb, and recipe=NAME; in turn through the mount and without.
verbs() {
	status 0 "$1: set" T recipe t set hourly good
	status 0 "$1: show" T recipe t show hourly
	check "$1: it is that" cmp good out
	status 0 "$1: list" T recipe t
	same "$1: all" "hourly weekly" "$(xargs <out)"
	status 1 "$1: a wrong one" T recipe t set hourly wrong
	told 'hourly:2:12: unknown function "nothing"'
	status 1 "$1: a file that is not there" T recipe t set hourly missing
	told missing
	status 1 "$1: one too long" T recipe t set hourly long
	told "64 KiB"
	status 0 "$1: from a pipe" sh -c "'$TABLETFS' recipe t set piped - <other"
	status 0 "$1: rm" T recipe t rm piped
	status 1 "$1: which is gone" T recipe t rm piped
	told 'no recipe "piped"'
	status 1 "$1: no table" T recipe none
	told 'table "none" not found'
	status 0 "$1: import" T import t data.csv recipe=hourly quiet=yes
	status 0 "$1: what came" T read t columns=f:b cells-per-column=1
	same "$1: is by the recipe" "1 2" "$(grep -o '"."' out | xargs)"
	status 0 "$1: words override it" T import t data.csv recipe=hourly \
		header=names:b,a skip='{a} = b' dry-run=1
	same "$1: as the first row shows" '{"row": "1", "set": {"f": {"b": "r1"}}}' \
		"$(cat out)"
	status 0 "$1: a key" T key t recipe=hourly a=x b=y
	same "$1: of it" x "$(cat out)"
	status 1 "$1: of none" T key t recipe=none a=x
	told 'table "t" has no recipe'
	status 1 "$1: of no table" T key none recipe=hourly a=x
	status 2 "$1: one that is not there" T import t data.csv recipe=none
	told 'recipe none: there is no such file, and table "t" has no recipe'
	# A file of that name comes first.
	cp other hourly
	status 0 "$1: a file" T import t data.csv recipe=hourly dry-run=1
	check "$1: is read before it" grep -q '"g"' out
	rm hourly
	T deleteallrows t
}
verbs mounted
stop_mount
verbs free

# It goes with the table.
start_mount && mv "$m/t" "$m/u"
stop_mount
check "a renamed table has it" cmp good <(T recipe u show hourly)
T dump all.dump
rm -rf "$work/loaded"
check "load" "$TABLETFS" load all.dump "$work/loaded"
check "a loaded one, too" cmp good \
	<("$TABLETFS" -store "$work/loaded" recipe u show hourly)
check "a backup" T backup "$work/backup"
check "has it" cmp good \
	<("$TABLETFS" -store "$work/backup/latest" recipe u show hourly)
check "a repaired store" "$TABLETFS" -store "$store" repair "$work/repaired"
check "has it" cmp good \
	<("$TABLETFS" -store "$work/repaired" recipe u show hourly)
start_mount
r=$m/u/.recipes
# Killed in the midst of changes: one of them is there, and whole.
(while cp good "$r/weekly" && cp other "$r/weekly"; do :; done) 2>/dev/null &
sleep 0.5
kill -9 "$daemon"
wait $!
fusermount3 -uz "$m"
daemon=
start_mount
check "after a kill it is one or the other" \
	sh -c "cmp -s good '$r/weekly' || cmp -s other '$r/weekly'"
T deletetable u
mkdir "$m/u"
same "a new table of the name has none" "" "$(ls "$r")"
