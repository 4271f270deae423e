#!/bin/bash
# Tables of several users: programs work for who owns a table and for who may
# write it by its group's bits or by all others'; who may not enter it finds
# nothing in it, by names that the kernel keeps neither.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { skipped=1; exit 0; }
chmod 755 "$work"
umask 022
# The first two are of a group, to which the shared tables belong.
alice="setpriv --reuid 1001 --regid 2000 --clear-groups"
bob="setpriv --reuid 1002 --regid 1002 --groups 2000"
carol="setpriv --reuid 1003 --regid 1003 --clear-groups"
start_mount -o allow_other || exit 1

mkdir -p src/r1/f src/r2/f src/r2/g
for file in r1/f/a r1/f/b r2/f/a r2/g/c; do
	echo "$file" >"src/$file"
done
find src -exec touch -d '2020-05-06 07:08:09 UTC' {} +

show() {
	stat -c '%a %u:%g' "$@" | xargs
}
times() {
	(cd "$1" && find . -type f -printf '%P %T@\n' | sort)
}

# table NAME MODE: one of alice's and the group.
table() {
	mkdir "$m/$1" && chown 1001:2000 "$m/$1" && chmod "$2" "$m/$1"
}

# copies WHO TABLE: their tree comes as to a local filesystem.
copies() {
	local who=$1 t=$m/$2
	chown -R "$($who id -u):2000" src
	check "$2: cp -r" $who cp -r src/. "$t/"
	check "$2: its result" diff -r src "$t"
	check "$2: cp -a" $who cp -a src/r1 "$t/copied"
	check "$2: cp -a over it" $who cp -a src/r1/. "$t/copied"
	check "$2: its result" diff -r src/r1 "$t/copied"
	check "$2: tar x" $who sh -c "tar -C src -c r1 r2 |
		tar -C '$t' -x --transform 's,^,tar-,'"
	check "$2: its result" diff -r src/r2 "$t/tar-r2"
	same "$2: with times" "$(times src/r2)" "$(times "$t/tar-r2")"
	if command -v rsync >/dev/null; then
		check "$2: rsync -a" $who rsync -a src/r2 "$t/"
		check "$2: its result" diff -r src/r2 "$t/r2"
		check "$2: again" $who rsync -a src/r2 "$t/"
		check "$2: --no-group of what is of another" \
			$who rsync -a --no-group src/r2/ "$t/sent/"
		same "$2: with times" "$(times src/r2)" "$(times "$t/sent")"
	else
		skipped=$((skipped + 5))
	fi
	cp -a src "from-$2"
	check "$2: mv into it" $who mv "from-$2/r1" "$t/moved"
	check "$2: its result" diff -r src/r1 "$t/moved"
	rm -r "from-$2"
}

# edits WHO TABLE: and so do single files, after copies.
edits() {
	local who=$1 f=$m/$2/tar-r1/f
	check "$2: cp -p" $who cp -p src/r1/f/a "$f/new"
	same "$2: its time" "$(stat -c %Y src/r1/f/a)" "$(stat -c %Y "$f/new")"
	check "$2: cp -p over it" $who cp -p src/r1/f/b "$f/new"
	check "$2: sed -i" $who sed -i 's/^/edited /' "$f/new"
	same "$2: its result" "edited r1/f/b" "$(cat "$f/new")"
	check "$2: install" $who install -m 644 src/r1/f/a "$f/installed"
	check "$2: touch" $who touch "$f/new" "$f/touched"
	check "$2: touch -d" $who touch -d 2021-01-01 "$f/touched"
	same "$2: its time" 2021-01-01 "$(stat -c %.10y "$f/touched")"
	check "$2: chmod to what it shows" \
		$who chmod "$(stat -c %a "$f/touched")" "$f/touched"
	errno EPERM $who chmod 600 "$f/touched"
	errno EPERM $who chmod 755 "$f/touched"
	check "$2: an editor's backup" $who sh -c "mv '$f/b' '$f/b~' &&
		echo saved >'$f/b' && chmod 644 '$f/b' && rm '$f/b~'"
	check "$2: a private file that is opened up" $who sh -c "umask 077 &&
		echo x >'$f/.temp' && chmod 644 '$f/.temp' &&
		mv '$f/.temp' '$f/b'"
	check "$2: mkdir -p" $who mkdir -p "$m/$2/deep/f"
	check "$2: rm -r" $who sh -c "rm -r '$m/$2'/*"
	same "$2: nothing is left" "" "$(ls -A "$m/$2")"
}

