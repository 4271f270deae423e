#!/bin/bash
# Programs that change a file: what it holds then, how many versions, and whether
# the history survives the several ways in which editors save.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
f=$m/t/alice/info
mkdir -p "$f"
export HOME=$work GIT_CONFIG_NOSYSTEM=1

# left TEXT VERSIONS CONTENT: of the file name, and nothing is beside it.
left() {
	same "$1: the content" "$3" "$(cat "$f/name")"
	same "$1: versions" "$2" "$(versions t/alice/info name)"
	same "$1: nothing beside it" name "$(ls -A "$f" | xargs)"
}

echo one >"$f/name"
left ">" 1 one
echo two >>"$f/name"
left ">>" 2 $'one\ntwo'
check "sed -i" sed -i 2d "$f/name"
left "sed -i" 3 one
check "sed -i.bak" sed -i.bak s/one/uno/ "$f/name"
same "keeps the old one beside it" one "$(cat "$f/name.bak")"
rm "$f/name.bak"
left "and its history is back without it" 4 uno
check "sort -o" sh -c "printf 'b\na\n' >'$f/name' && sort -o '$f/name' '$f/name'"
left "sort -o f f" 6 $'a\nb'
check "ed" ed -s "$f/name" <<<$'1s/a/A/\nw\nq'
left "ed" 7 $'A\nb'
check "truncate" truncate -s 1 "$f/name"
left "truncate" 8 A
check "tee -a" sh -c "echo B | tee -a '$f/name' >/dev/null"
left "tee -a" 9 AB
check "shred changes it in place" shred -n 1 -s 2 "$f/name"
same "shred: as long as it was" 3 "$(stat -c %s "$f/name")"

rm "$f/name"
echo one >"$f/name"
# vim OPTIONS...: by the options, it writes in place or renames.
edit() {
	vim -u NONE -i NONE -es "$@" -c wq "$f/name" </dev/null
}
check "vim" edit -c 's/one/two/'
left "vim" 2 two
check "vim that copies" edit \
	-c 'set backup backupskip= backupcopy=yes' -c 's/two/three/'
same "vim that copies: the backup" two "$(cat "$f/name~")"
rm "$f/name~"
left "vim that copies" 3 three
check "vim that renames" edit \
	-c 'set backup backupskip= backupcopy=no' -c 's/three/four/'
same "vim that renames: the backup" three "$(cat "$f/name~")"
rm "$f/name~"
left "vim that renames" 4 four
# Without a backup to keep, it has one for the time of the save only.
check "vim with backupskip=" edit \
	-c 'set backupskip= writebackup backupcopy=no' -c 's/four/five/'
left "vim with backupskip=" 5 five
check "and again" edit -c 'set backupskip= backupcopy=auto' -c 's/five/six/'
left "and again" 6 six
check "vim without a backup" edit -c 'set nowritebackup' -c 's/six/seven/'
left "vim without a backup" 7 seven
check "vim that quits" vim -u NONE -i NONE -es -c 's/seven/no/' -c 'q!' \
	"$f/name" </dev/null
left "vim that quits changes nothing" 7 seven
same "their history" "seven six five four three two one" "$(cd \
	"$f/.versions/name" && ls -U | xargs cat | xargs)"

rm "$f/name"
python3 - "$f/name" >out <<'PYTHON'
import mmap, os, shutil, sys, tempfile
path = sys.argv[1]
def show(what):
    versions = path.replace("/name", "/.versions/name")
    print(what, len(os.listdir(versions)), open(path).read())
with open(path, "w") as f:
    f.write("hello")
show("w")
with open(path, "a") as f:
    f.write(" world")
    f.flush()
    f.write("!")
show("a")
with open(path, "r+") as f:
    f.seek(6)
    f.write("W")
    f.seek(0)
    assert f.read() == "hello World!"
show("r+")
with open(path, "rb") as f, \
     mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as view:
    print("mmap", view[6:11].decode())
with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as view:
    view[0:5] = b"HELLO"
show("mmap")
with tempfile.NamedTemporaryFile(
        "w", dir=os.path.dirname(path), delete=False) as f:
    f.write("replaced")
    os.fsync(f.fileno())
os.replace(f.name, path)
show("replace")
try:
    open(path, "x")
except FileExistsError:
    print("x")
with open(path, "w+") as f:
    f.write("back and forth")
    f.seek(5)
    assert f.read() == "and forth"
    f.truncate(4)
show("w+")
shutil.copyfile(__file__ if os.path.exists(__file__) else "/etc/passwd",
                path + "2")
os.remove(path + "2")
PYTHON
same "python" "w 1 hello
a 2 hello world!
r+ 3 hello World!
mmap World
mmap 4 HELLO World!
replace 5 replaced
x
w+ 6 back" "$(cat out)"
left "python" 6 back

printf back >back
echo one >new
check "git diff --no-index finds no difference" git diff --no-index --quiet \
	"$f/name" back
git diff --no-index "$f/name" new >patch
same "and one" 1 $?
same "which it shows" 2 "$(grep -cE '^(-back|\+one)$' patch)"

# The mount as a work tree: a table is a directory of rows.
export GIT_DIR=$work/git GIT_WORK_TREE=$m/t
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a \
	GIT_COMMITTER_EMAIL=a
printf 'one\ntwo\n' >"$f/name"
mkdir -p "$m/t/bob/info"
seq 1000 >"$m/t/bob/info/numbers"
check "git init" git init -q
check "git add" git add -A
check "git commit" git commit -qm one
same "git status is clean" "" "$(git status --porcelain)"
echo three >>"$f/name"
sed -i 5d "$m/t/bob/info/numbers"
same "git sees what changed" "M alice/info/name M bob/info/numbers" \
	"$(git status --porcelain | xargs)"
check "git commit -a" git commit -qam two
check "git checkout of the old" git checkout -q HEAD~1
same "has the old content" "one two" "$(xargs <"$f/name")"
check "git checkout of the new" git checkout -q -
same "has the new" "one two three" "$(xargs <"$f/name")"
check "git stash" sh -c "echo more >>'$f/name' && git stash -q"
same "takes it back" "one two three" "$(xargs <"$f/name")"
check "git stash pop" git stash pop -q
same "and brings it" "one two three more" "$(xargs <"$f/name")"
check "git rm" git rm -qrf bob
same "removes the row" alice "$(ls "$m/t")"
check "git reset --hard" git reset -q --hard
same "and restores it" 999 "$(wc -l <"$m/t/bob/info/numbers")"
check "git fsck" git fsck --no-progress --no-dangling
unset GIT_DIR GIT_WORK_TREE

same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
before=$(cd "$m" && find . -type f -exec md5sum {} + | sort)
remount
same "a remount shows the same" "$before" \
	"$(cd "$m" && find . -type f -exec md5sum {} + | sort)"
