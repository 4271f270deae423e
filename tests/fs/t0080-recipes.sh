#!/bin/bash
# Recipes: files become rows with composed keys, without a mount and through one,
# and what is wrong with a recipe or a record is told.
. "$(dirname "$0")/lib.sh"

T createtable t families=place,stats,raw,total:never:intsum

cat >zip.csv <<'CSV'
zip,city,state,population,area
94105,"San Francisco, downtown",CA,5846,1.0
10001,New York,NY,21102,
00501,"",NY,,0.1
CSV
printf '\xef\xbb\xbf' | cat - zip.csv >bom.csv
zips=("key={state}#{zip}" "set=place:city {city|trim}" rest=stats
	"add=total:zips 1")

# As JSON, without writing anything.
status 0 "dry run" T import t zip.csv "${zips[@]}" dry-run=2
same "two rows of it" 2 "$(wc -l <out)"
check "as a mutation" grep -qF '{"row": "CA#94105", "set": {"place": {"city": "San Francisco, downtown"}, "stats": {"area": "1.0", "population": "5846"}}, "add"' out
same "nothing is written" 0 "$(T count t)"

# The same without a mount and through one.
imports() {
	local way=$1
	status 0 "$way: zip codes" T import t bom.csv "${zips[@]}"
	same "$way: keys" "CA#94105 NY#00501 NY#10001" \
		"$(T read t prefix= keys-only=true | grep -E '^[A-Z]+#' | xargs)"
	check "$way: a quoted comma" sh -c "'$TABLETFS' -store '$store' lookup t 'CA#94105' | grep -q 'San Francisco, downtown'"
	check "$way: a quoted empty field is a value" sh -c "'$TABLETFS' -store '$store' lookup t 'NY#00501' | grep -q place:city"
	refuse "$way: an empty one is absent" sh -c "'$TABLETFS' -store '$store' lookup t 'NY#00501' | grep -q stats:population"

	# Newest first, and the last two of a station by its prefix.
	cat >readings.recipe <<'RECIPE'
# A reading a row, the newest first.
format csv
key s#{station}#{when|time(%Y-%m-%d %H:%M)|reverse_time}
at {when|time(%Y-%m-%d %H:%M)}
set stats:temperature {temp_c|trim}
set raw:{name} {value}
skip {quality} = bad
add total:readings 1
key day#{when|time(%Y-%m-%d %H:%M)|date(%Y%m%d)}
add total:{station} 1
RECIPE
	cat >readings.csv <<'CSV'
station,when,temp_c,name,value,quality
x,2026-01-05 10:11, 3.5 ,hum,60,ok
x,2026-01-05 10:12,3.6,hum,61,ok
y,2026-01-05 10:12,9,hum,1,ok
x,2026-01-05 10:13,99,hum,0,bad
x,2026-01-05 10:14,3.7,wind,5,ok
CSV
	status 0 "$way: readings" T import t readings.csv recipe=readings.recipe
	told "skipped records: 1"
	told "Done importing 8 rows."
	same "$way: the last two of x" "3.7 3.6" "$(T read t prefix=s#x# count=2 |
		grep -A1 temperature | sed -n 's/.*"\(.*\)"/\1/p' | xargs)"
	same "$way: at is the cells' time" 1767608040 "$(date -u -d "$(
		TZ=UTC T read t prefix=s#x# count=1 columns=stats:temperature |
		sed -n 's|.*@ \(.*\)-\(.*\)\..*|\1 \2|p')" +%s)"
	check "$way: columns as data" sh -c "'$TABLETFS' -store '$store' read t prefix=s#x# count=1 | grep -q raw:wind"
	check "$way: a second row, added to" sh -c "'$TABLETFS' -store '$store' lookup t 'day#20260105' | grep -A1 total:x | grep -q 'x03'"
	same "$way: key finds it" "$(T read t prefix=s#x# count=1 |
		grep ^s#x)" "$(T key recipe=readings.recipe station=x \
		when='2026-01-05 10:14' | head -n 1)"

	status 1 "$way: a key that no row can have" T key "key={a}{a}" \
		"a=$(printf '%2049s' | tr ' ' x)"
	told "the row key has 4098 bytes; 4096 are allowed"

	# Crawled pages by reversed domain, versions of one cell by their time.
	cat >pages.jsonl <<'JSON'
{"url":"https://www.example.com/a","seen":1700000000,"body":"old"}
{"url":"https://www.example.com/a","seen":1700000100,"body":"new"}
{"url":"https://news.example.com/","seen":1700000100,"body":"n"}
{"url":"https://192.0.2.1/","seen":1700000100,"body":"address"}
JSON
	status 1 "$way: pages" T import t pages.jsonl 'at={seen|time(unix_s)}' \
		'key={url|part(3,/)|reverse_domain}/{url|slice(8)|part(2,/)|default(-)|any}' \
		'set=raw:body {body}'
	told 'pages.jsonl:4: field "url": "192.0.2.1" is an address'
	same "$way: both of one domain" \
		"com.example.news/- com.example.www/a" \
		"$(T read t prefix=com. keys-only=true | grep ^com | xargs)"
	same "$way: versions" "new old" "$(T lookup t com.example.www/a |
		sed -n 's/.*"\(.*\)"/\1/p' | xargs)"

	# Nested JSON in an array.
	cat >nested.json <<'JSON'
