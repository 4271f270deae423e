#!/bin/bash
# One name for a key and one spelling for a name, of every byte and at every
# level, and the sizes beyond which there is none.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" || exit 1

# Keys that came as JSON are listed by the names that the rules give, and keys
# that were made by their names come out as JSON.
cat >bytes.py <<'PYTHON'
import base64, json, os, sys
m = sys.argv[1].encode()

def key_of(text):
    return base64.b64decode(text["base64"]) if isinstance(text, dict) \
        else text.encode()

def qualifier_of(text):
    return base64.b64decode(text[7:]) if text.startswith("base64:") \
        else text.encode()

def escaped(c):
    return c < 32 or c == 127 or c == ord("/")

bytes_ = [bytes([c]) for c in range(256)]
keys = [b"x" + c + b"y" for c in bytes_]
plain = {b"x" + (b"%%%02X" % c if escaped(c) else bytes([c])) + b"y"
         for c in range(256)}
with open(m + b"/t/.mutate", "wb") as f:
    for k in keys:
        f.write(json.dumps({"row": {"base64": base64.b64encode(k).decode()},
                            "set": {"f": {"base64:" +
                                          base64.b64encode(k).decode(): "1"}}}
                           ).encode() + b"\n")
assert set(os.listdir(m + b"/t")) == plain
for name in plain:
    assert os.listdir(m + b"/t/" + name + b"/f") == [name], name
order = [e.name for e in os.scandir(m + b"/t")]
assert open(m + b"/t/.scan/keys", "rb").read() == \
    b"".join(n + b"\n" for n in order)
os.mkdir(m + b"/u")
for name in plain:
    os.makedirs(m + b"/u/" + name + b"/f")
    open(m + b"/u/" + name + b"/f/" + name, "wb").close()
made = [json.loads(line) for line in open(m + b"/u/.scan/jsonl")]
assert [key_of(r["row"]) for r in made] == sorted(keys)
assert [qualifier_of(*r["set"]["f"]) for r in made] == sorted(keys)
PYTHON
check "each byte" python3 bytes.py "$m"

# A tree as wget -r leaves it: names with codes that are no escapes here, with
# such that are, and with what stands for no name, go in and come out as they are.
for r in a%20b %7Euser x%2Fy %252Fz 100%25 %25~ '%~x' %C3%A9 %2Edot %00 '?q=%26'; do
	for q in index.html 'index.html?a=1%262%2F3' a%20b x%2Fy %252Fz 100%25 '%~' \
		'%25~' '%~x' %7Euser .%2E %2Edot '%~0123456789abcde' %0A%250A; do
		mkdir -p "mirror/$r/page" && echo "$r $q" >"mirror/$r/page/$q"
	done
done

# listed DIR: all paths in it.
listed() {
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort)
}

# arrived WHAT DIR: the tree there is the mirror.
arrived() {
	check "$1: its bytes" diff -r mirror "$2"
	same "$1: its names" "$(listed mirror)" "$(listed "$2")"
}
same "files of the mirror" 154 "$(find mirror -type f | wc -l)"
for t in cp tar rsync; do mkdir "$m/$t" "out-$t"; done
check "cp -r in" cp -r mirror/. "$m/cp/"
check "tar in" sh -c "tar cC mirror . | tar xC '$m/tar'"
check "rsync in" rsync -r mirror/ "$m/rsync/"
check "cp -r out" cp -r "$m/cp/." out-cp/
check "tar out" sh -c "tar cC '$m/tar' . | tar xC out-tar"
check "rsync out" rsync -r "$m/rsync/" out-rsync/
for t in cp tar rsync; do
	arrived "$t in" "$m/$t"
	arrived "$t out" "out-$t"
done
same "rsync has nothing left to send" "" \
	"$(rsync -rci mirror/ "$m/cp/" | grep '^[<>]f')"
check "rm -r of it" sh -c "rm -r '$m/cp/'*"
same "leaves nothing" "" "$(ls -A "$m/cp")"
same "nothing was refused" "" "$(cat "$m/.tabletfs/errors")"

# A raw control byte is ENOENT where something is looked for and EINVAL where it
# would be made, whatever the call; so is any other name that a table or family
# cannot have.
mkdir -p "$m/t/A/f" && echo 1 >"$m/t/A/f/A"
check "calls with names that are no key's" python3 - "$m" <<'PYTHON'
import errno, os, sys
from fails import fails
t = sys.argv[1] + "/t"