for mode in 770 2775 1777; do
	table "t$mode" $mode
	for who in "$alice" "$bob"; do
		copies "$who" "t$mode"
		edits "$who" "t$mode"
	done
done
table all 777
copies "$carol" all
edits "$carol" all
same "no error was logged but refused modes" "" \
	"$(grep -v "chmod the table" "$m/.tabletfs/errors")"

# Who makes something is shown as its owner, as long as the table's access is
# what it was.
table ours 777
$carol sh -c "mkdir -p '$m/ours/r/f' && echo 1 >'$m/ours/r/f/q'"
same "it is the maker's" "777 1003:2000 777 1003:2000 666 1003:2000" \
	"$(show "$m/ours/r" "$m/ours/r/f" "$m/ours/r/f/q")"
echo 1 >"$m/ours/r/f/roots"
same "but what root makes" "666 1001:2000" "$(show "$m/ours/r/f/roots")"
$carol mv "$m/ours/r/f/q" "$m/ours/r/f/p"
same "after a rename" "666 1003:2000" "$(show "$m/ours/r/f/p")"
$bob sh -c "echo 2 >'$m/ours/r/f/q'"
same "its old name is another's" "666 1002:2000" "$(show "$m/ours/r/f/q")"
check "who makes one with special bits can write it" python3 -c "import os
os.setgroups([]), os.setgid(1003), os.setuid(1003)
fd = os.open('$m/ours/r/f/s', os.O_CREAT | os.O_WRONLY, 0o6755)
assert os.fstat(fd).st_mode & 0o7777 == 0o755
os.write(fd, b'1')"
# removed SHELL: the maker of a file that this removes, shown to who has it open.
removed() {
	$carol sh -c "exec 3>'$m/ours/r/f/o' 4>'$m/ours/r/f/n' && $1 &&
		stat -L -c %u /proc/self/fd/3 && chmod 666 /proc/self/fd/3" 2>&1
}
same "what is removed is still its maker's" 1003 "$(removed "rm '$m/ours/r/f/o'")"
same "or renamed over" 1003 \
	"$(removed "mv -f '$m/ours/r/f/n' '$m/ours/r/f/o'")"
exec 3>"$m/ours/r/f/mine" && rm "$m/ours/r/f/mine"
$carol sh -c "echo 3 >'$m/ours/r/f/mine'"
same "and not of who takes its name" 1001 "$(stat -L -c %u /dev/fd/3)"
exec 3>&-
mkdir "$m/ours/.schema/more"
same "after a change of the schema" "777 1003:2000" "$(show "$m/ours/r")"
$alice chmod 775 "$m/ours"
same "until the table's mode changes" "775 1001:2000 664 1001:2000" \
	"$(show "$m/ours/r" "$m/ours/r/f/p")"
errno EACCES $carol touch "$m/ours/r/f/p"
errno EACCES $carol mkdir "$m/ours/r/more"
$alice chmod 777 "$m/ours"
$carol mkdir -p "$m/ours/s/f"
"$TABLETFS" -store "$store" deletetable ours
table ours 777
mkdir -p "$m/ours/s/f"
same "another table of that name has nothing of it" "777 1001:2000" \
	"$(show "$m/ours/s")"

# A class that may make names but not list them does not list its own.
table box 773
$carol mkdir -p "$m/box/c/f"
same "a maker can do no more than the table lets them" "373 1003:2000" \
	"$(show "$m/box/c")"
errno EACCES $carol ls "$m/box/c"

# Who may write what they may not read is told nothing by a condition, whether it
# holds or not, and nothing is done.
table drop 733
table box773 773
for t in drop box773; do
	mkdir -p "$m/$t/r/f" && echo secret >"$m/$t/r/f/q"
