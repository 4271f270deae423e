#!/bin/bash
# What an import by a recipe reads, refuses and tells, without a mount and
# through one.
. "$(dirname "$0")/lib.sh"
# imports WANTED NAME FILE...: by the recipe of most tests.
imports() {
	local wanted=$1 name=$2
	shift 2
	status "$wanted" "$name" T import t "$@" "${by[@]}"
}
rows() {
	T count t
}

T createtable t families=f

by=("key={k|any}" "set=f:v {v|pad(3)}")
printf 'k,v\r\na,1\r\n"b ""x\r\n","2\r\n"\r\nc,3\nd,4"\ne,x' >bad.csv
printf 'k,v\n"b ""x\r\n","2\r\n"\r\nd,4"\ne,x\n' | sed '1s/$/\r/' >bad.want
printf 'k\tv\na\\tb\tx\\\\y\nc\t\\q\nd\t1\n' >bad.tsv
printf '{"k":"a","v":"1"}\n{"k":"b","v":"x"}\n{"k":"c"\n' >bad.jsonl
printf '[{"k":"a","v":"1"},\n {"k":"b","v":\n"x"}, 7,{"k":"c","v":"2"}]' >bad.json

at_end() {
	stop_mount 2>/dev/null
	umount -l "$work/small" 2>/dev/null
}

# fills WAY NAME: the disk of what NAME.csv has refused fills, and gets room.
fills() {
	local way=$1 full=$2
	mkdir -p small
	if ! mount -t tmpfs -o size=16k none small 2>/dev/null; then
		skip "no tmpfs can be mounted"
		return
	fi
	imports 2 "$way: a disk that fills" "$full.csv" rejects=small/rej \
		resume="full$way$full"
	told "rejects=small/rej: cannot write it"
	same "$way: $full: it ends with a whole record" "" \
		"$(tail -c 1 small/rej)"
	same "$way: $full: and a whole reason" "" \
		"$(tail -c 1 small/rej.reasons)"
	check "$way: all of them are the file's" \
		[ "$(grep -cvxFf "$full.csv" small/rej)" = 0 ]
	mount -o remount,size=8m small
	printf '77777,"x' >>small/rej
	printf 'poor.csv:77' >>small/rej.reasons
	imports 1 "$way: it goes on" "$full.csv" rejects=small/rej \
		resume="full$way$full"
	told "rejects=small/rej: its last 19 bytes had no line end"
	same "$way: each record is there" "$(grep -c x "$full.csv")" \
		"$(sort -u small/rej | grep -c x)"
	refuse "$way: and no half of one" grep -q '"' small/rej
	refuse "$way: nor of a reason" grep -qx 'poor.csv:77' small/rej.reasons
	umount small
}