for bad in "\x01", "a\n", "%41\x7f", "%2F\x1b":
    for parent in t, t + "/A", t + "/A/f":
        path = parent + "/" + bad
        fails(errno.ENOENT, os.stat, path)
        fails(errno.ENOENT, os.rmdir, path)
        fails(errno.ENOENT, os.unlink, path)
        fails(errno.ENOENT, os.rename, path, parent + "/other")
        if parent == t + "/A":
            continue
        fails(errno.EINVAL, os.mkdir if parent == t else
              lambda p: os.open(p, os.O_CREAT | os.O_WRONLY), path)
    fails(errno.EINVAL, os.rename, t + "/A", t + "/" + bad)
    fails(errno.EINVAL, os.rename, t + "/A/f/A", t + "/A/f/" + bad)
    fails(errno.ENOENT, os.listdir, t + "/.scan/prefix/" + bad + "/rows")
for bad in "\n", "%41", "%2F", "%25~":
    fails(errno.EINVAL, os.mkdir, t + "/A/" + bad)
    fails(errno.EINVAL, os.mkdir, sys.argv[1] + "/" + bad)
    fails(errno.EINVAL, os.rename, t, sys.argv[1] + "/" + bad)
fails(errno.EINVAL, os.mkdir, t + "/%~")
fails(errno.EINVAL, os.rename, t + "/A", t + "/%~")
fails(errno.EPERM, os.rename, t + "/A", t + "/.x")
fails(errno.EPERM, os.rename, t, sys.argv[1] + "/.x")
fails(errno.EISDIR, os.rename, t + "/A/f/A", t + "/A/f/.versions")
fails(errno.EPERM, os.mkdir, t + "/A/.f")
assert sorted(os.listdir(t + "/A/f")) == ["A"]
# At the level of cells dots are free, and the names that editors make work.
for name in ".A.swp", ".A.Xy12Za", "..A", ".version", ".versions~":
    with open(t + "/A/f/" + name, "w") as f:
        f.write(name)
    os.rename(t + "/A/f/" + name, t + "/A/f/A")
    assert open(t + "/A/f/A").read() == name
assert os.listdir(t + "/A/f") == ["A"]
PYTHON
echo '{"row":"","set":{"f":{"q":"1"}}}' >in
errno EINVAL cp in "$m/t/.mutate"
check "the reason is noted" grep -q 'Row keys must' "$m/.tabletfs/errors"

# Names that are longer than 255 bytes.
long() {
	local i
	for ((i = 0; i < $2; i++)); do printf %s "$1"; done
}
escapes=$(long %0A 85)
check "85 escapes are a name" mkdir "$m/t/$escapes"
rmdir "$m/t/$escapes"
errno ENAMETOOLONG mkdir "$m/t/${escapes}x"
errno ENAMETOOLONG touch "$m/t/A/f/${escapes}x"
errno ENAMETOOLONG mv "$m/t/A" "$m/t/${escapes}x"
check "keys that are too long for names" python3 - "$m" <<'PYTHON'
import errno, json, os, re, sys
m = sys.argv[1]
keys = ["x" * 256, "é" * 1000, "a" + "日" * 1000, "\n" * 100, "y" * 4096]
os.mkdir(m + "/long")
os.mkdir(m + "/long/.schema/f")
with open(m + "/long/.mutate", "w") as f:
    for k in keys:
        f.write(json.dumps({"row": k, "set": {"f": {k * 4 if k == "y" * 4096
                                                    else k: k}}}) + "\n")