done
asks() {
	printf '{"row":"r","if":{"family":"f","qualifier":"q","matches":"%s"},%s}\n' \
		"$1" '"set":{"f":{"told":"1"}},"else":{"set":{"f":{"told":"0"}}}'
}
for file in .mutate .import/jsonl .import/on-error/stop/jsonl r/.row.jsonl; do
	for re in '(?s)s.*' '(?s)x.*'; do
		asks "$re" >line
		errno EACCES $carol dd if=line of="$m/drop/$file" status=none
		sed 's/"if"/"\\u0069f"/' line >spelled
		errno EACCES $carol dd if=spelled of="$m/drop/$file" status=none
	done
	check "$file: what asks nothing is taken" $carol sh -c "
		echo '{\"row\":\"r\",\"set\":{\"f\":{\"if\":\"by\"}}}' >'$m/drop/$file'"
	same "$file: and nothing was done" "if q" "$(ls "$m/drop/r/f" | xargs)"
	rm "$m/drop/r/f/if"
done
check "its reason" $carol grep -q 'leave "if" away' "$m/.tabletfs/errors"
asks '(?s)s.*' >line
check "the owner may ask" $alice sh -c "cat line >'$m/drop/.mutate'"
same "and is told" 1 "$(cat "$m/drop/r/f/told")"
errno EACCES $bob dd if=line of="$m/box773/.mutate" status=none
check "who may read by a group, too, with a file open for that" \
	$bob sh -c "cat line 1<>'$m/box773/.mutate'"
same "and is told, too" 1 "$(cat "$m/box773/r/f/told")"
errno EACCES $carol sh -c "cat line 1<>'$m/box773/.mutate'"

# Sticky.
table sticky 1777
$carol sh -c "mkdir -p '$m/sticky/c/f' && echo 1 >'$m/sticky/c/f/q'"
mkdir -p "$m/sticky/r/f"
for who in "$bob" "$carol"; do
	$who sh -c "echo 1 >'$m/sticky/r/f/q$($who id -u)'"
done
errno EPERM $bob rm "$m/sticky/r/f/q1003"
errno EPERM $bob mv "$m/sticky/r/f/q1003" "$m/sticky/r/f/x"
errno EPERM $bob mv -f "$m/sticky/r/f/q1002" "$m/sticky/r/f/q1003"
errno EPERM $bob rm -r "$m/sticky/c"
# Nor by what reaches all of the table.
$carol sh -c "echo 2 >'$m/sticky/c/f/q'"
echo '{"row":"c","delete":true}' >line
token=$($alice awk '/token/ { print $2 }' "$m/sticky/.drop/prefix/c/preview")
for file in .mutate c/.row.jsonl .schema/f/gc .schema/f/type .granularity \
	.drop/prefix/c/apply; do
	refuse "another's row by $file" \
		$bob sh -c "echo '$token' >'$m/sticky/$file'"
done
errno EACCES $bob rmdir "$m/sticky/.schema/f"
errno EACCES $bob rm "$m/sticky/c/f/.versions/q/"*
same "it is there" "1 2" "$(cat "$m/sticky/c/f/.versions/q/"* | xargs)"
check "its owner may" $alice sh -c "cat line >'$m/sticky/.mutate'"
refuse "and has" [ -e "$m/sticky/c" ]
$carol sh -c "mkdir -p '$m/sticky/c/f' && echo 1 >'$m/sticky/c/f/q'"
check "one's own can be removed" $bob rm "$m/sticky/r/f/q1002"
check "all by the table's owner" $alice rm "$m/sticky/r/f/q1003"
check "and by root" rm -r "$m/sticky/c"

# Who made it goes with it, whatever removes it.
again() {
	$carol sh -c "mkdir -p '$m/sticky/g/f' && echo mine >'$m/sticky/g/f/q'"
	same "it is the maker's" 1003 "$(stat -c %u "$m/sticky/g/f/q")"
	"$@"
	T set sticky g f:q=roots
	same "$*: what root makes then" "1777 1001:2000 666 1001:2000" \
		"$(show "$m/sticky/g" "$m/sticky/g/f/q")"
	errno EPERM $carol rm "$m/sticky/g/f/q"
	rm -r "$m/sticky/g"
}
by_mutate() {
	printf '{"row":"g",%s}\n' "$1" >"$m/sticky/.mutate"
}
by_drop() {
	awk '/token/ { print $2 }' "$m/sticky/.drop/$1/preview" >token
	cat token >"$m/sticky/.drop/$1/apply"
}
again T deleterow sticky g
again T deletecolumn sticky g f q
again by_mutate '"delete":true'
again by_mutate '"delete":{"f":["q"]}'
again by_mutate '"delete":{"f":true}'
again by_drop prefix/g
again by_drop range/a..h
by_versions() {
	rm "$m/sticky/g/f/.versions/q/"*
}
again by_versions
anew() {
	T deletefamily sticky f
	T createfamily sticky f
}
again anew
again mv "$m/sticky/g" "$m/sticky/moved"
same "a row that is moved is its maker's" 1003 "$(stat -c %u "$m/sticky/moved")"
$carol sh -c "mkdir -p '$m/sticky/a/f' '$m/sticky/b/f' &&
	echo mine >'$m/sticky/a/f/q' && echo mine >'$m/sticky/b/f/q'"
