#!/bin/bash
# What an import by a recipe refuses, takes and commits, the same without a mount
# and through one: a record that is too large for a write, a table that changes
# while it runs, rows that come slowly, a writer that is killed.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store
sum() {
	T export "$1" - columns=n:x | sed -n 's/^all,.*,//p'
}

keys() {
	T read "$1" keys-only=true | grep -x '[a-z]*' | xargs
}

# Of 100,001 cells; of 100,000 cells, which leave no room for a position.
python3 - <<'PYTHON'
import json
def record(k, n):
    return json.dumps({"id": k} | {"c%d" % i: 1 for i in range(n)}) + "\n"
for name, n in ("wide", 100001), ("full", 100000):
    with open(name + ".jsonl", "w") as f:
        f.write(record("a", 1) + record("b", n) + record("c", 1))
    with open(name + ".want", "w") as f:
        f.write(record("b", n))
PYTHON
too_large() {
	local way=$1 words=(key='{id}' rest=f rejects=rej)
	T createtable "$way" families=f,n:never:intsum >/dev/null
	status 1 "$way: a record is too large" T import "$way" wide.jsonl \
		"${words[@]}" key=all add='n:x 1'
	told "wide.jsonl:2: more than 100000 changes"
	check "$way: it is put aside as it is" cmp rej wide.want
	same "$way: and its reason" \
		"wide.jsonl:2: more than 100000 changes" "$(cat rej.reasons)"
	same "$way: nothing of it is in" "2 a all c" \
		"$(sum "$way") $(keys "$way")"
	T deleteallrows "$way"
	status 2 "$way: on-error=stop" T import "$way" wide.jsonl \
		"${words[@]}" on-error=stop
	told "committed up to wide.jsonl:1"
	same "$way: ends before it" a "$(keys "$way")"
	status 1 "$way: a dry run" T import "$way" wide.jsonl key='{id}' rest=f \
		dry-run=3
	told "wide.jsonl:2: more than 100000 changes"
	status 0 "$way: one that is just small enough" T import "$way" \
		full.jsonl key='{id}' rest=f
	status 1 "$way: but not beside a position" T import "$way" full.jsonl \
		"${words[@]}" resume="$way"
	told "full.jsonl:2: with its position more than 100000 changes"
	check "$way: so it is put aside" cmp rej full.want
	rm rej rej.reasons
}

# A family that is dropped while an import into it runs: no record is refused,
# and none is lost.
seq 0 39999 | sed '1i id' >ids.csv
changes() {
	local way=$1 pid
	shift
	T createtable changes families=f,n:never:intsum >/dev/null
	mkfifo "fifo$way"
	T import changes "fifo$way" format=csv key='r{id}' set='f:v {id}' \
		key=all add='n:x 1' rejects=rej "$@" 2>err &
	pid=$!
	{
		head -n 20001 ids.csv
		for ((i = 0; i < 100; i++)); do
			[ "$(T count changes prefix=r)" = 20000 ] && break
			sleep 0.1
		done
		T deletefamily changes f
		tail -n +20002 ids.csv
	} >"fifo$way" 2>/dev/null
	wait $pid
	same "$way: the import ends there" 2 $?
	told 'table "changes" was dropped or changed while the import ran: unknown family "f"'
	told "committed up to fifo$way:20001"
	same "$way: no record is to blame" "0 0" \
		"$(cat rej | wc -c) $(cat rej.reasons | wc -c)"
	same "$way: nothing behind it is in" 20000 "$(sum changes)"
}
# slow NAME [gzip]: a record each half a second, nine of them; NAME.sent tells
# that four have gone.
slow() {
	python3 -uc 'import gzip, sys, time
out = sys.stdout.buffer
if sys.argv[2:]:
    out = gzip.GzipFile(fileobj=out, mode="wb")
out.write(b"id,v\n")
for i in range(9):
    out.write(b"%s%d,x\n" % (sys.argv[1].encode(), i))
    out.flush()
    if i == 3:
        open(sys.argv[1] + ".sent", "w").close()
    time.sleep(0.5)' "$@" 2>/dev/null
}
# seen NAME LEAST: soon so many of them are seen, while the others still come.
seen() {
	local i
	for ((i = 0; i < 25; i++)); do
		sleep 0.1
		[ "$(T count slow prefix="$1")" -ge "$2" ] && break
	done
	check "$1: rows are seen as they come" [ "$i" -lt 25 ]
}

too_large free
T createtable slow families=f >/dev/null
words=(slow - format=csv key={id} rest=f)
# dies NAME WORD...: an import of what comes is killed.
dies() {
	local way=$1 pid count i
	shift
	"$TABLETFS" import "$@" quiet=yes 2>/dev/null <&0 &
	pid=$!
	for ((i = 0; i < 300; i++)); do
		[ -e "$way.sent" ] && break
		sleep 0.1
	done
	sleep 1.5
	kill -9 $pid
	wait $pid 2>/dev/null
	count=$(T count slow prefix="$way")
	check "$way: what came before a kill is in: $count" \
		[ "$count" -ge 2 -a "$count" -lt 9 ]
}
dies plain "${words[@]}" < <(slow plain)
dies resume "${words[@]}" resume=s < <(slow resume)
dies gzip "${words[@]}" < <(slow gzip gzip)
dies cbt slow - column-family=f < <(slow cbt | sed -u 's/id,v/,v/')
T deleteallrows slow

start_mount || exit 1
too_large mounted
changes plain
T deletetable changes
changes resume resume=changes
T createfamily changes f
status 0 "the same goes on" T import changes ids.csv format=csv key='r{id}' \
	set='f:v {id}' key=all add='n:x 1' rejects=rej resume=changes
same "with each record once" 40000 "$(sum changes)"
T recipe slow set r - >/dev/null < <(printf 'key {id}\nrest f\n')
slow plain | T import "${words[@]}" 2>/dev/null &
pids=$!
slow resume | T import "${words[@]}" resume=m 2>/dev/null &
pids="$pids $!"
slow file >"$m/slow/.import/recipe/r/csv" &
pids="$pids $!"
# Enough at once for a bulk load, and then slow.
python3 -c 'import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY)
os.write(fd, b"id,v\n" + b"".join(b"big%05d,x\n" % i for i in range(9000)))
for i in range(40):
    os.write(fd, b"big1%d,x\n" % i)
    time.sleep(0.1)' "$m/slow/.import/recipe/r/csv" &
pids="$pids $!"
seen plain 2
seen resume 2
seen file 2
seen big 9000
wait $pids
same "and all in the end" "9 9 9 9040" "$(for name in plain resume file big; do
	T count slow prefix=$name
done | xargs)"