refuses() {
	local way=$1
	T deleteallrows t
	imports 1 "$way: some refused" bad.csv rejects=rej
	check "$way: as they stand in the file" cmp rej bad.want
	same "$way: what is right is in" 2 "$(rows)"
	told 'bad.csv:3: field "v"'
	told 'bad.csv:7: field "v", column 4: bare'
	told "refused lines: 3"
	same "$way: all reasons" "bad.csv:3 bad.csv:7 bad.csv:8" \
		"$(cut -d: -f1,2 rej.reasons | xargs)"
	same "$way: a reason is one line" 3 "$(wc -l <rej.reasons)"
	# What is mended goes in.
	sed -i 's/x$/5/; s/4"/4/; s/2\r$/2/; /^"\r$/d; s/"2$/2\r/' rej
	imports 0 "$way: mended" rej rejects=rej2
	same "$way: all are in" 5 "$(rows)"
	same "$way: none refused" "0 0" "$(cat rej2 | wc -c) $(cat rej2.reasons | wc -c)"
	imports 2 "$way: an input is not written over" rej rejects=./rej
	told "would be lost"
	check "$way: it is as before" grep -q . rej
	imports 1 "$way: TSV" bad.tsv rejects=rej
	same "$way: TSV as it stands" 'k v|a\tb x\\y|c \q|' "$(tr '\t\n' ' |' <rej)"
	imports 1 "$way: JSON lines" bad.jsonl rejects=rej
	same "$way: JSON lines as they stand" '{"k":"b","v":"x"}|{"k":"c"|' \
		"$(tr '\n' '|' <rej)"
	imports 1 "$way: an array" bad.json rejects=rej
	same "$way: its records as they stand" '{"k":"b","v":|"x"}|7|' \
		"$(tr '\n' '|' <rej)"
	printf 'v,k\n9,z\ny,y\n' >other.csv
	imports 2 "$way: another header" bad.csv ./other.csv rejects=rej
	told "begins with another header"
	imports 1 "$way: the same header again" bad.csv bad.csv rejects=rej
	same "$way: once" 1 "$(grep -c ^k rej)"
	told "bad.csv:8: "

	T deleteallrows t
	imports 2 "$way: stop" bad.csv on-error=stop rejects=rej
	told 'bad.csv:3: field "v"'
	told "committed up to bad.csv:2"
	same "$way: what came before is in" 1 "$(rows)"
	same "$way: nothing is refused" 0 "$(cat rej | wc -c)"
	imports 2 "$way: stop in the second" other.csv ./bad.csv on-error=stop
	told "other.csv:3: "
	told "committed up to other.csv:2"

	ln -sf /dev/full full
	{ echo k,v; seq -f '%.0f,x' 3000; } >useless.csv
	imports 2 "$way: the first 1,000 refused" useless.csv rejects=rej
	told "the first 1000 records are all refused"
	told "no line is committed"
	told "and 980 more"
	same "$way: no further" 1001 "$(wc -l <rej)"
	{ echo k,v; seq -f '%.0f,x' 3000; } | sed '500s/x/1/' >poor.csv
	imports 1 "$way: but one is enough" poor.csv rejects=rej
	same "$way: all others" 3000 "$(wc -l <rej)"
	told "and 2979 more"
	imports 2 "$way: compressed" poor.csv rejects=rej.csv.GZ
	told "rejects=rej.csv.GZ: rejects are not compressed"
	refuse "$way: which is not begun" ls rej.csv.GZ
	imports 2 "$way: no such directory" bad.csv rejects=nope/rej
	told "rejects=nope/rej: cannot write nope/rej"
	imports 2 "$way: a full disk" poor.csv rejects=full
	told "rejects=full"
	refuse "$way: a device has no reasons beside it" ls full.reasons \
		/dev/full.reasons
	imports 1 "$way: to a pipe" bad.csv rejects=/dev/stdout
	check "$way: it gets the records alone" cmp out bad.want
	# Half a record is none: of a disk that fills, of a kill. Of long records
	# the room for them ends first, of short ones that for the reasons.
	{ echo k,v; seq -f "$(printf %0300d 0)%.0f,x" 900; } |
		sed '500s/x/1/' >long.csv
	for full in long poor; do
		fills "$way" "$full"
	done
	T deleteallrows t
	imports 2 "$way: a file that ends early" poor.csv gone.csv
	told "committed up to poor.csv:3001"
	same "$way: the others are in" 1 "$(rows)"
}
# Wrong before there is any record, or so that none is told from the next.
locates() {
	local way=$1
	printf 'k,"v\n' >open.csv
	imports 2 "$way: a header without its end" open.csv
	told 'open.csv:1: '
	printf 'k,k,v\n1,2,3\n' >double.csv
	imports 2 "$way: a field twice" double.csv
	told 'double.csv:1: '
	printf '[{"k":"a","v":"1"},\n{"k":"b"' >open.json
	imports 2 "$way: an array without its end" open.json
	told 'open.json:2: the record that begins here has no end'
	printf '[{"k":"a","v":"1"}]\n\n{"k":"b","v":"2"}\n' >behind.json
	T deleteallrows t
	imports 2 "$way: records behind an array" behind.json
	told 'behind.json:3: something follows the array'
	same "$way: what the array has is in" 1 "$(rows)"
	local a='{"k":"a","v":"1"}' b='{"k":"b","v":"2"}' text
	for text in "[$a\n$b]" "[\n,$a]" "[$a,\n,$b]" "[$a,\n]" "[\n,]" \
		"[$a \n3]"; do
		T deleteallrows t
		printf "$text" >comma.json
		imports 2 "$way: $text" comma.json
		told 'comma.json:2: '
		told "is missing"
		same "$way: $text: what is whole before it is in" \
			"$(grep -c '^\[{' comma.json)" "$(rows)"
	done
	for text in '[]' "[$a\n]" "\n[ $a\n,\n$b ] "; do
		printf "$text" >comma.json
		imports 0 "$way: $text" comma.json format=json
	done
	printf '{"k":"a","v":"1"}\n[{"k":"b","v":"2"}]\n' >before.json
	imports 2 "$way: an array behind records" before.json format=json
	told 'before.json:2: an array begins behind records'
	printf '[{"k":"a","v":"1"}]\n\n' >fits.json
	imports 0 "$way: empty lines behind an array" fits.json
	imports 0 "$way: once" fits.json resume="fits$way"
	imports 0 "$way: and no more" fits.json resume="fits$way"
	printf '{"k":"b","v":"2"}' >>fits.json
	imports 2 "$way: what an array got later" fits.json resume="fits$way"
	told 'fits.json:3: something follows the array'
	printf '\xef\xbb\xbf,f\n,v\na,1\n' >marked.csv
	status 1 "$way: a byte-order mark in cbt's form" T import t marked.csv
	told 'the first column must be empty'
	printf 'k,v\na,1\nb,"2\n' >quote.csv
	imports 1 "$way: a quote without its end" quote.csv
	told 'quote.csv:3: field "v", line 4, column 1: '
	status 2 "$way: a column twice" T import t bad.csv key={k} \
		"set=f:v 1" "set=f:v 2"
	told 'the recipe sets a column twice: "set f:v 1" and "set f:v 2"'
	: >empty.csv
	: >empty.json
	imports 0 "$way: an empty CSV" empty.csv
	imports 0 "$way: an empty array" empty.json
	# What is refused and not kept is not passed over.
	{ echo k,v; seq -f '%.0f,1' 3000; echo a,x; seq -f '%.0f,x' 9000; } >half.csv
	imports 2 "$way: rejects on a full disk" half.csv rejects=full
	told "rejects=full"
	check "$way: no line is told that is not kept" [ "$(sed -n \
		's/.*committed up to half.csv://p' err | grep . || echo 0)" \
		-le 3001 ]
}
# undo PROGRAM SUFFIX: compressed files are known by their content.
undoes() {
	local way=$1 program=$2
	if ! command -v "$program" >/dev/null; then
		skip "$program is not installed"
		return
	fi
	"$program" -c <many.csv >many.packed
	T deleteallrows t
	imports 0 "$way: $program" many.packed
	same "$way: all of $program" 30000 "$(rows)"
	T deleteallrows t
	status 0 "$way: $program in a pipe" sh -c '
		cat many.packed | "$0" -store "$1" import t - "$2" "$3"' \
		"$TABLETFS" "$store" "${by[@]}"
	same "$way: all of its pipe" 30000 "$(rows)"
	"$program" -c <more.csv >>many.packed
	imports 1 "$way: two of $program" many.packed
	same "$way: the header again is a record" 30001 "$(rows)"
	T deleteallrows t
	head -c -1000 many.packed >torn
	imports 2 "$way: $program torn" torn
	T deleteallrows t
	"$program" -c <many.csv | python3 -c 'import sys
data = bytearray(sys.stdin.buffer.read())
data[len(data) // 2] ^= 1
sys.stdout.buffer.write(data)' >torn
	imports 2 "$way: $program damaged" torn
}
reads() {
	local way=$1
	T deleteallrows t
	{ echo k,v; seq -f '%06.0f,1' 30000 |
		shuf --random-source="$TABLETFS"; } >many.csv
	printf 'k,v\nz,1\n' >more.csv
	for program in gzip lz4 zstd xz bzip2; do
		undoes "$way" "$program"
	done
	gzip -c many.csv >many.CSV.GZ
	T deleteallrows t
	head -c 60000 many.CSV.GZ >torn.csv.gz
	imports 2 "$way: a torn gzip" torn.csv.gz
	told "torn.csv.gz: offset 60000: gzip: it ends too early"
	told "committed up to torn.csv.gz:"
	same "$way: what came before is in" "$(($(sed -n \
		's/.*committed up to torn.csv.gz://p' err) - 1))" "$(rows)"
	check "$way: which is most of it" [ "$(rows)" -gt 10000 ]
	{ cat many.CSV.GZ; head -c 1000 /dev/zero; } >padded
	imports 0 "$way: zeros behind it" padded
	{ cat many.CSV.GZ; echo more; } >padded
	imports 2 "$way: a text behind it" padded
	told "padded: offset $(stat -c %s many.CSV.GZ): what follows"
	# The end of bzip2 is at any bit.
	for last in "" a bc def ghij klmnop qrstuvwx; do
		printf 'k,v\n%s,1\n' "x$last" | bzip2 >ended.bz2
		imports 0 "$way: the end of bzip2 behind x$last" ended.bz2
	done
	{ cat ended.bz2; echo more; } >padded
	imports 2 "$way: a text behind bzip2" padded
	told "padded: what follows the end of the bzip2 is none"
	{ cat ended.bz2; head -c 1000000 /dev/urandom; } >padded
	imports 2 "$way: much behind bzip2" padded
	printf 'k,v\na,1\n' | iconv -t UTF-16 >wide.csv
	imports 2 "$way: UTF-16" wide.csv
	told "iconv"
	mkdir -p none
	printf '\xfd7zXZ\0and so on' >many.xz
	PATH=$work/none status 2 "$way: no program" "$TABLETFS" -store "$store" \
		import t many.xz "${by[@]}"
	told "there is no program xz"
	# cbt's form.
	printf ',f\n,v\na,1\n' | gzip -c >cbt.csv.gz
	T deleteallrows t
	status 0 "$way: cbt's form" T import t cbt.csv.gz
	same "$way: is undone as well" 1 "$(rows)"
	head -c 20 cbt.csv.gz >cbt.torn
	status 1 "$way: cbt's form torn" T import t cbt.torn format=csv
	told "cbt.torn: offset 20: gzip: it ends too early"
	check "$way: told once" [ "$(grep -c tabletfs: err)" = 1 ]
	status 1 "$way: cbt's form of a directory" T import t none
	told "couldn't open the csv file: open none: Is a directory"
}
# Lines of DynamoDB's export, which are compressed.
exports() {
	local way=$1
	T deleteallrows t
	cat >export.json <<'JSON'
{"Item":{"pk":{"S":"u1"},"sk":{"N":"42"},"bin":{"B":"AP8="},"ok":{"BOOL":true},"no":{"NULL":true},"m":{"M":{"x":{"S":"deep"},"n":{"M":{"y":{"N":"-1.5e3"}}}}},"l":{"L":[{"S":"a"},{"N":"1"},{"M":{"b":{"B":"AP8="}}},{"NULL":true}]},"ss":{"SS":["p","q"]},"ns":{"NS":["1","2.5"]},"bs":{"BS":["AP8="]}}}
{"Item":{"pk":{"S":"u2"},"sk":{"N":"x"}}}
{"Item":{"pk":{"S":"u3"},"sk":{"N":1}}}
{"Item":{"pk":{"S":"u4"},"sk":{"Q":"1"}}}
{"Item":{"pk":{"S":"u5"},"sk":"1"}}
{"Item":{"pk":{"S":"u6"},"sk":{"N":"1"},"b":{"B":"%"}}}
{"Keys":{"pk":{"S":"u7"}}}
{"Item":{"pk":{"S":"u8"},"sk":{"N":"1"},"e":{"S":""},"l":{"L":[]},"m":{"M":{}}}}
JSON
	gzip -c export.json >export.json.gz
	status 1 "$way: an export" T import t export.json.gz format=dynamodb \
		'key={pk}#{sk}' rest=f
	same "$way: two of eight" "u1#42 u8#1" \
		"$(T read t keys-only=true | grep ^u | xargs)"
	same "$way: what became of it" \
		'bin=\x00\xff bs=["AP8="] l=["a",1,{"b":"AP8="},null] m.n.y=-1.5e3 m.x=deep ns=[1,2.5] ok=true ss=["p","q"]' \
		"$(T lookup t u1#42 | sed -n '/^  f:/{s/^  f:\([^ ]*\).*/\1=/;N;s/\n *"\(.*\)"$/\1/;s/\\"/"/g;p}' | tr '\n' ' ' | sed 's/ $//')"
	told 'export.json.gz:2: attribute "sk": N has to be a number'
	told 'export.json.gz:4: attribute "sk": its type is none of'
	told 'export.json.gz:6: attribute "b": B is no base64'
	told 'export.json.gz:7: a record is {"Item": {...}}'
	printf '%s\n' '{"Item":{"k":{"S":"m"},"m":{"M":{"b":{"B":"AP8="},"c":{"B":"YQ=="}}}}}' |
		T import t - format=dynamodb 'key={k}' 'set=f:m {m}' 2>err
	check "$way: bytes of a whole map" sh -c "'$TABLETFS' -store '$store' lookup t m | tr -d '\\\\' | grep -qF '{\"b\":\"AP8=\",\"c\":\"a\"}'"
	status 1 "$way: members of a set" T import t export.json.gz \
		format=dynamodb 'explode={ss}' 'key=ss#{pk}' 'set=f:{ss} y'
	same "$way: as columns" "f:p f:q" "$(T lookup t ss#u1 |
		sed -n 's/^  \(f:[^ ]*\).*/\1/p' | xargs)"
}

