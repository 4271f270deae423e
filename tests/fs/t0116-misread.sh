#!/bin/bash
# Files that are not what they look like, imported by a recipe: each is taken
# whole or refused with a sentence that says what to do, never misread.
. "$(dirname "$0")/lib.sh"

T createtable t families=f

# imports STATUS NAME WORD...: of an empty table.
imports() {
	local want=$1 name=$2
	shift 2
	T deleteallrows t
	status "$want" "$way: $name" T import t "$@"
}
rows() {
	T count t
}

line_ends() {
	printf 'k,v\ra,1\rb,2\r' >mac.csv
	imports 2 "CR line ends" mac.csv key={k} rest=f
	told "mac.csv: its lines end with CR alone; tr '\\r' '\\n' makes LF of them"
	same "$way: none of it is in" 0 "$(rows)"
	tr '\r' '\n' <mac.csv >unix.csv
	imports 0 "as it says" unix.csv key={k} rest=f
	same "$way: both are in" 2 "$(rows)"
	printf 'k,v\ra,1\n' >mixed.csv
	imports 2 "with one LF behind" mixed.csv key={k} rest=f
	told "end with CR alone"
	{ printf 'k\tv\r'; seq -f '%g%%x' 20000 | tr '%\n' '\t\r'; } >mac.tsv
	imports 2 "a long one of TSV" mac.tsv key={k} rest=f
	told "mac.tsv: its lines end with CR alone"
	printf '"k","a\rv"\r\n1,"x\ry"\r\n' >quoted.csv
	imports 0 "CR inside quotes, CR LF outside" quoted.csv key={k} rest=f
	same "$way: is a row" 1 "$(rows)"
	printf 'k\r\r\na\r\r\n' >twice.csv
	imports 0 "a CR too many before each LF" twice.csv header=names:k \
		key={k} set='f:v 1'
}

encodings() {
	local code
	for code in UTF-16LE UTF-16BE UTF-32LE UTF-32BE; do
		printf 'a,1\nb,2\n' | iconv -t "$code" >coded.csv
		imports 2 "$code" coded.csv header=no key='{#1}' set='f:v {#2}'
		told "coded.csv: it is $code; iconv -f $code -t UTF-8 makes UTF-8 of it"
		same "$way: $code is not in" 0 "$(rows)"
	done
	for code in UTF-16 UTF-32; do
		printf 'a,1\nb,2\n' | iconv -t "$code" >coded.csv
		imports 2 "$code with its mark" coded.csv header=no key='{#1}' \
			set='f:v {#2}'
		told "coded.csv: it is $code; iconv -f $code -t UTF-8 makes UTF-8 of it"
	done
	printf 'a\0b,1\n' >zero.csv
	imports 0 "a zero in a key" zero.csv header=no key='{#1}' set='f:v {#2}'
	same "$way: is taken" 1 "$(rows)"
}

headers() {
	printf '1;a\n2;b\n' >some.csv
	imports 0 "positions, and nothing of a header" some.csv delimiter=';' \
		key='{#1}' set='f:v {#2}'
	told "some.csv:1: was taken for the header; header=no makes a record of it, header=yes says that it is one"
	status 0 "$way: a dry run" T import t some.csv delimiter=';' \
		key='{#1}' set='f:v {#2}' dry-run=9
	told "some.csv:1: was taken for the header"
	imports 0 "header=yes" some.csv delimiter=';' header=yes key='{#1}' \
		set='f:v {#2}'
	refuse "$way: says no more" grep -q header err
	imports 0 "header=no" some.csv delimiter=';' header=no key='{#1}' \
		set='f:v {#2}'
	refuse "$way: says nothing either" grep -q header err
	same "$way: takes both" 2 "$(rows)"
	imports 0 "a name" some.csv delimiter=';' key='{#1}' set='f:v {a}'
	refuse "$way: tells a header by itself" grep -q header err
}

# delimiter=none: a record is one field, whatever it looks like.
whole_lines() {
	local name
	printf 'one,two;three\n' >whole.csv
	imports 0 "delimiter=none" whole.csv delimiter=none header=no \
		key='{$line}' set='f:x {#1}'
	same "$way: takes a line whole" '"one,two;three"' "$(T read t | sed -n 's/^    //p')"
	for name in log tsv json; do
		printf '[a]\t"b, c\r\n\n{"k"}\n' >"whole.$name"
		imports 0 "quote=none, too, of a .$name" "whole.$name" \
			delimiter=none quote=none header=names:line \
			key='{$line}' rest=f
		same "$way: takes the lines of a .$name as they are" \
			'"[a]\t\"b, c" "{\"k\"}"' \
			"$(T read t | sed -n 's/^    //p' | paste -sd' ')"
	done
	printf 'a;b\tc\n' >parted
	cp parted parted.tsv
	for name in parted parted.tsv; do
		imports 0 "$name at ;" "$name" delimiter=';' header=no \
			key='{#1}' set='f:x {#2}'
		same "$way: $name is parted there" '"b\tc"' \
			"$(T read t | sed -n 's/^    //p')"
	done
	imports 2 "TSV at ;" parted format=tsv delimiter=';' header=no \
		key='{#1}' set='f:x {#2}'
	told "TSV is parted by tabs"
	printf '"a,\nb",c\n' >whole.csv
	imports 1 "behind a quote nothing follows" whole.csv delimiter=none \
		header=no key='{$line}' set='f:x {#1}'
	printf '"a,\nb"\nc,\n' >whole.csv
	imports 0 "with quotes" whole.csv delimiter=none header=no \
		key='{$line}' set='f:x {#1}'
	same "$way: a record is one field" '"a,\nb" "c,"' \
		"$(T read t | sed -n 's/^    //p' | paste -sd' ')"
}

