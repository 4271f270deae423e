#!/bin/bash
# Imports that are killed and go on: with resume= each record is in exactly
# once, what is added too, from a file, a pipe, a compressed file and one that
# grows.
. "$(dirname "$0")/lib.sh"
KILLS=${KILLS:-30}
RANDOM=${SEED:-1}
T() {
	"$TABLETFS" -store "$store" "$@"
}
status() {
	local wanted=$1 name=$2
	shift 2
	"$@" >out 2>err
	same "$name" "$wanted" $?
}
told() {
	check "told: $1" grep -qF -- "$1" err
}
# What is in a table, but for the time of the import.
content() {
	T read "$1" | sed 's/ *@ .*//'
}
forget() {
	T deleterow _imports "$1"
	T deleteallrows killed
}
T createtable whole families=f,s:never:intsum
T createtable killed families=f,s:never:intsum

python3 - >data.csv <<'PY'
print("k,v,w")
for i in range(30000):
    line = '%d,v%d,"a ""quoted"" %s"' % (i * 7919 % 30000, i,
                                       "x\ny" if i % 9 == 0 else i)
    print(line if i % 1000 else line + ",too many")
PY
gzip -k data.csv
adds=(key={k} "set=f:v {v}" "set=f:w {w}" "key=sum#{k|slice(0,2)}" "add=s:n 1")
sets=(key={k} "set=f:v {v}" "set=f:w {w}")