T deleterow sticky a
same "what is in another row stays its maker's" "1777 1003:2000 666 1003:2000" \
	"$(show "$m/sticky/b" "$m/sticky/b/f/q")"

# mkdir's mode and umask are a table's, also after a remount.
(umask 077 && mkdir "$m/private")
(umask 002 && mkdir "$m/open")
python3 -c "import os; os.umask(0); os.mkdir('$m/plain', 0o750)"
same "modes" "700 775 750" "$(stat -c %a "$m/private" "$m/open" "$m/plain" | xargs)"
remount -o allow_other
same "they stay" "700 775 750" \
	"$(stat -c %a "$m/private" "$m/open" "$m/plain" | xargs)"

# Nobody else meets anything of a private table: names that its owner has just
# used are in the kernel's memory.
chown 1001 "$m/private"
$alice mkdir -p "$m/private/patient-1/f"
use() {
	$alice sh -c "cd '$m/private/patient-1/f' && echo secret >q && cat q &&
		ls -lR .. && cat q && stat nothing; stat ../../patient-2" >/dev/null 2>&1
}
use
check "another user finds nothing" python3 - "$m/private" <<'PYTHON'
import ctypes, errno, os, sys
os.setgroups([])
os.setgid(1003)
os.setuid(1003)
libc = ctypes.CDLL(None, use_errno=True)
DONT_SYNC, BASIC = 0x4000, 0x7ff


def statx(path):
    buf = ctypes.create_string_buffer(256)
    if libc.statx(-100, path.encode(), DONT_SYNC, BASIC, buf):
        raise OSError(ctypes.get_errno(), path)


def watch(path):
    fd = libc.inotify_init()
    if libc.inotify_add_watch(fd, path.encode(), 0xfff) < 0:
        raise OSError(ctypes.get_errno(), path)


def refused(call, path):
    try:
        call(path)
    except OSError as e:
        assert e.errno == errno.EACCES, (call, path, e)
        return
    sys.exit("%s of %s" % (call, path))


t = sys.argv[1]
os.stat(t)
for call in os.listdir, watch, os.chdir:
    refused(call, t)
for name in ("/patient-1", "/patient-1/f", "/patient-1/f/q", "/patient-2",
             "/patient-1/f/nothing", "/patient-3", "/.stats", "/.nothing",
             "/.scan/keys", "/patient-1/f/.versions/q"):
    for call in (os.stat, statx, watch, os.mkdir, os.unlink, os.rmdir, open,
                 os.listdir, os.chdir, lambda p: os.open(p, os.O_PATH),
                 lambda p: os.open(p, os.O_CREAT | os.O_WRONLY),
                 lambda p: os.truncate(p, 0), os.utime,
                 lambda p: os.rename(p, p + "x")):
        refused(call, t + name)
    assert not os.access(t + name, os.F_OK), name
PYTHON
same "while its owner has it" secret "$($alice cat "$m/private/patient-1/f/q")"
check "it is named by rows nowhere else" sh -c \
	"! $carol grep -r patient '$m/.tabletfs' 2>/dev/null"
$alice mkdir "$m/private/patient-1/.nothing" 2>/dev/null
$alice sh -c "echo '{\"row\":\"patient-4\",\"set\":{\"none\":{\"q\":\"1\"}}}' \
	>'$m/private/.mutate'" 2>/dev/null
check "its errors are told to who met them" \
	$alice grep -q patient "$m/.tabletfs/errors"
