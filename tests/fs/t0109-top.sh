#!/bin/bash
# tabletfs top: on a terminal, in a real one, while a load goes on that has a hot
# table, a hot row in it, and makes writers wait; in scripts, whose columns are
# parsed; on a server; and on a store that nobody serves.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
socket=$work/tmux load=
at_end() {
	[ -z "$load" ] || kill "$load" 2>/dev/null
	[ -z "$server" ] || kill "$server" 2>/dev/null
	tmux -S "$socket" kill-server 2>/dev/null
	stop_mount 2>/dev/null
}

# Nobody serves it.
T createtable cold families=f
status 1 "a store that is free" "$TABLETFS" top -b -n 1 "$store"
told "nobody has mounted or served it"
same "in one sentence" 1 "$(wc -l <err)"
status 1 "nor is one that is none" "$TABLETFS" top -b -n 1 "$work"
status 1 "a place that is none" "$TABLETFS" top -b -n 1 "$work/none"
told "No such file"
for words in "-n 0" "-n x" "-d 0" "-d 1e9" "-n" "-x" "a b"; do
	status 1 "wrong: $words" "$TABLETFS" top $words
done

# A load: 16 MiB of memory, so that writers are ahead of flushes; nine of ten
# writes are to one row of one table.
start_mount -o memory=16M
mkdir -p "$m/busy" "$m/other/r/f"
cat >load.py <<'PYTHON'
import os, sys
mnt, size = sys.argv[1], 100000
value = os.urandom(size).hex()
hot = os.open(f"{mnt}/busy/.mutate", os.O_WRONLY)
os.mkdir(f"{mnt}/busy/.schema/f")
i = 0
while True:
    i += 1
    row = "hot#row" if i % 10 else f"cold#{i:06}"
    os.write(hot, b'{"row":"%s","set":{"f":{"q%d":"%s"}}}\n'
             % (row.encode(), i % 50, value[i % 1000:][:2000 + size // 2].encode()))
    if i % 100 == 0:
        with open(f"{mnt}/other/r/f/q", "w") as f:
            f.write(str(i))
PYTHON
python3 load.py "$m" &
load=$!

# column WORD NAME N: of the last round, of the line of this kind and name.
column() {
	awk -v word="$1" -v name="$2" -v n="$3" \
		'$1 == word && $2 == name { value = $n } END { print value }' round
}
# until COMMAND...: rounds are taken until it holds.
until_seen() {
	local i
	for i in $(seq $((60 * ${SLOW:-1}))); do
		"$TABLETFS" top -b -n 1 -d 0.5 "$m" >round 2>err || return 1
		"$@" && return
	done
	cat round >&2
	return 1
}
is_hot() {
	[ "$(awk '$1 == "table" { print $2; exit }' round)" = busy ] &&
		grep -q '^table  *busy .* start="hot#row" end="hot#row\\x00"$' round
}
check "the hot table comes first, with its hot row" until_seen is_hot
check "most comes to that row" [ "$(column table busy 7)" -gt 50 ]
check "so much a second" [ "$(column table busy 4 | cut -d. -f1)" -gt 5 ]
# What writers were stopped by, or slowed; since the mount began.
has_waited() {
	[ "$(awk '$1 == "stall" { n += $6 } $1 == "slowed" && $4 > 0 { n++ }
		END { print n }' round)" -gt 0 ]
}
check "writers wait for the background" until_seen has_waited
check "what is done meanwhile" awk \
	'$1 == "work" && $3 > 0 { n++ } END { exit !n }' round

# What a script reads: each line is of a kind, whose columns are as many as its
# head has; numbers are numbers.
"$TABLETFS" top -b -n 2 -d 0.3 "$store" >rounds 2>err
same "by the store" 0 $?
python3 - rounds <<'PYTHON' || fail "a script reads it"
import sys
heads = {"stall": "WRITERS", "work": "BEHIND", "table": "TABLE",
         "request": "REQUEST", "level": "LEVEL", "memory": "MEMORY"}
columns, rounds, kinds = {}, 0, {}
for line in open(sys.argv[1]):
    words = line.split()
    assert "\033" not in line, line
    if words[0].isupper():
        columns[words[0]] = len(words)
        continue
    kinds.setdefault(words[0], []).append(words)
    if words[0] == "top":
        rounds += 1
        assert words[2] == "seconds" and float(words[3]) >= 0.3, line
    elif words[0] in heads:
        assert len(words) >= columns[heads[words[0]]], line
        first = 3 if words[0] != "memory" else 2
        for word in words[2:min(len(words), 7)]:
            float(word)
    elif words[0] in ("debt", "writes", "imports", "cache"):
        for name, value in zip(words[1::2], words[2::2]):
            assert name.islower()
            float(value)
    else:
        assert words[0] == "slowed", line
assert rounds == 2, rounds
assert {w[1] for w in kinds["stall"]} == {"memtables", "level0", "room"}
assert len(kinds["level"]) == 14
assert "memtables" in {w[1] for w in kinds["memory"]}
assert any(w[1] == "write" and float(w[2]) > 0 for w in kinds["request"])
assert float(kinds["writes"][-1][2]) > 0
PYTHON
pass

# Stopped in the midst of what it is asked, a daemon does not keep who asked.
end_beside_a_stopped() {
	local i j k asking
	for i in $(seq 10); do
		asking=
		for j in $(seq 8); do
			"$TABLETFS" top -b -d 0.1 "$m" >/dev/null 2>&1 &
			asking="$asking $!"
		done
		sleep "0.$((RANDOM % 30 + 10))"
		kill -STOP "$daemon"
		sleep 0.1
		kill $asking
		for k in $(seq $((100 * ${SLOW:-1}))); do
			kill -0 $asking 2>/dev/null || break
			sleep 0.1
		done
		! kill -0 $asking 2>/dev/null || k=
		kill -CONT "$daemon"
		wait $asking
		[ "$k" ] || return 1
	done
}
check "they end while the daemon is stopped" end_beside_a_stopped

# On a terminal.
if command -v tmux >/dev/null; then
	tm() { tmux -S "$socket" -f /dev/null "$@"; }
	shown() { tm capture-pane -e -p -t top; }
	# sees PATTERN: it comes in time.
	sees() {
		local i
		for i in $(seq $((300 * ${SLOW:-1}))); do
			shown | grep -qE -- "$1" && return
			sleep 0.1
		done
		shown >&2
		return 1
	}
	awaits_next() {
		local i
		for i in $(seq $((300 * ${SLOW:-1}))); do
			shown | grep -q 'waiting for pid' || return 0
			sleep 0.1
		done
		return 1
	}
	begin() {
		# One that ends may still be asked.
		tm kill-server 2>/dev/null
		socket=$work/tmux-$1
		tm new-session -d -s top -x "$1" -y 40 \
			"env $3 PS1='ready> ' bash --norc --noprofile" || return
		tm send-keys -t top -l "$TABLETFS top -d 0.5 $2"
		tm send-keys -t top Enter
	}
	begin 120 "$m" A=b
	check "the hot table is there" sees 'table +busy .*start="hot#row"'
	check "and what waits" sees '^.*stall +memtables'
	check "heads are bold" sees $'\e\\[1mTABLE'
	tm send-keys -t top C-c
	check "it gives the screen back" sees '^ready> *$'
	refuse "and leaves nothing there" sh -c \
		"tmux -S '$socket' capture-pane -p -t top | grep -q MEMORY"
	begin 110 "$m" A=b
	check "again" sees 'table +busy'
	kill -STOP "$daemon"
	sleep 1
	tm send-keys -t top C-c
	check "a daemon that is stopped does not keep it" sees '^ready> *$'
	kill -CONT "$daemon"
	# The first look comes at once: what came since the start, and no rates.
	begin 112 "-d 3600 $m" A=b
	check "at once" sees '^.*top .* since start version'
	check "what came since the start" sees 'work +flush +[1-9][0-9.]*[K]? +-'
	check "a table without rates" sees 'table +busy +- +- +- +[1-9]'
	check "and requests with their times" sees 'request +write +- +[1-9]'
	refuse "no number is none" sh -c \
		"tmux -S '$socket' capture-pane -p -t top | grep -qi 'nan\|inf '"
	# Whom a round waits for is told below it, and moves none of it.
	begin 111 "$store" A=b
	check "by the store" sees 'table +busy'
	stop_between() {
		local i
		for i in $(seq 10); do
			kill -STOP "$daemon"
			sleep 4.5
			shown | grep -q 'waiting for pid' && return
			kill -CONT "$daemon"
			sleep 1
		done
		return 1
	}
	check "whom it waits for is told" stop_between
	tm capture-pane -p -t top >waiting
	kill -CONT "$daemon"
	same "the picture stays" top "$(head -n 1 waiting | cut -d ' ' -f 1)"
	same "below it one line tells" 40 \
		"$(grep -n 'waiting for pid' waiting | cut -d: -f1)"
	check "and goes with the next" awaits_next
	begin 115 "-n 1 $m" A=b
	check "the last round wanted stays" sees '^ready> *$'
	# Not its tables: writers may have waited all through it.
	check "to be read" sees "level +0"
	begin 40 "$m" NO_COLOR=1
	check "a narrow one" sees '^table +busy'
	refuse "has no colours" sh -c \
		"tmux -S '$socket' capture-pane -e -p -t top | grep -q '\[1m'"
	same "and no line is longer" 0 "$(tm capture-pane -p -t top |
		awk 'length > 40 { n++ } END { print n + 0 }')"
	# It is in nobody's way: the mount ends, and it says so.
	kill $load && wait $load 2>/dev/null
	load=
	# Between two rounds, which are short.
	unmount() {
		local i
		for i in $(seq 50); do
			fusermount3 -u "$m" 2>/dev/null && return
			sleep 0.1
		done
		return 1
	}
	if unmount; then
		pass
		await_end
	else
		fail "the mount does not end beside it"
		tm send-keys -t top C-c
		stop_mount
	fi
	refuse "the mount is gone" mountpoint -q "$m"
	check "which is told" sees 'nobody has mounted'
else
	skip "there is no tmux"
	kill $load && wait $load 2>/dev/null
	load=
	stop_mount
fi

# One that is only read, where no command runs.
start_mount -o ro
"$TABLETFS" top -b -n1 -d0.2 "$m" >round 2>err
same "of a mount that is only read" 0 $?
check "its tables, without ranges" grep -qE '^table +busy .* 0 -$' round
status 1 "by where it is mounted alone" "$TABLETFS" top -b -n1 "$store"
stop_mount

# A server.
serve
"$TABLETFS" top -b -n1 -d0.2 "$store" >round 2>err
same "of a server" 0 $?
check "its tables" grep -q '^table *busy' round
check "it ends" stop