# Tables as they are for people: comments, lines that end early.
ends_early() {
	local way=$1
	T deleteallrows t
	printf '# code\tzone\tcomment\nAD\tAndorra\nDE\tBerlin\tmost\nXX\n' >zones.tab
	status 0 "$way: lines that end early" T import t zones.tab comment='#' \
		format=tsv header=no 'key={#1}' 'set=f:zone {#2}' 'set=f:more {#3}'
	told "records without a cell: 1,"
	same "$way: two have cells" 2 "$(rows)"
	same "$way: what is missing is absent" 3 "$(T read t | grep -c ' @ ')"
}
# On a terminal a bar is drawn and erased.
tells() {
	local way=$1
	cat >terminal.py <<'PY'
import os, subprocess, sys, time
master, slave = os.openpty()
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stderr=slave)
os.close(slave)
p.stdin.write(b"k,v\na,1\n")
for i in range(3):
    p.stdin.flush()
    time.sleep(0.25)
    p.stdin.write(b"b,2\n")
p.stdin.close()
text = b""
try:
    while more := os.read(master, 4096):
        text += more
except OSError:
    pass
sys.stdout.buffer.write(text.replace(b"\r", b"|"))
sys.exit(p.wait())
PY
	status 0 "$way: a terminal" python3 terminal.py "$TABLETFS" \
		-store "$store" import t - "${by[@]}"
	check "$way: rows a second" grep -q '|.* rows/s, 0 refused' out
	check "$way: erased" grep -q '|.\[Kreplaced cells: 2' out
	status 0 "$way: quiet" python3 terminal.py "$TABLETFS" \
		-store "$store" import t - "${by[@]}" quiet=yes
	refuse "$way: is quiet" grep -q rows/s out
	status 1 "$way: cbt's form" python3 terminal.py "$TABLETFS" \
		-store "$store" import t - quiet=maybe
	imports 2 "$way: quiet is yes or no" many.csv quiet=maybe
}
refuses free
locates free
reads free
tells free
exports free
ends_early free

start_mount || exit 1
refuses mounted
locates mounted
reads mounted
tells mounted
exports mounted
ends_early mounted
stop_mount
check "the store is whole" T check >/dev/null
