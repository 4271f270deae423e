#!/bin/bash
# Row keys and qualifiers of any bytes.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" || exit 1
cat >keys.py <<'PYTHON'
import os, sys
m = sys.argv[1].encode()
keys = [b"\x01", b"\n", b" ", b"' '", b'"q"', b"#", b"%CPU", b"'", b"-",
        b"-dash", b".", b"..", b"0", b"00", b"10", b"9", b":", b"=", b"@",
        b"A", b"\\", b"a", b"a\x01", b"a\nb", b'"a b"', b"a/b", b"a=b",
        "e\u0301".encode(), b"\x7f", b"\x80", "\u00e9".encode(),
        "\u65e5\u672c".encode(), b"\xff", b"\xff\xff", b"%2F", b"%2f", b"/",
        b".hidden", b"..x", b".versions", b"%~", b"%"]

def name(key, level):
    out = b""
    for i, c in enumerate(key):
        b = key[i:i + 1]
        rest = key[i + 1:]
        hexes = b"0123456789ABCDEF"
        if c < 32 or c == 127 or b == b"/":
            out += b"%%%02X" % c
        elif b == b"%" and (rest[:1] == b"~" or
                            len(rest) > 1 and rest[0] in hexes
                            and rest[1] in hexes):
            out += b"%25"
        elif b == b"." and i == 0 and (
                key in (b".", b"..") or
                (level == "row" or key == b".versions")):
            out += b"%2E"
        else:
            out += b
    return out

for k in keys:
    d = m + b"/t/" + name(k, "row") + b"/f"
    os.makedirs(d)
    with open(d + b"/q", "wb") as f:
        f.write(k)
listed = os.listdir(m + b"/t")
assert set(listed) == {name(k, "row") for k in keys}, listed
fd = os.open(m + b"/t", os.O_RDONLY)
order = [e for e in os.popen("ls -U '%s/t' | wc -l" % sys.argv[1])]
raw = []
with os.scandir(m + b"/t") as it:
    raw = [e.name for e in it]
assert raw == [name(k, "row") for k in sorted(keys)], raw
for k in keys:
    p = m + b"/t/" + name(k, "row") + b"/f/q"
    assert open(p, "rb").read() == k
d = m + b"/t/quals/f"
os.makedirs(d)
quals = keys + [b""]
def qname(k):
    return name(k, "qualifier") if k else b"%~"
for k in quals:
    with open(d + b"/" + qname(k), "wb") as f:
        f.write(k)
with os.scandir(d) as it:
    raw = [e.name for e in it]
assert raw == [qname(k) for k in sorted(quals)], raw
for k in quals:
    assert open(d + b"/" + qname(k), "rb").read() == k
for bad in (b"%41", b"%2fx%2F%61", b"%7E", b"%zz%20"):
    try:
        os.stat(m + b"/t/" + bad)
        assert False, bad
    except FileNotFoundError:
        pass
PYTHON
check "odd keys" python3 keys.py "$m"
errno EINVAL mkdir "$m/t/%41"
errno EINVAL touch "$m/t/quals/f/%41"
errno EINVAL mkdir "$m/t/%~"
errno EPERM mkdir "$m/t/.x"
long=$(printf 'k%.0s' $(seq 255))
check "a name of 255 bytes" mkdir "$m/t/$long"
errno ENAMETOOLONG mkdir "$m/t/${long}k"

key=$(printf 'x%.0s' $(seq 1000))
printf '{"row":"%sA","set":{"f":{"q":"1"}}}\n{"row":"%sB","set":{"f":{"q":"2"}}}\n' \
	"$key" "$key" >"$m/t/.mutate" && pass || fail "long keys"
same "long keys are listed" 2 "$(ls "$m/t" | grep -c '^x\{200\}%~[0-9a-f]\{16\}$')"
same "and can be opened" "1 2" "$(cat "$m"/t/xxxx*/f/q | sed 's/./& /g' |
	tr ' ' '\n' | grep . | sort | xargs)"
same "keys tells them whole" "$(cat "$m/t/.scan/prefix/xxx/keys" | wc -l)" 2