refuse "and to nobody else" $carol grep patient "$m/.tabletfs/errors"

# Who may not list a table, but enter it, finds what they can name and nothing by
# asking for it, be it by a name that is there or a size.
for mode in 711 1733; do
	table "x$mode" $mode
	mkdir -p "$m/x$mode/r/f" && echo secret >"$m/x$mode/r/f/q"
	chmod 4711 "$m/x$mode" && chmod $mode "$m/x$mode"
	same "$mode: what is named is found" 7 \
		"$($carol stat -c %s "$m/x$mode/r/f/q")"
	for name in .scan .keyviz .drop; do
		errno EACCES $carol ls "$m/x$mode/$name"
	done
	for name in .scan/rows/r .scan/segments/r .scan/rows/none .scan/none \
		'.scan/value/(%3Fs)sec.*/export.csv' .scan/prefix/x/export.csv \
		.scan/export.csv .keyviz/reads.tsv .drop/prefix/r/apply; do
		errno EACCES $carol stat "$m/x$mode/$name"
	done
	same "$mode: none of it was made" "exports 0" \
		"$(grep '^exports ' "$m/.tabletfs/stats")"
	check "$mode: but its owner" \
		$alice stat "$m/x$mode/.scan/segments/r" >/dev/null
done
errno EACCES $carol ls "$m/x711/.scan/rows"

# What is open goes on: a directory that another looked for stays one's own.
same "who is in it stays" "$m/private/patient-1" "$(cd "$m/private/patient-1" &&
	$carol stat "$m/private/patient-1" 2>/dev/null; env pwd)"

# A table that is made private is it at once, also to who is in it, or has found
# something in it, whatever that is.
table late 755
mkdir -p "$m/late/r/f" && echo 1 >"$m/late/r/f/q"
check "others read it" $carol cat "$m/late/r/f/q" >/dev/null
cat >held.py <<'PYTHON'
import errno, os, subprocess, sys
t, mode = sys.argv[1:]
directories = (".", "r", "r/f", "r/f/.versions", "r/f/.versions/q", ".schema",
               ".schema/f", ".recipes", ".scan", ".scan/limit",
               ".scan/limit/1", ".scan/rows", ".scan/segments", ".at",
               ".at/now", ".at/now/r", ".at/now/r/f", ".at/2026-01-01T00:00:00Z",
               ".as-of", ".drop", ".drop/prefix", ".drop/prefix/r", ".keyviz",
               ".import", ".import/family")
files = ("r/f/q", "r/.row.jsonl", ".stats", ".advice", ".scan/keys",
         ".scan/limit/1/csv", ".scan/export.csv", ".at/now/r/f/q",
         ".schema/f/gc", ".granularity", ".drop/prefix/r/preview",
         ".keyviz/reads.tsv", ".import/last")
go, ready = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.setgroups([]), os.setgid(1003), os.setuid(1003)
    fds = [(name, os.open(t + "/" + name, os.O_PATH))
           for name in directories + files]
    os.chdir(t + "/.scan/rows")
    for name, fd in fds:
        os.close(os.open("/proc/self/fd/%d" % fd, os.O_RDONLY))
    os.close(ready[1])
    os.close(go[1])
    os.read(go[0], 1)
    wrong = []
    for name, fd in fds:
        for what, call in (("open", lambda: os.open("/proc/self/fd/%d" % fd,
                                                    os.O_RDONLY)),
                           ("enter", lambda: os.stat("x", dir_fd=fd))):
            try:
                call()
                wrong.append((name, what))
            except NotADirectoryError:
                assert name in files and what == "enter", name
            except OSError as e:
                if e.errno != errno.EACCES:
                    wrong.append((name, what, e.errno))
    try:
        wrong.append(os.listdir("."))
    except PermissionError:
        pass
    os._exit(len(wrong) and not print(wrong, file=sys.stderr))
os.close(ready[1])
os.read(ready[0], 1)
os.chmod(t, int(mode, 8))
os.makedirs(t + "/made-after/f")
with open(t + "/made-after/f/q", "w") as f:
    f.write("secret")
os.close(go[1])
os.close(go[0])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
PYTHON
check "what another has found there is closed" \
	python3 held.py "$m/late" 700
errno EACCES $carol cat "$m/late/r/f/q"
