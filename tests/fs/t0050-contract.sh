#!/bin/bash
# Sentences of fs/README.md that no other script is about, in its order.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f" && echo v >"$m/t/r/f/q"
export TABLETFS_STORE=$store
# History has files of its own, and notes which tables were dropped.
"$TABLETFS" history off

# The tree: control names are there, not listed, and listed inside.
same "the instance lists tables" t "$(ls -A "$m")"
same "a table rows" r "$(ls -A "$m/t")"
same "a row families" f "$(ls -A "$m/t/r")"
same "a family qualifiers" q "$(ls -A "$m/t/r/f")"
for c in .tabletfs t/.schema t/.granularity t/.scan t/.at t/.import t/.mutate \
	t/.drop t/.stats t/.recipes t/r/.row.jsonl t/r/f/.versions; do
	check "$c" [ -e "$m/$c" ]
done
same "imports are listed" \
	"csv family jsonl last on-error recipe resume timestamp tsv" "$(ls "$m/t/.import" | xargs)"
same "so are ways to drop" "prefix range" "$(ls "$m/t/.drop" | xargs)"
same "and a family's files" "gc type" "$(ls "$m/t/.schema/f" | xargs)"
for step in prefix range regex family column versions since until value \
	filter limit reverse keys rows csv tsv jsonl cbt count estimate \
	samples segments; do
	check "$step is listed" grep -qx "$step" <(ls "$m/t/.scan")
done
same "figures of a table are names and values" "" \
	"$(grep -vE '^[a-z_]+ [^ ]+$' "$m/t/.stats")"
same "of rows, without reading them" "~1" "$(sed -n 's/^rows //p' "$m/t/.stats")"
for name in .x t/.x t/r/.x; do
	errno EPERM mkdir "$m/$name"
	refuse "$name is reserved" touch "$m/$name"
done
check "not in a family" sh -c "echo swap >'$m/t/r/f/.q.swp'"
same "where it is a cell" swap "$(cat "$m/t/r/f/.q.swp")"
errno EEXIST mkdir "$m/t/r/f/.versions"
rm "$m/t/r/f/.q.swp"

# Names: what is too long or too much is refused, noted, and changes nothing.
# mutate_row KEY QUALIFIER: a cell of these, that are repeated bytes.
mutate_row() {
	python3 -c 'import sys
k, q = "k" * int(sys.argv[1]), "q" * int(sys.argv[2])
print("{\"row\":\"%s\",\"set\":{\"f\":{\"%s\":\"v\"}}}" % (k, q))' "$@" >in
	cp in "$m/t/.mutate"
}
check "a key of 4,096 bytes" mutate_row 4096 1
errno ENAMETOOLONG mutate_row 4097 1
check "is noted" grep -q '4096\|too long' "$m/.tabletfs/errors"
check "a qualifier of 16,384 bytes" mutate_row 1 16384
errno ENAMETOOLONG mutate_row 1 16385
same "and nothing else is there" 3 "$(cat "$m/t/.scan/count")"
printf '{"row":"%s","delete":true}\n' k "$(printf 'k%.0s' $(seq 4096))" \
	>"$m/t/.mutate"
name=$(printf 'n%.0s' $(seq 51))
refuse "a table of 51 bytes" mkdir "$m/$name"
check "one of 50" mkdir "$m/${name%n}"
rmdir "$m/${name%n}"
name=$(printf 'n%.0s' $(seq 65))
refuse "a family of 65 bytes" mkdir "$m/t/.schema/$name"
check "one of 64" mkdir "$m/t/.schema/${name%n}"
rmdir "$m/t/.schema/${name%n}"
for name in .x -x 'a b' é a%2Fb; do
	refuse "a table $name" mkdir "$m/$name"
done
(cd "$m" && seq -f 'n%.0f' 999 | xargs mkdir)
errno ENOSPC mkdir "$m/one-more"
check "which is noted" grep -q 'one-more' "$m/.tabletfs/errors"
(cd "$m" && seq -f 'n%.0f' 999 | xargs rmdir)
same "and the old ones are gone" t "$(ls "$m")"