names = os.listdir(m + "/long")
assert len(names) == len(set(names)) == len(keys)
for name in names:
    head, mark, rest = name.partition("%~")
    assert mark and re.fullmatch("[0-9a-f]{16}", rest), name
    raw = os.fsencode(head)
    assert 200 - 3 < len(raw) <= 200, len(raw)
    raw.decode()
    key = head.replace("%0A", "\n")
    key, = [k for k in keys if k.startswith(key)]
    f = m + "/long/" + name + "/f"
    cell, = os.listdir(f)
    assert open(f + "/" + cell).read() == key
    with open(f + "/" + cell, "a") as file:
        file.write("more")
    assert open(f + "/" + cell).read() == key + "more"
    assert len(os.listdir(f + "/.versions/" + cell)) == 2
    assert os.stat(f).st_ino == [e.inode() for e in os.scandir(f + "/..")][0]
    with open(f + "/saved", "w") as file:
        file.write("saved")
    os.rename(f + "/saved", f + "/" + cell)
    assert open(f + "/" + cell).read() == "saved"
    assert len(os.listdir(f + "/.versions/" + cell)) == 3
    os.rename(f + "/" + cell, f + "/short")
    assert os.listdir(f) == ["short"]
    os.unlink(f + "/short")
    for path in m + "/long/" + head + "%~0123456789abcdef", \
                f + "/" + head + "%~0123456789abcdef":
        try:
            os.stat(path)
            assert False, path
        except FileNotFoundError:
            pass
        try:
            os.mkdir(path) if path.startswith(f) is False else \
                os.open(path, os.O_CREAT)
            assert False, path
        except OSError as e:
            assert e.errno == errno.ENAMETOOLONG, e
    assert not os.listdir(f)
    os.rmdir(f)
    os.rmdir(m + "/long/" + name)
assert os.listdir(m + "/long") == []
PYTHON
mkdir -p "$m/long/s/f" && echo >"$m/long/s/f/q"
echo "{\"row\":\"$(long k 300)\",\"set\":{\"f\":{\"q\":\"\"}}}" >"$m/long/.mutate"
same "keys tells the whole key" "$(long k 300)" "$(head -1 "$m/long/.scan/keys")"

# Limits: what is beyond one changes nothing and is noted.
noted=$(wc -l <"$m/.tabletfs/errors")
# beyond ERRNO COMMAND...
beyond() {
	errno "$@"
	same "a line in errors: $*" $((noted + 1)) \
		"$(wc -l <"$m/.tabletfs/errors")"
	noted=$(wc -l <"$m/.tabletfs/errors")
}
check "a table's name of 50 bytes" mkdir "$m/$(long t 50)"
beyond ENAMETOOLONG mkdir "$m/$(long t 51)"
beyond ENAMETOOLONG mv "$m/$(long t 50)" "$m/$(long u 51)"
rmdir "$m/$(long t 50)"
for bad in 'a b' -x é a:b; do
	beyond EINVAL mkdir "$m/$bad"
	beyond EINVAL mkdir "$m/t/A/$bad"
	beyond EINVAL mkdir "$m/t/.schema/$bad"
done
for good in _ 0-9 a.b A_z; do
	check "a table $good" mkdir "$m/$good"
	check "a family $good" mkdir "$m/$good/.schema/$good"
	rmdir "$m/$good"
done
check "a family's name of 64 bytes" mkdir "$m/t/A/$(long g 64)"
beyond ENAMETOOLONG mkdir "$m/t/A/$(long g 65)"
beyond ENAMETOOLONG mkdir "$m/t/.schema/$(long g 65)"
rows=$(cat "$m/t/.scan/count")
# mutation ROW QUALIFIER
mutation() {
	echo "{\"row\":\"$1\",\"set\":{\"f\":{\"$2\":\"v\"}}}" >in
}
mutation "$(long r 4096)" "$(long q 16384)"
check "the longest row key and qualifier" cp in "$m/t/.mutate"
same "are there" $((rows + 1)) "$(cat "$m/t/.scan/count")"
mutation "$(long r 4097)" q
beyond ENAMETOOLONG cp in "$m/t/.mutate"
mutation long "$(long q 16385)"
beyond ENAMETOOLONG cp in "$m/t/.mutate"
same "what was too long is not" $((rows + 1)) "$(cat "$m/t/.scan/count")"
beyond EFBIG truncate -s 104857601 "$m/t/A/f/A"
same "nor changed" .versions~ "$(cat "$m/t/A/f/A")"

count=$(ls "$m" | wc -l)
check "1000 tables" sh -c "seq $((count + 1)) 1000 | sed 's,^,$m/n,' | xargs mkdir"
same "are listed" 1000 "$(ls "$m" | wc -l)"
noted=$(wc -l <"$m/.tabletfs/errors")
beyond ENOSPC mkdir "$m/n1001"
rmdir "$m/n1000"
check "then there is room for one" mkdir "$m/n1001"
