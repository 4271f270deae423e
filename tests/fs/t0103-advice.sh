#!/bin/bash
# Advice: each fault that is planted is found, with its evidence; good designs,
# and keys that only look like faults, are left alone.
. "$(dirname "$0")/lib.sh"

cat >make.py <<'PY'
import hashlib, json, random, sys
random.seed(7)
def rows(keys, family="f", column="q", value="v"):
    for key in keys:
        print(json.dumps({"row": key, "set": {family: {column: value}}}))
what = sys.argv[1]
n = range(1000)
if what == "unpadded":
    rows("user#%d#profile" % i for i in n)
elif what == "letters":
    rows("sensor%d" % i for i in n)
elif what == "long":
    rows("/home/%s/%04d" % ("x" * 220, i) for i in n)
elif what == "names":
    rows(("%05d" % i for i in n), "measurements_of_the_station",
         "temperature_in_degrees_celsius", "7")
elif what == "versions":
    for i in range(1200):
        print(json.dumps({"row": "r", "set": {"f": {"q": {
            "value": "v", "timestamp": 1000 + i}}}}))
# Good ones.
elif what == "series":      # device, metric, time
    rows("%s#memusage#%010d" % (d, 1700000000 + 60 * i)
         for d in ("4c410523", "4c410524") for i in n)
elif what == "reversed":    # newest first
    rows("phone#%06x#%019d" % (random.randrange(99), 9223372036854775807 - i)
         for i in n)
elif what == "places":
    rows("%s#%s#%05d" % (a, b, i) for a in ("asia", "europe")
         for b in ("india", "spain") for i in n)
elif what == "domains":
    rows(("com.example%s.www/%s" % (c, p) for c in "abcdefg"
          for p in ("index.html", "main.py", "10", "9", "100", "20")))
elif what == "tenants":
    rows("altostrat#%s#%08d" % (t, i) for t in ("one", "two") for i in n)
elif what == "friends":
    for i in range(300):
        print(json.dumps({"row": "jose%03d" % i, "set": {"friends": {
            "a_long_name_of_a_friend_%d" % random.randrange(10000): "" for _ in n[:5]}}}))
elif what == "hashes":
    rows(hashlib.sha1(str(i).encode()).hexdigest() for i in n)
elif what == "emails":
    rows("name%d@example%d.com" % (i, i % 7) for i in n)
elif what == "phones":
    rows(sorted(str(random.choice((30, 171, 49171)) * 10 ** random.choice((6, 7))
                    + random.randrange(10 ** 6)) for i in n))
elif what == "plus":
    rows("+49171%d" % random.randrange(10 ** random.choice((5, 6))) for i in n)
elif what == "epochs":
    rows("%d#x" % (1699999000000 + i * 1777) for i in n)
elif what == "packages":
    rows("%s@%d.%d.%d" % (p, i % 3, i % 11, i) for p in ("left-pad", "libc")
         for i in range(150))
elif what == "salted":
    rows("%d#event%09d" % (i % 16, i) for i in n)
elif what == "zones":
    rows(open("zones").read().split("\n")[:-1])
PY
find /usr/share/zoneinfo -type f -printf '%P\n' 2>/dev/null | sort >zones
[ -s zones ] || printf '%s\n' Europe/Paris Etc/GMT+1 Etc/GMT+10 Etc/GMT+2 >zones

# advice TABLE: the rules that have advice.
advice() {
	T advise "$1" >"advice.$1" || echo failed
	sed -n 's/^advice \([a-z ]*\):.*/\1/p' "advice.$1" | paste -sd,
}
load() {
	# No two of them are alike.
	T createtable "$1" "families=${2:-f},of_$1"
	python3 make.py "$1" >"$1.jsonl"
	T import "$1" "$1.jsonl" quiet=yes >/dev/null
}
has() {
	check "$1: $2" grep -qF -- "$2" "advice.$1"
}

load unpadded
same "numbers" numbers "$(advice unpadded)"
has unpadded 'segment 2 has numbers of 1 to 3 digits'
has unpadded '"user#109#profile" comes before "user#11#profile"'
for word in why do 'recipe key'; do
	check "it says $word" grep -q "^  $word " advice.unpadded
done
load letters
same "behind letters" numbers "$(advice letters)"
load long
same "long keys" "key length" "$(advice long)"
has long ' bytes in the mean, '
load names measurements_of_the_station
same "long names" names "$(advice names)"
has names 'measurements_of_the_station:temperature_in_degrees_celsius'
load versions
same "versions" versions "$(advice versions)"
has versions 'is 1200: "r" f:q'
has versions 'tabletfs setgcpolicy versions f maxversions='
T setgcpolicy versions f maxversions=2000
same "with a policy" "" "$(advice versions)"
T createtable wide "families=$(seq -s, -f 'f%g' 120)"
same "families" families "$(advice wide)"
has wide 'families: 120'
T createtable large families=f
head -c 11M /dev/zero >value
start_mount
mkdir -p "$m/large/r/f" && cp value "$m/large/r/f/cell"
for i in $(seq 10); do cp value "$m/large/r/f/c$i"; done
same "large cells and rows" "row size,cell size" "$(advice large)"
has large '"r" f:c'
for i in $(seq 25); do mkdir -p "$m/tenant$i/row/g"; echo 1 >"$m/tenant$i/row/g/q"; done
same "tables alike" "tables alike" "$(advice tenant7)"