[{"id": "o1", "who": {"name": "A", "tags": ["x", {"y": 1}]},
  "items": [{"sku": "p", "n": 1}, {"sku": "q", "n": 2}]},
 {"id": "o2", "who": {"name": null}, "items": []},
 {"id": null, "items": [{"sku": "lost"}]},
 "nonsense"]
JSON
	status 1 "$way: nested" T import t nested.json 'key=o#{id}' rest=raw
	told 'nested.json:4: element 3: field "id": it is absent'
	told 'nested.json:5: element 4: a record is a JSON object'
	printf '[{"id":"a","v":1},{"id":"b",v},{"v":2}]' >line.json
	status 1 "$way: an array on one line" T import t line.json 'key=o#{id}' \
		rest=raw
	told 'line.json:1: element 2: '
	told 'line.json:1: element 3: field "id": it is absent'
	same "$way: flattened" "raw:items raw:who.name raw:who.tags" \
		"$(T lookup t o#o1 | sed -n 's/^  \(raw:[^ ]*\).*/\1/p' | xargs)"
	check "$way: an array is JSON" sh -c "'$TABLETFS' -store '$store' lookup t o#o1 | grep -qF '[\\\"x\\\",{\\\"y\\\":1}]'"
	printf '{"a": {"v": 1}, "b": {"v": 2}}\n' >members.json
	status 0 "$way: members" T import t members.json explode=. \
		key='members#{$name}' rest=raw
	same "$way: are records" 2 "$(T count t prefix=members#)"
	status 2 "$way: exploded twice" T import t nested.json 'explode={items}' \
		'explode={items.n}' key=k rest=raw
	told "a recipe explodes once"
	echo 'explode {items}' >explode.recipe
	status 0 "$way: a word replaces that of a recipe" T import t members.json \
		recipe=explode.recipe explode=. key='members#{$name}' rest=raw
	T deleterows t prefix=members#
	status 1 "$way: exploded" T import t nested.json 'explode={items}' \
		'skip={id} empty' 'key=i#{id}#{items.sku}' \
		'set=raw:n {items.n|int64}' 'skip={id} = o3'
	same "$way: a row of each element" "i#o1#p i#o1#q" \
		"$(T read t prefix=i# keys-only=true | grep ^i# | xargs)"
	T deleteallrows t
}
imports free

