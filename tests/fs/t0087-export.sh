#!/bin/bash
# What export writes, import reads back: long, wide, JSON lines, CSV and TSV,
# mounted or not; and what cannot be written whole is told and not there.
. "$(dirname "$0")/lib.sh"

families="families=f,g:maxversions=3,n:never:intsum,h:never:inthll"
T createtable t "$families"
python3 - >odd.jsonl <<'PY'
import base64, json, random
r = random.Random(7)
odd = [b"", b"a", b",", b'"', b'""', b"\n", b"\r\n", b"\r", b" ", b"\t", b"\\",
       b"\\n", b"\xff", b"\0", b"=1+1", b"#", "\u00e9\U0001f600".encode(),
       b"\xef\xbb\xbf", b"null", b"{x}", b"x" * 5000]
def b(x):
    return {"base64": base64.b64encode(x).decode()}
def some():
    return b"".join(r.choices(odd, k=r.randrange(4)))
for i in range(300):
    row = {}
    for f in "fg":
        for j in range(r.randrange(4)):
            q = "base64:" + base64.b64encode(some()[:16384]).decode()
            times = sorted(r.sample(range(1, 1 << 50), r.choice([1, 1, 2])))
            row.setdefault(f, {})[q] = [dict(b(some()), timestamp=t)
                                        for t in reversed(times)]
    if row:
        print(json.dumps({"row": b(b"%03d" % i + some()[:4000]), "set": row}))
print(json.dumps({"row": "large", "set": {"f": {
    "plain": {"value": "p" * 3000000, "timestamp": 5},
    "quoted": {"value": '"\r\n,' * 700000, "timestamp": 5}}}}))
PY
T import t odd.jsonl quiet=yes >/dev/null
T addtocell t 000 n:a=5@1000 n:a=7@1000 n:b=-3@2000 h:who=1@5 h:who=2@5
T export t jsonl format=jsonl
check "JSON lines are what .scan writes" test -s jsonl
refuse "no text gets the name of an archive" T export t t.ZIP
refuse "nor is there a file of it" test -e t.ZIP
for name in t.parquet t.XLSX t.db.gz; do
	status 1 "no text gets the name $name" T export t $name
	told "formats are csv, tsv and jsonl"
	refuse "nor is there a file $name" test -e $name
done
status 0 "unless that is said" T export t t.db format=tsv

# back NAME WORDS...: the table u has the cells of t's families of values.
shown() {
	T export "$1" format=jsonl columns="[fg]:" "${@:2}" | sha256sum
}
back() {
	same "$1: read back" "$(shown t "${@:2}")" "$(shown u "${@:2}")"
	T deletetable u
}
# long FILE WORDS...: import has a literal family, so it takes the file twice.
long() {
	T createtable u "$families"
	for f in f g; do
		status 0 "import $*" T import u "$1" quiet=yes key='{row}' \
			at='{timestamp|time(unix_us)}' skip="{family} != $f" \
			set="$f:{qualifier|default(\"\")} {value|default(\"\")}" \
			"${@:2}"
	done
}

for way in alone mounted; do
	[ $way = alone ] || start_mount
	status 1 "$way: two files" T export t a.csv b.csv
	told 'bad arg "b.csv"'
	for name in a.csv a.tsv a.csv.gz a.tsv.zst; do
		check "$way: $name" T export t $name
		long $name
		back "$way: $name"
	done
	check "$way: base64" T export t base64.csv bytes=base64
	long base64.csv bytes=base64
	back "$way: base64"
	check "$way: JSON lines" T export t b.jsonl.lz4
	T createtable u "$families"
	status 0 "$way: import JSON lines" T import u b.jsonl.lz4 quiet=yes
	same "$way: aggregates too" "$(T export t format=jsonl | sha256sum)" \
		"$(T export u format=jsonl | sha256sum)"
	T deletetable u
	for file in a.csv a.tsv base64.csv; do
		mv $file $way.$file
	done
	[ $way = alone ] || stop_mount
done
for file in a.csv a.tsv base64.csv; do
	check "$file is the same either way" cmp alone.$file mounted.$file
done
check "aggregates are numbers" grep -qxE '000[^,]*,n,a,1000,12' alone.a.csv
check "sketches, too" grep -qxE '000[^,]*,h,who,5,2' alone.a.csv

# A row as a record.
T createtable w families=f,n:never:intsum
T set w r1 f:a=1@5 f:a=0@4 f:b= 'f:c,d=x"y'
T set w r2 f:b=$'two\r\nlines'
T addtocell w r3 n:hits=41
cat >want.csv <<CSV
row,f:a,f:b,"f:c,d",n:hits
r1,1,"","x""y",
r2,,"two$(printf '\r')
lines",,
r3,,,,41
CSV
T export w wide.csv layout=wide
check "layout=wide" cmp want.csv wide.csv
same "columns in their order" "row,n:hits,f:a r1,,1 r3,41," \
	"$(T export w layout=wide columns=n:hits,f:a | xargs)"
same "a column that nobody has" "row,f:zzz" \
	"$(T export w layout=wide columns=f:zzz)"
for words in "columns=x:a" "columns=f:a,fx:" "layout=wide columns=f:a,x:a"; do
	status 1 "no such family: $words" T export w none.csv $words
	told 'table "w" has no column family'
	refuse "$words: nothing is written" ls none.csv none.csv.partial