# What only the heat map knows: a hot row, also one that is all of its table and
# so has most lines of the picture; a sequence that is written. A load counts by
# 16 KiB, other writes one by one: a row of many columns beside it has not most
# of them, and none of its columns is written again.
T createtable hot families=f:maxversions=1
T createtable lone families=f:maxversions=1
T createtable events families=f
T createtable loaded families=f,of_loaded
seq -f '{"row":"%09.0f","set":{"f":{"q":"v"}}}' 100000 >loaded.jsonl
T import loaded loaded.jsonl quiet=yes >/dev/null
python3 - "$m" <<'PY'
import json, os, sys, time
m = sys.argv[1]
hot = os.open(m + "/hot/.mutate", os.O_WRONLY)
lone = os.open(m + "/lone/.mutate", os.O_WRONLY)
events = os.open(m + "/events/.mutate", os.O_WRONLY)
loaded = os.open(m + "/loaded/.mutate", os.O_WRONLY)
for second in range(11):
    text = "".join(json.dumps({"row": "%012d" % (second * 100 + i),
                               "set": {"f": {"q": "v"}}}) + "\n" for i in range(100))
    os.write(events, text.encode())
    text = "".join(json.dumps({"row": "4c410523#memusage" if i % 10 else "other%04d" % i,
                               "set": {"f": {"q": "v"}}}) + "\n" for i in range(800))
    os.write(hot, text.encode())
    os.write(lone, (json.dumps({"row": "counter", "set": {"f": {"q": "v"}}}) + "\n").encode() * 800)
    os.write(loaded, (json.dumps({"row": "x", "set": {"f": {
        "%d.%d" % (second, i): "v" for i in range(800)}}}) + "\n").encode())
    time.sleep(1)
PY
same "a hot row" rewriting "$(advice hot)"
check "a hot row is told with its columns" grep -qE \
	'^advice rewriting: "4c410523#memusage" has had about [0-9]+ writes, and has 1 columns$' \
	advice.hot
same "a hot row, alone" rewriting "$(advice lone)"
same "a load beside a row of many columns" "" "$(advice loaded)"
has loaded 'ok rewriting: "x" has had about '
same "stairs" "rising keys" "$(advice events)"
has events 'lead with a sequence'
has events 'if moved to Bigtable'
check "on the mount" cmp advice.events "$m/events/.advice"
errno ENOENT cat "$m/none/.advice"
stop_mount

for good in series reversed places domains tenants hashes emails phones plus \
	epochs packages salted zones; do
	load "$good"
	same "$good" "" "$(advice "$good")"
	same "$good: ten rules" 10 "$(grep -c '^ok ' "advice.$good")"
done
load friends friends
same "friends" "" "$(advice friends)"
T createtable empty families=of_empty
same "an empty table" "" "$(advice empty)"

# A source tree, and Debian's packages if this machine has them.
start_mount
cp -r "$fs_tests/.." "$work/tree"
rm -rf "$work/tree/fuzz"
python3 - "$work/tree" >tree.jsonl <<'PY'
import base64, json, os, sys
for d, _, files in os.walk(sys.argv[1]):
    for f in files:
        p = os.path.join(d, f)
        if os.path.isfile(p):
            print(json.dumps({"row": os.path.relpath(p, sys.argv[1]), "set": {"file": {
                "content": {"base64": base64.b64encode(open(p, "rb").read()).decode()},
                "mode": "644"}}}))
PY
T createtable tree families=file
T import tree tree.jsonl quiet=yes >/dev/null
same "a source tree" "" "$(advice tree)"
if [ -s /var/lib/dpkg/status ]; then
	python3 - >packages.jsonl <<'PY'
import json
for p in open("/var/lib/dpkg/status", errors="replace").read().split("\n\n"):
    f = dict(l.split(": ", 1) for l in p.split("\n") if ": " in l and l[0] != " ")
    if "Package" in f:
        print(json.dumps({"row": f["Package"], "set": {"control": f}}))
PY
	T createtable debian families=control
	T import debian packages.jsonl quiet=yes >/dev/null
	same "Debian's packages" "" "$(advice debian)"
fi

status 1 "no table" T advise none
told 'table "none" not found'
status 1 "no word" T advise
finish