# foreign FILE MESSAGE: it is none of a table's, and is told so.
foreign() {
	local how
	for how in key={id} "key={#1} header=no"; do
		imports 2 "$1 $how" "$1" $how set='f:v 1'
		told "$1: it is $2"
	done
	status 1 "$way: $1 in cbt's form" T import t "$1" column-family=f
	told "it is $2"
}

no_texts() {
	printf 'PK\3\4\24\0\0\0a\n' >a.xlsx
	foreign a.xlsx "a ZIP archive, as spreadsheets are"
	printf '\320\317\21\340\241\261\n' >a.xls
	foreign a.xls "an Office document"
	printf 'SQLite format 3\0\20\0\r\n' >a.db
	foreign a.db "an SQLite database"
	printf '!<arch>\ndebian-binary\n' >a.deb
	foreign a.deb "an archive of ar"
	tar -czf a.tar.gz a.db
	foreign a.tar.gz "an archive of tar"
	printf '%%PDF-1.7\n1 0 obj\n' >a.pdf
	foreign a.pdf "a PDF"
	printf 'PAR1\25\4\n' >a.parquet
	foreign a.parquet "Parquet"
	printf '\177ELF\2\1\1\0\n' >a.out
	foreign a.out "a program"
	printf '\211PNG\r\n\32\n' >a.png
	foreign a.png "an image"
	printf 'a\1b\nx\0y\r\n' >a.bin
	imports 2 "zeros" a.bin key={id} rest=f
	told "a.bin: it is no text, as zeros are among its first bytes"
	printf 'a\rb\0\rc\n' >a.bin
	imports 2 "zeros, and CR alone" a.bin key={#1} header=no set='f:v 1'
	told "a.bin: it is no text, as zeros are among its first bytes"
	printf 'id,v\na,x\0\1y\n' >value.csv
	imports 0 "zeros in a value" value.csv key={id} rest=f
	same "$way: are taken" 1 "$(rows)"
	printf '{"id":"a"}\n{"id":"b"}\n' >json.csv
	imports 2 "JSON by another name" json.csv key={id} rest=f
	told "json.csv: it begins as JSON: say format=jsonl"
	printf '[\n{"id":"a"}]\n' >json.csv
	imports 2 "an array" json.csv key={id} rest=f
	told "json.csv: it begins as JSON: say format=json"
	imports 0 "as it says" json.csv format=json key={id} set='f:v 1'
	printf 'BZh9,v\n1,a\n' >letters.csv
	imports 0 "the letters of bzip2" letters.csv key={BZh9} rest=f
	seq 9 | bzip2 | gzip >twice.gz
	imports 2 "compressed twice" twice.gz key={id} rest=f
	told "twice.gz: it is compressed; tabletfs import undoes that, once, and so does bzip2 -dc"
}

# What newcomers meet first: the message names the word that helps.
stumbles() {
	local word
	printf '# a table\nid,name,end\n1,x,2026\n2,y\n3,z,1,2\n' >short.csv
	imports 2 "a comment in front" short.csv key={id} rest=f
	told "short.csv:1: the header has no field \"id\"; it begins with #: comment='#' passes over such lines"
	imports 1 "lines too short and too long" short.csv comment='#' key={id} rest=f
	told "short.csv:4: wrong number of fields: 2 instead of 3; with short=absent those at the end may be missing"
	told "short.csv:5: wrong number of fields: 4 instead of 3"
	imports 1 "short=absent" short.csv comment='#' key={id} rest=f short=absent
	refuse "$way: takes the short one" grep -q "short.csv:4" err
	told "short.csv:5: wrong number of fields: 4 instead of 3"
	same "$way: without what it lacks" "f:name" "$(T lookup t 2 |
		sed -n 's/^  \(f:[a-z]*\) .*/\1/p' | paste -sd,)"
	printf '2026-01-05 10:11:12 install bash\n' >dpkg.log
	imports 0 "date and time in two columns" dpkg.log format=csv \
		delimiter=' ' header=no key='{#4}' at='{#1}T{#2}' set='f:did {#3}'
	check "$way: are one time" grep -q "2026/01/05-10:11:12.000000" <(TZ=UTC T lookup t bash)
	imports 2 "a file that is not there" gone.csv key={id} rest=f
	refuse "$way: is told without more" grep -q "resume" err
	status 1 "$way: no key=" T import t short.csv
	told "of a file with one header say key=, as key='{id}' rest=FAMILY"
	printf 'id,v\n1,a\n2,b\n' >two.csv
	imports 0 "a key without braces" two.csv key=id rest=f
	told "every record gets the row \"id\"; for a field of that name write key='{id}'"
	status 0 "$way: a dry run" T import t two.csv key=id rest=f dry-run=9
	told "every record gets the row \"id\""
	imports 0 "a row on purpose" two.csv key=all set='f:{id} {v}'
	refuse "$way: is not told" grep -q "every record" err
	for word in rejects=bad dry-run=1 duplicates=refuse on-error=stop; do
		status 2 "$way: $word without key=" T import t short.csv "$word"
		told "the recipe has no key: key='{FIELD}' says which row"
	done
}

for way in "without a mount" "through a mount"; do
	[ "$way" = "without a mount" ] || start_mount
	line_ends
	encodings
	headers
	whole_lines
	no_texts
	stumbles
done
finish
