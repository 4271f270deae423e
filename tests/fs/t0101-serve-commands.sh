#!/bin/bash
# Commands for a store that tabletfs serve has: they run in it, by a socket in
# the store's directory, as they do in the daemon of a mount.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
at_end() {
	[ -z "$server" ] || kill -CONT "$server" 2>/dev/null
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

# How often a value of table t has this text, over the wire.
on_wire() {
	"$wire" "$address" /google.bigtable.v2.Bigtable/ReadRows \
		1=projects/p/instances/i/tables/t | grep -c "$1"
}

serve
same "the socket is its user's" srw------- "$(stat -c %A "$store/ctl.sock")"
check "a table" T createtable t families=f
check "a cell" T set t r f:q=value
same "is on the wire" 1 "$(on_wire value)"
"$wire" "$address" /google.bigtable.v2.Bigtable/MutateRow \
	1=projects/p/instances/i/tables/t 2=wired \
	3{ 1{ 1=f 2=q 3:1000 4=other } } >/dev/null
same "what is written there is read" 1 "$(T lookup t wired | grep -c other)"
status 1 "an unknown command" T nothing
told "Unknown command"
status 1 "one that fails" T read none
told "none"
status 2 "one that answers by its status" T mutate t if=x
check "as much as there is, in pieces" python3 - "$TABLETFS" "$store" <<'PYTHON'
import subprocess, sys
base = [sys.argv[1], "-store", sys.argv[2]]
for i in range(20):
    subprocess.run(base + ["set", "t", "large%02d" % i, "f:q=" + "x" * 100000],
                   check=True)
out = subprocess.run(base + ["export", "t", "-"], check=True,
                     stdout=subprocess.PIPE).stdout
assert out.count(b"x" * 100000) == 20, len(out)
PYTHON
check "a dump" T dump dumped
check "can be loaded" "$TABLETFS" load dumped loaded
same "with all" "$(T count t)" "$("$TABLETFS" -store loaded count t)"
check "a backup" T backup backed
same "has all, too" "$(T count t)" "$("$TABLETFS" -store backed/latest count t)"
check "sync" T sync
check "check" T check
status 1 "an import needs the store itself" T import t "$0"
told "is served"
status 1 "a second server" timeout 60 "$TABLETFS" serve "$store" listen=:0
told "pid $server"
status 1 "a mount" timeout 60 "$TABLETFS" mount "$store" "$m"
told "tabletfs serve"

# begun FILE: waits until FILE is there, a minute at most.
begun() {
	local i
	for i in $(seq 600); do
		[ -e "$1" ] && return
		sleep 0.1
	done
	return 1
}
# stalls COUNT FILE: so many connections that send half a command and no more,
# all there once FILE is; adds who holds them to $silent.
stalls() {
	python3 - "$store" "$@" <<'PYTHON' &
import os, socket, sys, time
os.chdir(sys.argv[1])
silent = []
for i in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX)
    s.connect("ctl.sock")
    s.send(b"w100\nnot all")
    silent.append(s)
time.sleep(1)
open("../" + sys.argv[3], "w").close()
time.sleep(600)
PYTHON
	silent="${silent:-} $!"
	check "$1 stall" begun "$2"
}

# Many at once, and some that say nothing, more than there are runners.
stalls 3 silent
many=
for i in $(seq 12); do
	T set t "many$i" f:q=1 2>/dev/null &
	many="$many $!"
done
check "many commands beside some that stall" wait $many
same "all ran" 12 "$(T count t prefix=many)"
printf 'nonsense\n' | python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.send(sys.stdin.buffer.read())
s.shutdown(socket.SHUT_WR)
sys.stdout.buffer.write(b"".join(iter(lambda: s.recv(1000), b"")))' \
	"$store/ctl.sock" >reply
check "what is no request is told" grep -q "begins with w" reply
# Pagers, more than run at once, hold up nobody; one command too many is told.
for i in $(seq 8); do
	python3 - "$TABLETFS" "$store" "$work/paged$i" <<'PYTHON' &
import subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "-store", sys.argv[2], "read", "t"],
                     stdout=subprocess.PIPE)
p.stdout.read(1)
open(sys.argv[3], "w").close()
time.sleep(600)
PYTHON
	silent="$silent $!"
done
for i in $(seq 8); do
	check "pager $i has begun" begun "paged$i"
done
soon() {
	timeout $((15 * ${SLOW:-1})) "$TABLETFS" -store "$store" "$@"
}
check "a command beside pagers" soon set t paged f:q=1
same "is done" 1 "$(soon count t prefix=paged)"
stalls 64 full
status 1 "one that is too many" soon lookup t r
told "64 commands"
check "the server ends beside who stalls" stop
kill $silent 2>/dev/null
wait $silent 2>/dev/null
check "and its socket goes" [ ! -e "$store/ctl.sock" ]
same "what was written stays" 12 "$(T count t prefix=many)"

# After a kill the socket is left, in nobody's way.
serve
kill -9 "$server"
wait "$server" 2>/dev/null
check "after a kill it is there" [ -S "$store/ctl.sock" ]
same "commands go on" 12 "$(T count t prefix=many)"
check "check finds nothing" T check
serve
same "and so does a server" 12 "$(T count t prefix=many)"

# A path as long as it may be.
stop
deep=$work/$(printf 'd%.0s' $(seq 200))
mkdir "$deep" && mv "$store" "$deep/store"
store=$deep/store
serve
same "in a directory with a long name" 12 "$(T count t prefix=many)"
check "it ends" stop
