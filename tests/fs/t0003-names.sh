#!/bin/bash
# Row keys and qualifiers of any bytes.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" || exit 1
cat >keys.py <<'PYTHON'
import os, re, sys
m = sys.argv[1].encode()
keys = [b"\x01", b"\n", b" ", b"' '", b'"q"', b"#", b"%CPU", b"'", b"-",
        b"-dash", b".", b"..", b"0", b"00", b"10", b"9", b":", b"=", b"@",
        b"A", b"\\", b"a", b"a\x01", b"a\nb", b'"a b"', b"a/b", b"a=b",
        "e\u0301".encode(), b"\x7f", b"\x80", "\u00e9".encode(),
        "\u65e5\u672c".encode(), b"\xff", b"\xff\xff", b"%2F", b"%2f", b"/",
        b".hidden", b"..x", b".versions", b"%~", b"%", b"%25~", b"%~x",
        b"a%20b", b"%41", b"%252F", b"100%25", b"%C3%A9", b"%7E", b"%2Ex",
        b"%252E", b"x%~0123456789abcdef", b"x%25~0123456789abcdef"]

# A '%' that begins an escape, of which there is one more "25" in the name.
ESCAPE = rb"%((25)*([01][0-9A-F]|2F|7F|~[0-9a-f]{16}$)|(25)*~$)"
DOTS = {"row": rb"%(25)*2E", "qualifier": rb"%(25)*2E(\.|versions)?$"}

def name(key, level):
    out = b""
    for i, c in enumerate(key):
        b = key[i:i + 1]
        escape = re.match(ESCAPE, key[i:])
        if c < 32 or c == 127 or b == b"/":
            out += b"%%%02X" % c
        elif b == b"." and i == 0 and (
                key in (b".", b"..") or
                (level == "row" or key == b".versions")):
            out += b"%2E"
        elif escape and (i == 0 or not escape[0].endswith(b"~")) or \
                i == 0 and re.match(DOTS[level], key):
            out += b"%25"
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
# By their names; a key of its own with an escape is another one.
for bad in (b"%40", b"a%2F%2Fb", b"%2541", b"%00%", b"a%0Ab%0A"):
    try:
        os.stat(m + b"/t/" + bad)
        assert False, bad
    except FileNotFoundError:
        pass
PYTHON
check "odd keys" python3 keys.py "$m"

# What is refused, with how to spell it where the help says to look.
check "help says where the reasons are" grep -q .tabletfs/errors "$m/.tabletfs/help"
# refused ERRNO HOW COMMAND...
refused() {
	local name=$1 how=$2
	shift 2
	errno "$name" "$@"
	check "the reason for ${*: -1}" \
		sh -c "tail -1 '$m/.tabletfs/errors' | grep -qF '$how'"
}
refused EINVAL "write %0A for byte 2" mkdir "$m/t/a"$'\n'b
refused EINVAL "write %7F for byte 1" touch "$m/t/quals/f/"$'\x7f'
refused EINVAL "write %25~ for the key %~" mkdir "$m/t/%~"
refused EPERM "write %2E for the dot" mkdir "$m/t/.x"
refused ENAMETOOLONG "write %25~" mkdir "$m/t/x%~0123456789abcde0"
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
