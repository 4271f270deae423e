#!/bin/bash
# Imports that are killed and go on: with resume= each record is in exactly
# once, what is added too, from a file, a pipe, a compressed file and one that
# grows.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/resume.sh"
wrongs() {
	local words=("${adds[@]}" resume=w) number
	printf 'k,v,w\na,1,1\nb,1,1' >w.csv
	status 1 "a line without its end" T import killed w.csv "${words[@]}"
	told "w.csv:3: the last line has no end yet"
	check "its position can be seen" grep -qF 'line 3\noffset 12\n' <(
		T lookup _imports w)
	number=$(T lookup _imports w |
		sed -n 's/.*import:position\.\([0-9]*\) .*/\1/p')
	echo ,x >>w.csv
	status 1 "with its end it is one" T import killed w.csv "${words[@]}"
	told "w.csv:3: wrong number of fields"
	status 2 "another recipe" T import killed w.csv "${sets[@]}" resume=w
	told "it began with another recipe"
	T deleteallrows whole
	status 1 "another table has its own" T import whole w.csv "${words[@]}"
	same "from the beginning" "$(content killed)" "$(content whole)"
	sed s/1/2/ w.csv >x.csv
	status 2 "another beginning" T import killed x.csv "${words[@]}"
	told "x.csv: it begins otherwise"
	told "deletecolumn _imports 'w' import position.$number"
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
	T set _imports w "import:position.$number=nonsense"
	status 2 "a position that is none" T import killed w.csv "${words[@]}"
	told 'table _imports, row "w": it is no position; delete import:position.'
	forget w
	printf 'k,v,w\na,1,1\nb,"1\n2","open\n' >open.csv
	status 1 "a quote without its end" T import killed open.csv "${sets[@]}" \
		resume=w
	told "open.csv:4:4: the quote that begins here has no end yet"
	echo c,1,1 >>open.csv
	status 1 "which newlines do not end" T import killed open.csv \
		"${sets[@]}" resume=w
	told "open.csv:4:4: the quote that begins here has no end yet"
	sed -i 's/"open/"open"/' open.csv
	status 0 "ended, it is taken" T import killed open.csv "${sets[@]}" \
		resume=w
	same "and what is behind it" 1 "$(T count killed prefix=c)"
	forget w
	status 1 "forgotten, it begins anew" T import killed w.csv "${words[@]}"
	same "from the beginning" 1 "$(T count killed prefix=a)"
	T deletetable killed
	T createtable killed families=f,s:never:intsum
	status 1 "a table made anew" T import killed w.csv "${words[@]}"
	same "from the beginning" 1 "$(T count killed prefix=a)"
	T deletetable _imports
	T deleteallrows killed
	status 1 "all forgotten" T import killed w.csv "${words[@]}"
	same "once more" 1 "$(T count killed prefix=a)"
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
killed csv from_csv
killed gzip from_gzip
killed pipe from_pipe
loads=$(grep -c ' bulk_loaded ' "$store/LOG")
least=0.5 killed bulk from_file
check "it was a bulk load" \
	[ "$(grep -c ' bulk_loaded ' "$store/LOG")" -gt "$loads" ]
grows
refuses
wrongs
# signalled TEXT SIGNAL: an import of it is sent the signal when it has taken all.
signalled() {
	python3 - "$TABLETFS" "$store" "$@" <<'PY' 2>err
import array, fcntl, signal, subprocess, sys, termios, time
p = subprocess.Popen([sys.argv[1], "-store", sys.argv[2], "import", "killed",
                      "-"], stdin=subprocess.PIPE, bufsize=0,
                     # Which who runs this in the background ignores.
                     preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                      signal.SIG_DFL))
p.stdin.write(sys.argv[3].replace("\\n", "\n").encode())
left = array.array("i", [1])
while left[0] or open("/proc/%d/stat" % p.pid).read().split(") ")[1][0] != "S":
    time.sleep(0.1)
    fcntl.ioctl(p.stdin.fileno(), termios.FIONREAD, left)
p.send_signal(signal.Signals[sys.argv[4]])
sys.exit(p.wait())
PY
}
# What is whole is in, of a record that came in part nothing.
plain() {
	local way=$1 lines rows text
	# Fewer bytes are not enough to tell whether it is compressed.
	while read -r lines rows text <&3; do
		T deleteallrows killed
		signalled "$text" SIGINT
		same "$way: cbt's form stopped in $text" 2 $?
		told "stopped by SIGINT"
		[ "$lines" = no ] || told "committed up to line $lines;"
		[ "$lines" != no ] || told "no line is committed"
		same "$way: only that is in" "$rows" "$(T count killed)"
		T deleteallrows killed
		signalled "$text" SIGKILL
		check "$way: killed in $text, no more is in" \
			[ "$(T count killed)" -le "$rows" ]
	done 3<<'TEXTS'
no 0 ,f\n,qualifier of a column
no 0 ,f\n,qualifier\na,x
3 1 ,f\n,v\na,1\nb,x
3 1 ,f\n,v\na,1\nb,"x,y\n
4 2 ,f\n,v\na,1\nb,x\nc,"x
TEXTS
	T deleteallrows killed
	printf ',f\n,v\na,1\nb,"x\n' >quote.csv
	status 1 "$way: a quote without its end" T import killed quote.csv
	told "line 4: line 5, column 1: extraneous"
	same "$way: what is before it is in" 1 "$(T count killed)"
	T deleteallrows killed
	python3 -c 'import sys, zlib
z = zlib.compressobj(wbits=31)
sys.stdout.buffer.write(z.compress(b",f\n,v\na,1\nb,x") + z.flush(zlib.Z_FULL_FLUSH))' \
		>torn.csv.gz
	status 1 "$way: a torn gzip" T import killed torn.csv.gz
	told "Done importing 1 rows."
	same "$way: of it, too" 1 "$(T count killed)"
}
plain free
start_mount || exit 1
plain mounted
stop_mount
stops INT
stops TERM
explodes
killed json from_json
check "the store is whole" T check >/dev/null
