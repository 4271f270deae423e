#!/bin/bash
# tabletfs serve: a client of our own, with numbers of its own, and Google's cbt
# where that is installed; what is written stays, and who is in the way is told.
fs_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$fs_tests/../.." && pwd)/build/tabletfs}
. "$fs_tests/../lib.sh"
store=$work/store
. "$fs_tests/serve.sh"

at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

t=projects/p/instances/i/tables/t
data=/google.bigtable.v2.Bigtable
admin=/google.bigtable.admin.v2.BigtableTableAdmin

serve
check "it says where" [ -n "$address" ]
check "a table" "$wire" "$address" $admin/CreateTable \
	1=projects/p/instances/i 2=t 3{ 3{ 1=f 2{ } } } >/dev/null
check "a write" "$wire" "$address" $data/MutateRow 1=$t 2=row1 \
	3{ 1{ 1=f 2=q 3:1000 4=value1 } } >/dev/null
check "another" "$wire" "$address" $data/MutateRow 1=$t 2=row2 \
	3{ 1{ 1=f 2=q 3:2000 4=value2 } } >/dev/null
answer=$("$wire" "$address" $data/ReadRows 1=$t)
check "both are read" [ "$(grep -o 'value[12]' <<<"$answer" | tr '\n' ' ')" = \
	"value1 value2 " ]
answer=$("$wire" "$address" $data/ReadRows 1=$t 4:1)
same "of the first row" value1 "$(grep -o 'value[12]' <<<"$answer")"
answer=$("$wire" "$address" $data/ReadRows 1=$t 2{ 2{ 2=row1 } })
same "behind the first row" value2 "$(grep -o 'value[12]' <<<"$answer")"
answer=$("$wire" "$address" $data/ReadRows 1=$t 3{ 9=.*1 })
same "by a filter" value1 "$(grep -o 'value[12]' <<<"$answer")"
same "no such table" 5 \
	"$("$wire" "$address" $data/ReadRows 1=${t}x | sed -n 's/^status \([0-9]*\) .*/\1/p')"
same "no such method" 12 \
	"$("$wire" "$address" $data/ExecuteQuery | sed -n 's/^status \([0-9]*\) .*/\1/p')"
same "not a message" 13 "$("$wire" "$address" $data/MutateRow 1=$'\xff' |
	sed -n 's/^status \([0-9]*\) .*/\1/p')"

# Others are told by whom the store is used.
refuse "another server" "$TABLETFS" serve "$store" listen=:0
check "is told by whom" grep -q "tabletfs serve, pid $server" \
	<("$TABLETFS" serve "$store" listen=:0 2>&1)
check "it ends with 0" stop
same "nothing was said" "" "$(cat err)"
same "it stays" value2 "$("$TABLETFS" -store "$store" lookup t row2 |
	grep -o value2)"

# What was answered is there after a kill.
serve
check "a write before a kill" "$wire" "$address" $data/MutateRow 1=$t 2=row3 \
	3{ 1{ 1=f 2=q 3:1000 4=value3 } } >/dev/null
kill -9 "$server"
wait "$server" 2>/dev/null
serve
answer=$("$wire" "$address" $data/ReadRows 1=$t 2{ 1=row3 })
same "is there after it" value3 "$(grep -o value3 <<<"$answer")"

# Google's own client.
if command -v cbt >/dev/null; then
	export BIGTABLE_EMULATOR_HOST=$address
	cbt() {
		command cbt -creds /dev/null -project p -instance i "$@"
	}
	check "cbt createtable" cbt createtable c families=f:maxversions=2
	check "cbt set" cbt set c r f:q=hello
	same "cbt read" '    "hello"' "$(cbt read c | grep hello)"
	same "cbt ls" "c t " "$(cbt ls | tr '\n' ' ')"
	check "cbt deletetable" cbt deletetable c
else
	echo "cbt is not installed"
fi
check "it ends" stop

# Faults on request: nothing is done by a call that fails so, and the shares are
# kept.
serve 'inject=MutateRow:unavailable=100%;PingAndWarm:internal=25%,aborted=25%;SampleRowKeys:latency=300ms'
check "an injected code" grep -q "^status 14 .*injected" <("$wire" "$address" \
	$data/MutateRow 1=$t 2=row9 3{ 1{ 1=f 2=q 3:1000 4=value9 } })
same "has written nothing" "" "$("$wire" "$address" $data/ReadRows 1=$t \
	2{ 1=row9 } | grep -o value9)"
for i in $(seq 200); do
	"$wire" "$address" $data/PingAndWarm 1=projects/p/instances/i |
		sed -n 's/^status \([0-9]*\) .*/\1/p'
done >codes
check "a quarter" [ "$(grep -c '^13$' codes)" -gt 25 ]
check "another" [ "$(grep -c '^10$' codes)" -gt 25 ]
check "and the rest" [ "$(grep -c '^0$' codes)" -gt 60 ]
before=$(date +%s%N)
check "one that waits is answered" "$wire" "$address" $data/SampleRowKeys \
	1=$t >/dev/null
check "late" [ $(($(date +%s%N) - before)) -ge 300000000 ]
check "it ends" stop
for words in MutateRow Nothing:unavailable=1% MutateRow:unavailable=101% \
	MutateRow:soon=1% MutateRow:unavailable=1 MutateRow:latency=2 \
	"MutateRow:latency=2h" "MutateRow:internal=60%,aborted=60%" ""; do
	refuse "inject=$words" "$TABLETFS" serve "$work/none" "inject=$words"
done
check "no store is made for that" [ ! -e "$work/none" ]

# What is wrong with the words.
refuse "an address that is not ours" "$TABLETFS" serve "$store" \
	listen=192.0.2.1:1
refuse "a star" "$TABLETFS" serve "$store" 'listen=*:0'
refuse "a word that there is not" "$TABLETFS" serve "$store" port=1
refuse "neither yes nor no" "$TABLETFS" serve "$store" sync=1
same "an address too many" "tabletfs: listen= is given twice" \
	"$("$TABLETFS" serve "$store" listen=:0 listen=127.0.0.1:0 2>&1 |
		sed 's/^tabletfs[^:]*:/tabletfs:/')"
refuse "no store" env -u TABLETFS_STORE "$TABLETFS" serve