# Cells.
f=$m/t/r/f
exec 3>"$f/pending"
echo x >&3
touch -d '2001-01-01 UTC' "$f/pending"
echo y >&3
exec 3>&-
check "a write after utimensat ends the time that was set" \
	[ "$(stat -c %Y "$f/pending")" -gt 1500000000 ]
python3 - "$f/shared" <<'PYTHON' && pass || fail "one draft for all handles"
import os, sys
a = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
b = os.open(sys.argv[1], os.O_RDWR)
os.write(a, b"hello")
assert os.pread(b, 9, 0) == b"hello"
os.pwrite(b, b"J", 0)
assert os.pread(a, 9, 0) == b"Jello"
c = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
os.write(c, b"!")
os.write(a, b"?")           # at a's own offset, over the mark
assert os.pread(b, 9, 0) == b"Jello?"
os.fsync(a)
os.close(a), os.close(b), os.close(c)
assert open(sys.argv[1]).read() == "Jello?"
PYTHON
same "in one version" 1 "$(versions t/r/f shared)"
before=$(stat -c %.6Y "$f/q" | tr -d .)
rm "$f/q"
errno ENOENT cat "$m/t/.at/$before/r/f/q"
echo again >"$f/q"
same "the past does not show what was removed" "" \
	"$(cat "$m/t/.at/$before/r/f/q" 2>/dev/null)"
if command -v setfattr >/dev/null; then
	errno EOPNOTSUPP setfattr -n user.x -v 1 "$f/q"
	errno EOPNOTSUPP getfattr --only-values -n user.tabletfs.key "$f/q"
fi
same "df is that of the store's file system" \
	"$(stat -f -c '%b' "$store" | cut -c 1-4)" \
	"$(stat -f -c '%b %S' "$m" | awk -v s="$(stat -f -c %S "$store")" \
		'{ printf "%.0f", $1 * $2 / s }' | cut -c 1-4)"
check "mmap reads" python3 -c 'import mmap, sys
with open(sys.argv[1], "rb") as f:
    assert mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:] == b"again\n"' "$f/q"

# Renames of large rows and between tables.
mkdir -p "$m/t/big/f" "$m/u/s/f"
python3 -c 'for i in range(600):
    print("{\"row\":\"big\",\"set\":{\"f\":{\"%d\":\"%s\"}}}" % (i, "v" * 60000))' \
	>"$m/t/.import/jsonl"
check "mv copies what is too large to move" mv "$m/t/big" "$m/t/bigger"
same "all of it" 600 "$(ls "$m/t/bigger/f" | wc -l)"
check "and removes it" [ ! -e "$m/t/big" ]
python3 - "$m" <<'PYTHON' && pass || fail "EXDEV"
import errno, os, sys
m = sys.argv[1]
for a, b in (("/t/bigger", "/t/big"), ("/t/r", "/u/r"), ("/t/r/f", "/t/r/g"),
             ("/t/r/f/q", "/u/s/f/q"), ("/t/r", "/x")):
    try:
        os.rename(m + a, m + b)
        sys.exit(a)
    except OSError as e:
        if e.errno != errno.EXDEV:
            sys.exit("%s: %s" % (a, e))
PYTHON
rm -r "$m/t/bigger" "$m/u/s"
rmdir "$m/u"

# Rows and families.
mkdir "$m/t/phantom" "$m/t/phantom/f"
same "a phantom is listed" "phantom r" "$(ls "$m/t" | xargs)"
same "but no verb counts it" 1 "$("$TABLETFS" count t)"
same "nor is it among the links of a scan" r "$(ls "$m/t/.scan/rows")"
rm -r "$m/t/phantom"

# Control files: size, streams, snapshots, and exact answers to writes.
same "they have no size" "0 0" \
	"$(stat -c %s "$m/t/.scan/keys" "$m/t/.stats" | xargs)"
seq -f '{"row":"n%04.0f","set":{"f":{"q":"1"}}}' 5000 >in
cp in "$m/t/.import/jsonl"
exec 3<"$m/t/.scan/keys"
head -c 10 <&3 >/dev/null
echo '{"row":"n4999x","set":{"f":{"q":"1"}}}' >"$m/t/.mutate"
"$TABLETFS" deleterow t n4998
same "a scan sees the table of when it was opened" "n4998 n4999 n5000 r" \
	"$(tail -n 4 <&3 | xargs)"