# killed NAME COMMAND...: runs it, as a shell's function, until it was killed
# often enough, each time after a part of the time that it takes, and lets it
# end then. It has ended before: from the beginning again.
killed() {
	local name=$1 kills=0 ended=0 result begin took
	shift
	T deleteallrows whole
	begin=$EPOCHREALTIME
	run "$@" whole 2>/dev/null
	check "$name: uninterrupted" [ $? -le 1 ]
	took=$((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}))
	content whole >want
	T deleteallrows killed
	while [ "$kills" -lt "$KILLS" ]; do
		"$@" killed "resume=$name" 2>err &
		sleep "$(awk "BEGIN { print $took * $RANDOM / 32768 / 1e6 }")"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		result=$?
		case $result in
		137) kills=$((kills + 1)) ;;
		[01])
			content killed | cmp -s - want ||
				fail "$name: ended after $kills kills"
			ended=$((ended + 1))
			forget "$name"
			;;
		*) fail "$name: status $result: $(cat err)" && break ;;
		esac
	done
	run "$@" killed "resume=$name" 2>err
	check "$name: comes to its end" [ $? -le 1 ]
	content killed >got
	check "$name: after $kills kills, $ended ends" cmp got want
	forget "$name"
}
# The shell that is killed is the program's own process.
from_csv() {
	exec "$TABLETFS" -store "$store" import "$1" data.csv "${adds[@]}" ${2-}
}
from_gzip() {
	exec "$TABLETFS" -store "$store" import "$1" data.csv.gz "${adds[@]}" ${2-}
}
# So slow that it goes by the log.
from_pipe() {
	exec "$TABLETFS" -store "$store" import "$1" - "${sets[@]}" ${2-} < <(
		exec python3 -c 'import sys, time
data = open("data.csv", "rb").read()
for i in range(0, len(data), 8192):
    try:
        sys.stdout.buffer.write(data[i:i + 8192])
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        sys.stderr.close()
        break
    time.sleep(0.002)')
}
# A log, of which lines come in pieces that do not end where lines do. What it
# had at a kill is a part of what it has at the end.
from_log() {
	exec "$TABLETFS" -store "$store" import "$1" log.csv "${adds[@]}" ${2-}
}
grows() {
	local kills=0 result pid writer
	head -n 1 data.csv >log.csv
	python3 -c 'import random, sys, time
random.seed(int(sys.argv[1]))
data = open("data.csv", "rb").read()
data = data[data.index(b"\n") + 1:]
with open("log.csv", "ab", buffering=0) as log:
    while data:
        n = random.randrange(1, 40000)
        log.write(data[:n])
        data = data[n:]
        time.sleep(random.random() / 10)' "${SEED:-1}" &
	writer=$!
	while [ "$kills" -lt "$KILLS" ] || kill -0 "$writer" 2>/dev/null; do
		from_log killed resume=log 2>err &
		pid=$!
		sleep "$(awk "BEGIN { print $RANDOM / 32768 / 5 }")"
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		result=$?
		case $result in
		137) kills=$((kills + 1)) ;;
		[01]) ;;
		*) fail "a log: status $result: $(cat err)" && break ;;
		esac
	done
	wait "$writer"
	run from_log killed resume=log 2>err
	T deleteallrows whole
	run from_log whole 2>/dev/null
	content whole >want
	content killed >got
	check "a log after $kills kills" cmp got want
	same "a log: all of it" "$(T count whole)" "$(T count killed)"
	forget log
}
# What is put aside is appended to, and is there once for whoever was not
# killed.
refuses() {
	local words=("${sets[@]}" resume=r rejects=rej)
	printf 'k,v,w\na,1,1\nb,"1" x,1\nc,1\n' >r.csv
	rm -f rej rej.reasons
	status 1 "two are refused" T import killed r.csv "${words[@]}"
	printf 'd,1,1\ne,1,1,1\n' >>r.csv
	status 1 "one more" T import killed r.csv "${words[@]}"
	same "put aside" 'k,v,w|b,"1" x,1|c,1|e,1,1,1|' "$(tr '\n' '|' <rej)"
	same "the reasons" "r.csv:3 r.csv:4 r.csv:6" \
		"$(cut -d: -f1,2 rej.reasons | xargs)"
	same "the others" "a d" "$(T read killed keys-only=true | grep -x . | xargs)"
	status 0 "nothing new" T import killed r.csv "${words[@]}"
	told "Done importing 0 rows."
	printf 'other,header\n' >rej
	printf 'f,1\n' >>r.csv
	status 2 "not behind another header" T import killed r.csv "${words[@]}"
	told "rejects=rej begins with another header"
	told "committed up to r.csv:6"
	rm rej
	status 1 "again" T import killed r.csv "${words[@]}"
	same "only then it is taken" 'k,v,w|f,1|' "$(tr '\n' '|' <rej)"
	forget r
}
wrongs() {
	local words=("${adds[@]}" resume=w)
	printf 'k,v,w\na,1,1\nb,1,1' >w.csv
	status 1 "a line without its end" T import killed w.csv "${words[@]}"
	told "w.csv:3: the last line has no end yet"
	check "its position can be seen" grep -qF 'line 3\noffset 12\n' <(
		T lookup _imports w)
	echo ,x >>w.csv
	status 1 "with its end it is one" T import killed w.csv "${words[@]}"
	told "w.csv:3: wrong number of fields"
	status 2 "another recipe" T import killed w.csv "${sets[@]}" resume=w
	told "it began with another recipe"
	status 2 "another table" T import whole w.csv "${words[@]}"
	told 'it is of another table than "whole"'
	sed s/1/2/ w.csv >x.csv
	status 2 "another beginning" T import killed x.csv "${words[@]}"
	told "x.csv: it begins otherwise"
	told "committed up to x.csv:3"
	refuse "which no other run mends" grep -q "same command" err
	head -c 12 w.csv >x.csv
	status 2 "a shorter one" T import killed x.csv "${words[@]}"
	told "it has 12 bytes, and resume=w has taken 20 already"
	status 0 "by another name" T import killed - "${words[@]}" <w.csv
	status 2 "two files" T import killed w.csv x.csv "${words[@]}"
	status 2 "a dry run" T import killed w.csv "${words[@]}" dry-run=1
	status 2 "duplicates" T import killed w.csv "${words[@]}" \
		duplicates=refuse
	status 2 "no name" T import killed w.csv "${adds[@]}" resume=
	status 2 "without a recipe" T import killed w.csv resume=w
	T set _imports w import:position=nonsense
	status 2 "a position that is none" T import killed w.csv "${words[@]}"
	told 'table _imports, row "w": it is no position'
	forget w
	status 1 "forgotten, it begins anew" T import killed w.csv "${words[@]}"
	same "from the beginning" 1 "$(T count killed prefix=a)"
	T deletetable killed
	T createtable killed families=f,s:never:intsum
	status 2 "a table made anew" T import killed w.csv "${words[@]}"
	told "or of one that was dropped"
	T deletetable _imports
	status 1 "all forgotten" T import killed w.csv "${words[@]}"
	forget w
	: >empty.csv
	: >empty.json
	status 0 "an empty CSV" T import killed empty.csv "${sets[@]}"
	status 0 "an empty JSON" T import killed empty.json "${sets[@]}"
	# The first 1,000 refused: with another recipe they are to come again.
	{ echo k,v,w; seq 2000; } >useless.csv
	status 2 "all refused" T import killed useless.csv "${words[@]}"
	status 2 "with another recipe" T import killed useless.csv \
		"${sets[@]}" resume=w
	told "the first 1000 records are all refused"
	forget w
}
# Where the elements of a record end, and arrays of them.
explodes() {
	python3 -c 'import json
print(json.dumps([{"k": i, "l": [{"n": n} for n in range(3)]}
                  for i in range(20000)], indent=1))' >list.json
	adds=("explode={l}" "key={k}#{l.n}" "set=f:v {l.n}" "key=sum" "add=s:n 1")
}
from_json() {
	exec "$TABLETFS" -store "$store" import "$1" list.json "${adds[@]}" ${2-}
}
# stops SIGNAL
stops() {
	local pid
	mkfifo pipe 2>/dev/null
	exec {hold}<>pipe
	env --default-signal=INT "$TABLETFS" -store "$store" \
		import killed pipe "${sets[@]}" resume=s 2>err &
	pid=$!
	printf 'k,v,w\na,1,1\nb,1' >pipe
	until [ "$(wc -c <"/proc/$pid/io" 2>/dev/null)" ] &&
		grep -q 'rchar: .' "/proc/$pid/io" &&
		[ "$(sed -n 's/State:\t\(.\).*/\1/p' "/proc/$pid/status")" = S ] &&
		[ "$(python3 -c 'import array, fcntl, sys, termios
a = array.array("i", [0])
fcntl.ioctl(int(sys.argv[1]), termios.FIONREAD, a)
print(a[0])' $hold)" = 0 ]; do
		sleep 0.01
	done
	kill -"$1" "$pid"
	wait "$pid"
	same "$1: not finished" 2 $?
	exec {hold}>&-
	told "stopped by SIG$1"
	told "committed up to pipe:2"
	told "the same command goes on from there"
	same "$1: what came is in" 1 "$(T count killed)"
	forget s
}
run() {
	("$@")
}
killed csv from_csv
killed gzip from_gzip
killed pipe from_pipe
grows
refuses
wrongs
stops INT
stops TERM
explodes
killed json from_json
check "the store is whole" T check >/dev/null
