# For t0083 and t0084: imports that are killed and go on, and what they have to
# bring in. Source it after lib.sh. KILLS says how often each is killed: 30 goes
# on for minutes.
KILLS=${KILLS:-2}
RANDOM=${SEED:-1}
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
# often enough, each time after a part of the time that it takes, $least of it or
# more, and lets it end then. It has ended before: from the beginning again.
least=0
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
		sleep "$(awk "BEGIN {
			print $took * ($least + (1 - $least) * $RANDOM / 32768) / 1e6
		}")"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		result=$?
		case $result in
		137) kills=$((kills + 1)) ;;
		[01])
			content killed | cmp -s - want ||
				fail "$name: ended after $kills kills"
			ended=$((ended + 1))
			# The first one may have had a busy machine.
			took=$((took * 3 / 4))
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
# Which only sets, and of which all is at hand: loaded in bulk, and published as
# one at the end.
from_file() {
	exec "$TABLETFS" -store "$store" import "$1" data.csv "${sets[@]}" ${2-}
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
run() {
	("$@")
}