exec 3<&-
cat "$m/t/.scan/versions/all/jsonl" | (
	read -r line # and no more, while the pipe is full
	same "a scan that waits does not block a lookup" 1 "$(cat "$m/t/n0001/f/q")"
	echo x >"$m/t/n0001/f/q"
	check "nor a write" grep -q x "$m/t/n0001/f/q"
	echo "$passed $failed" >counts
)
read -r passed failed <counts
python3 - "$m/t" <<'PYTHON' && pass || fail "what write and close say"
import errno, os, sys
from fails import fails
t = sys.argv[1]

def line(row, family="f"):
    return b'{"row":"%s","set":{"%s":{"q":"1"}}}\n' % (row, family.encode())

def there(row):
    return os.path.exists(t + "/" + row)

# .mutate: the bytes before the wrong line, then EINVAL.
fd = os.open(t + "/.mutate", os.O_WRONLY)
good, bad = line(b"m1"), line(b"m2", "none")
assert os.write(fd, good + bad + line(b"m3")) == len(good)
fails(errno.EINVAL, os.write, fd, bad + line(b"m3"))
fails(errno.EINVAL, os.write, fd, line(b"m3"))
fails(errno.EINVAL, os.close, fd)
assert there("m1") and not there("m2") and not there("m3")
# A last line without its newline runs at the close, if it parses.
fd = os.open(t + "/.mutate", os.O_WRONLY)
os.write(fd, line(b"m4")[:-1])
assert not there("m4")
os.close(os.dup(fd))                # FLUSH
assert there("m4")
fails(errno.EINVAL, os.write, fd, b"x\n")
os.close(fd)
fd = os.open(t + "/.mutate", os.O_WRONLY)
os.write(fd, line(b"m5")[:20])
fails(errno.EINVAL, os.close, fd)
assert not there("m5")
# .import goes on and tells at the close.
fd = os.open(t + "/.import/jsonl", os.O_WRONLY)
data = line(b"i1") + line(b"i2", "none") + line(b"i3")
assert os.write(fd, data) == len(data)
assert there("i1") and there("i3")
fails(errno.EINVAL, os.close, fd)
assert "line 2: " in open(t + "/.import/last").read()
# .row.jsonl: another row's key.
os.makedirs(t + "/own/f")
fd = os.open(t + "/own/.row.jsonl", os.O_WRONLY)
os.write(fd, line(b"other"))
fails(errno.EINVAL, os.close, fd)
assert not there("other")
PYTHON
same "a pattern that backtracks elsewhere takes linear time" 1 "$(
	printf '{"row":"%s","set":{"f":{"q":"1"}}}\n' \
		"$(printf 'a%.0s' $(seq 3000))" >"$m/t/.mutate"
	timeout 20 cat "$m/t/.scan/regex/(a*)*(a*)*a/count")"

"$TABLETFS" compact
# What is obsolete goes a moment later.
for i in $(seq 50); do
	largest=$(du -b "$store"/*.sst | cut -f 1 | sort -n | tail -n 1)
	[ "$(cat "$m/t/.scan/samples")" = "$largest" ] && break
	sleep 0.1
done
same "a small table is one piece" "1 0 $largest" \
	"$(wc -l <"$m/t/.scan/samples") 0 $(cat "$m/t/.scan/samples")"
same "by a verb as well" "$(cat "$m/t/.scan/samples")" \
	"$("$TABLETFS" samplekeys t)"
same "of nothing" "" "$(cat "$m/t/.scan/range/b..a/samples")"

# Mounts.
remount -o gc=maxversions=3
mkdir "$m/t/r/g"
same "-o gc= is of families that mkdir makes" maxversions=3 \
	"$(cat "$m/t/.schema/g/gc")"
remount -o sync
syncs() { awk '$1 == "tabletfs_syncs_total" { print $2 }' "$m/.tabletfs/metrics"; }
before=$(syncs)
for i in 1 2 3 4 5; do echo $i >"$f/synced"; done
check "-o sync syncs at each close" [ "$(syncs)" -ge $((before + 5)) ]
check "help is served" grep -q '\.scan' "$m/.tabletfs/help"
same "and the version" "$("$TABLETFS" version)" "$(cat "$m/.tabletfs/version")"