done
same "a pattern of families" 3 "$(T export w columns='[fx]:a' | wc -l)"
same "rows that are chosen" "$(printf 'row f:b\nr2 two\\r\\nlines')" \
	"$(T export w layout=wide start=r2 columns=f:b format=tsv | tr '\t' ' ')"
same "reversed" "row,f:a,n:hits r3,,41 r1,1," \
	"$(T export w layout=wide reversed=true columns=f:a,n:hits | xargs)"
same "keys and ranges, of which each row comes once" \
	"row,f:a,n:hits r1,1, r3,,41" "$(T export w layout=wide \
		columns=f:a,n:hits start=r3 or key=r1 or prefix=r3 | xargs)"
for format in csv jsonl; do
	same "$format: a large value at the end of a range" \
		"$(T export t format=$format key=large &&
			T export t format=$format reversed=true prefix=29 |
			if [ $format = csv ]; then tail -n +2; else cat; fi)" \
		"$(T export t format=$format reversed=true key=large or prefix=29)"
done
T createtable u families=f,n:never:intsum
status 0 "a record is read back" T import u wide.csv quiet=yes key='{row}' \
	set='f:a {f:a}' set='f:b {f:b}' "set=f:c,d {\"f:c,d\"}" \
	add='n:hits {n:hits|default(0)}'
same "to the same" "$(T export w layout=wide columns=f:a,f:b)" \
	"$(T export u layout=wide columns=f:a,f:b)"
T deletetable u
refuse "columns that are patterns" T export w layout=wide columns=f
refuse "a column twice" T export w layout=wide columns=f:a,f:a
refuse "a layout of JSON lines" T export w layout=wide format=jsonl
refuse "another layout" T export w layout=tall
refuse "another format" T export w format=xml
refuse "a summary" T export w include-stats=full
refuse "a page" T export w page=first
refuse "an unknown word" T export w nonsense=1
refuse "an unknown table" T export nope x.csv
refuse "which makes no file" ls x.csv x.csv.partial
same "an empty range" "row,family,qualifier,timestamp,value" \
	"$(T export w start=r3 end=r2)"

# Too many columns: nothing is written, neither to a file nor to a pipe.
T createtable many families=f
python3 -c '
import json
for i in range(4097):
    print(json.dumps({"row": "r%d" % (i % 7), "set": {"f": {str(i): "v"}}}))' |
	T import many - format=jsonl quiet=yes >/dev/null
echo before >many.csv
for way in alone mounted; do
	[ $way = alone ] || start_mount
	status 1 "$way: more than 4096 columns" T export many layout=wide
	same "$way: nothing is written" 0 "$(stat -c %s out)"
	check "$way: it is told" grep -q "more than 4096 columns" err
	status 1 "$way: nor to a file" T export many many.csv layout=wide
	same "$way: which stays" before "$(cat many.csv)"
	refuse "$way: and nothing beside it" ls many.csv.partial
	check "$way: one less" T export many fits.csv layout=wide columns="$(seq \
		-s, -f 'f:%g' 0 4095)"

	# A disk that is full, a reader who leaves.
	echo before >kept.csv
	(ulimit -f 100 && T export t kept.csv 2>err) && fail "$way: beyond the limit" ||
		pass
	same "$way: the file is as it was" before "$(cat kept.csv)"
	refuse "$way: and nothing beside it" ls kept.csv.partial
	status 1 "$way: a full device" T export t /dev/full
	(
		trap '' PIPE
		T export t 2>told
		echo $? >status
	) | head -c 10 >out
	same "$way: a reader who leaves" 1 "$(cat status)"
	check "$way: is told of" grep -q "standard output" told
	(
		env --default-signal=PIPE "$TABLETFS" -store "$store" \
			export t 2>told
		echo $? >status
	) | head -c 10 >out
	same "$way: one who has enough ends it" 141 "$(cat status)"
	same "$way: without a word" "" "$(cat told)"
	[ $way = alone ] || stop_mount
done
ln -s kept.csv link.csv
T export w link.csv
check "a link leads to its file" test -L link.csv
check "which is written" grep -q '^r1,f,a' kept.csv

# What changes meanwhile is not seen; a table that goes ends it.
start_mount
mkfifo fifo
# A range after another of a table whose name another has by then.
T export t whole.csv prefix=0 or prefix=1 or prefix=2
T export t fifo prefix=0 or prefix=1 or prefix=2 2>told & exporter=$!
exec 5<fifo
head -c 70000 <&5 >first
mv "$m/t" "$m/moved"
T createtable t families=f
cat <&5 >rest
exec 5<&-
wait $exporter
same "a rename is nothing to it" 0 $?
check "it is the same table" cmp -s whole.csv <(cat first rest)
T deletetable t
mv "$m/moved" "$m/t"
T export t fifo & exporter=$!
exec 5<fifo
head -c 70000 <&5 >first
T deleteallrows t
cat <&5 >rest
exec 5<&-
wait $exporter
check "one moment" cmp -s alone.a.csv <(cat first rest)
T import t odd.jsonl quiet=yes >/dev/null
T export t before.csv
T export t fifo & exporter=$!
exec 5<fifo
head -c 70000 <&5 >first
T deletefamily t g
mv "$m/t" "$m/away" && T createtable t families=f
cat <&5 >rest
exec 5<&-
wait $exporter
same "a family that is dropped" 0 $?
check "is all in it" cmp -s before.csv <(cat first rest)
stop_mount