# What is wrong with a recipe: line and column, and nothing is read.
wrong() {
	printf '%b' "$1" >wrong.recipe
	status 2 "refused: $1" T import t zip.csv recipe=wrong.recipe
	told "wrong.recipe:$2: "
}
wrong 'key {zip}\nset place:c {city|trimm}\n' 2:19
wrong 'key {zip\n' 1:9
wrong 'key {zip}}x\n' 1:10
wrong 'key {zip}\n\n  set city {city}\n' 3:7
wrong 'key {zip}\nset {f}:c {city}\n' 2:5
wrong "key {zip}\nset place:c 'x\n" 2:13
wrong 'key {zip}\nset place:c {city} {x}\n' 2:20
wrong 'key {zip|time}\n' 1:6
wrong 'key {zip}\nat {zip}\n' 2:5
wrong 'key {zip|pad(0)}\n' 1:10
wrong 'key {zip}\nskip {a} ~ (\n' 2:12
wrong 'key {zip}\nskip {a} like b\n' 2:10
wrong 'keys {zip}\n' 1:1
wrong 'key {zip}\nadd total:x one\n' 2:13
wrong 'key {zip}\nzone CET\n' 2:6
one=("key={zip}" "set=place:c {city}")
status 2 "a family that is not there" T import t zip.csv "${one[@]}" 'set=nope:x y'
told 'unknown family "nope"'
status 2 "set of an aggregate" T import t zip.csv 'key={zip}' 'set=total:c {city}'
status 2 "add to a plain one" T import t zip.csv 'key={zip}' 'add=place:c 1'
status 2 "a field that is not there" T import t zip.csv 'key={zap}' rest=raw
told 'no field "zap"'
printf 'a,b,b\n1,2,3\n' >twice.csv
status 2 "a used field twice" T import t twice.csv 'key={a}' 'set=raw:b {b}'
status 0 "one that is not used" T import t twice.csv 'key={a}' 'set=raw:a {a}'
status 2 "one that rest uses" T import t twice.csv 'key={a}' rest=raw
status 0 "or by position" T import t twice.csv 'key={a}' 'set=raw:b {#3}'
status 2 "key and column-family" T import t zip.csv "${one[@]}" column-family=raw
status 2 "no key" T import t zip.csv 'set=raw:a {zip}'
T deleteallrows t

# What is wrong with a record.
printf 'k,l,when\n1969,x,1969-12-31T23:59:59Z\na#b,c,2020-01-01\n,c,2020-01-01\n"",c,2020-01-01\nok,c,2020-01-01\nok,c,2020-01-01\n' >bad.csv
status 1 "records" T import t bad.csv 'key={k}#{l}' 'at={when|time}' 'set=raw:a {l}'
told 'bad.csv:2: the time of "at" is before 1970'
told 'bad.csv:3: field "k": it holds "#"'
told 'bad.csv:4: field "k": it is absent'
told 'bad.csv:5: field "k": it is empty'
told 'replaced cells: 1'
same "the good one" 1 "$(T count t)"
status 1 "duplicates refused" T import t bad.csv 'key={k|any|default(-)}#{l}' \
	'set=raw:a {l}' duplicates=refuse
told 'bad.csv:7: row "ok#c"'
printf 'k\n1\n' | T import t - ./bad.csv 'key=f{$line}' 'set=raw:f {$file}' 2>err
check "several files" sh -c "'$TABLETFS' -store '$store' lookup t f7 | grep -q bad.csv"
T deleteallrows t

start_mount || exit 1
export TZ=UTC
imports mounted
status 2 "mounted: a family that is not there" T import t zip.csv "${one[@]}" 'set=nope:x y'
status 2 "mounted: set of an aggregate" T import t zip.csv 'key={zip}' 'set=total:c {city}'
status 0 "mounted: dry run" T import t zip.csv "${zips[@]}" dry-run=1
same "mounted: a row" 1 "$(wc -l <out)"
echo millis >"$m/t/.granularity"
printf 'k,when\na,2020-01-01T00:00:00.123456\n' >fine.csv
status 0 "mounted: milliseconds" T import t fine.csv 'key={k}' 'at={when|time}' 'set=raw:a {k}'
same "are cut" 1577836800123000 "$(ls "$m/t/a/raw/.versions/a")"
printf 'k,v\nb,%s\n' "$(printf '\377\001' | base64)" >b.csv
status 0 "mounted: bytes" T import t b.csv 'key={k}' 'set=raw:v {v|unbase64}'
same "are kept" ff01 "$(od -An -tx1 "$m/t/b/raw/v" | tr -d ' ')"
stop_mount
check "the store is whole" T check >/dev/null
