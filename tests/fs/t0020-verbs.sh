#!/bin/bash
# Commands work the same whether the store is mounted or not, and what they
# change is seen through the mount at once.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store TZ=UTC
t() { "$TABLETFS" "$@"; }

# Everything a command prints, and its status.
say() {
	local status
	t "$@" 2>&1
	status=$?
	echo "[$status]"
}

printf ',f,,g\n,a,b,c\nr1,1@1000,2@2000,3\nshort,x\nr3,4@1,,"5@7"\nr4,a"b,,\n' \
	>in.csv
printf '\tf\n\ta\nr5\tx\\ty\n' >in.tsv
echo '{"row":"r6","set":{"g":{"c":{"value":"6","timestamp":5}}}}' >in.jsonl
for i in $(seq 30); do echo "n$i,$i@1"; done | sed '1i ,q' >one.csv

printf 'x,a\nr1,1\n' >bad.csv

# One life of a store; the time of day is cut out.
session() {
	say createtable t families=f:maxversions=3,g
	say createtable t
	say createtable 'a b'
	say ls
	say ls t
	say setgcpolicy t g maxage=30d or maxversions=2
	say createfamily t h
	say ls t
	say set t r f:q=v1@1000 f:q=v2@2000 $'f:\xff=b\n@3'
	say set t r nofam:q=v
	say read t
	say lookup t r cells-per-column=1 columns=f:q
	say lookup t r "filter=chain(value_regex('v.'), apply_label('l'))"
	say import t in.csv timestamp=value-encoded
	say import t in.csv
	say import t in.tsv
	say import t in.jsonl
	say import t - <in.csv
	say import t one.csv column-family=h timestamp=value-encoded
	say import t - column-family=h timestamp=value-encoded <one.csv
	say import t one.csv column-family=a/b
	say import t bad.csv column-family=h
	say import nope in.csv
	say import t missing.csv
	say count t
	say count t prefix=n
	say read t keys-only=true
	say read t reversed=true prefix=r count=2
	say deletecolumn t r f q
	say deleterow t r1
	say deletefamily t h
	say count t
	say compact t
	say check
	say sync
	say sync x
	say deleteallrows t
	say count t
	say deletetable t
	say ls
	say ls t
	say nonsense
}

cut_times() {
	sed -E 's/@ 20[0-9]{2}.*/@ now/'
}

refuse "a store that is not there" t ls
for verb in ls inspect; do
	same "a store without a name: $verb" \
		"tabletfs: the store's name is empty; say tabletfs -store DIR $verb" \
		"$("$TABLETFS" -store "" $verb 2>&1)"
done
check "createtable makes one" t createtable first
check "and it can be dropped" t deletetable first
session | cut_times >alone
rm -rf "$store"
start_mount || exit 1
session | cut_times >mounted
if cmp -s alone mounted; then
	pass
else
	fail "a mount makes a difference: $(diff alone mounted | head -20)"
fi
same "something was said" 42 "$(grep -c '^\[' alone)"
check "labels" grep -q '@ 1970/01/01-00:00:00.002000 \[l\]$' alone
same "most of it well" 29 "$(grep -c '^\[0\]' alone)"

t createtable seen families=f
same "a table is seen" seen "$(ls "$m")"
cat "$m/seen/r/f/q" 2>/dev/null
t set seen r f:q=one
same "a cell is seen where none was" one "$(cat "$m/seen/r/f/q")"
t set seen r f:q=two
same "a change is seen" two "$(cat "$m/seen/r/f/q")"
printf three >"$m/seen/r/f/q"
same "and the other way" '"three"' \
	"$(t lookup seen r cells-per-column=1 | grep '^    ' | xargs -0 printf '%s' | tr -d ' \n')"
t deleterow seen r
refuse "a deleted row is gone" cat "$m/seen/r/f/q"

same "commands at the same time" 40 "$(seq 40 |
	xargs -P 8 -I{} "$TABLETFS" set seen p{} f:q={}; ls "$m/seen" | wc -l)"
check "umount" t umount "$m"
daemon=
check "leaves the store free at once" python3 -c 'import fcntl, sys
fcntl.lockf(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)' \
	"$store/lock"
same "and whole" 40 "$(t count seen)"
same "alone, they wait for each other" 60 "$(seq 20 |
	xargs -P 8 -I{} "$TABLETFS" set seen q{} f:q={}; t count seen)"
refuse "umount of nothing" t umount "$m"
same "as other programs tell it" "$(t version)" "$(t --version)"
same "a slip" "tabletfs: -store is no flag, or lacks its value; tabletfs help lists them" "$(t -store 2>&1)"
