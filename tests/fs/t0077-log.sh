#!/bin/bash
# The event log of a store that is mounted: what it tells, how much, its bound,
# and what stands in its place.
. "$(dirname "$0")/lib.sh"
log=$store/LOG

# told PATTERN: a line with it is there, which may take the second of a tick.
told() {
	local i
	for i in $(seq 50); do
		grep -q "$1" "$log" 2>/dev/null && return
		sleep 0.1
	done
	return 1
}

# try WORD: sets the level; the close tells what is wrong.
try() {
	python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
os.write(fd, sys.argv[2].encode())
os.close(fd)' "$m/.tabletfs/log" "$1"
}

start_mount
same "the level" events "$(cat "$m/.tabletfs/log")"
mkdir -p "$m/t/r/f"
echo maxversions=3 >"$m/t/.schema/f/gc"
check "opened" told " opened program=.* by=\"pid $daemon, mounted at $m\"\$"
check "a table" told ' schema change=table_made table=t table_id=1$'
check "a family" told ' schema change=family_made table=t table_id=1 family=f$'
check "a policy" told ' schema change=policy table=t table_id=1 family=f$'
same "each line has a time, a word and pairs" "" "$(grep -vE \
	'^[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z [a-z0-9_]+( [a-z0-9_]+=[^ ]*)*( (why|by)="([^"\\]|\\.)*")?$' \
	"$log")"

check "more is told" try all
same "it is so" all "$(cat "$m/.tabletfs/log")"
check "the level is told" told ' log level=all$'
errno EINVAL try everything
check "with a reason" grep -q 'log: .*the words are off' "$m/.tabletfs/errors"
check "nothing is told" try off
mkdir "$m/quiet"
check "events again" try events
mkdir "$m/loud"
check "one is told" told ' change=table_made table=loud '
refuse "the other is not" grep -q quiet "$log"
if [ "$(id -u)" = 0 ]; then
	refuse "others do not set it" setpriv --reuid 65534 --clear-groups \
		sh -c "echo off >'$m/.tabletfs/log'"
fi

# A writer whom the files of level 0 or memtables stop.
head -c 6000000 /dev/urandom >noise
remount -o memory=16M,log=all
mkdir -p "$m/t/r/f"
for i in $(seq 12); do cp noise "$m/t/r/f/$i" || fail "cp"; done
check "large values" told ' blob_'
python3 - "$m/t/.import/jsonl" <<'PYTHON'
import os, sys
# Small writes: no bulk load.
fd = os.open(sys.argv[1], os.O_WRONLY)
for i in range(1200):
    value = os.urandom(5000).hex()
    os.write(fd, b'{"row":"%d","set":{"f":{"q":"%s"}}}\n'
             % (i, value.encode()))
os.close(fd)
PYTHON
check "a memtable is full" told ' rotated log=.* memtable_bytes=[1-9]'
check "it is flushed" told ' flushed log=.* entries=[1-9]'
stop_mount
check "the end" grep -q ' closed err=0 us=' "$log"

# The bound holds, also over openings.
size() { stat -c %s "$1" 2>/dev/null || echo 0; }
fill() { yes "2026-01-01T00:00:00.000000Z filled number=1" | head -c 4194000 >"$log"; }
for i in 1 2 3; do
	fill
	"$TABLETFS" -store "$store" ls >/dev/null
	"$TABLETFS" -store "$store" set t r f:q=$i
	check "a new file" [ "$(size "$log")" -lt 10000 ]
	check "the old one" [ "$(size "$log.1")" -gt 4000000 ]
	check "and its bound" [ "$(size "$log.1")" -le 4194304 ]
done
same "two files" "LOG LOG.1" "$(cd "$store" && echo LOG*)"
same "theirs alone" 600 "$(stat -c %a "$log" "$log.1" | sort -u)"

# While it is mounted it may be removed, or emptied.
start_mount
rm "$log"
mkdir "$m/after"
check "it begins again" told ' change=table_made table=after '
: >"$log"
mkdir "$m/later"
check "and goes on" told ' change=table_made table=later '
stop_mount

# What is none of the store's files.
rm "$log"
mkfifo "$log"
check "a mount waits for no pipe" timeout 20 "$TABLETFS" mount "$store" "$m"
daemon=$(find_daemon)
check "which is told" grep -q 'LOG: not a regular file' "$m/.tabletfs/errors"
mkdir "$m/piped"
check "all else goes on" [ -d "$m/piped" ]
stop_mount
rm "$log"
echo precious >target
ln -s "$work/target" "$log"
start_mount
check "nor follows a link" grep -q 'LOG: cannot open' "$m/.tabletfs/errors"
mkdir "$m/linked"
stop_mount
same "where it leads" precious "$(cat target)"
check "a command tells it and goes on" "$TABLETFS" -store "$store" \
	createtable u 2>message
check "so that one knows" grep -q 'LOG: cannot open' message
rm "$log"

# It is no part of a store.
"$TABLETFS" -store "$store" set t r f:q=1
check "a backup" "$TABLETFS" -store "$store" backup "$work/copy" >/dev/null
refuse "has none" [ -e "$work/copy/latest/LOG" ]
check "check" "$TABLETFS" -store "$store" check >/dev/null
sum=$(sha256sum "$log")
start_mount -o ro
same "who reads writes none" "$sum" "$(sha256sum "$log")"
same "nor says that" events "$(cat "$m/.tabletfs/log")"
stop_mount

# To standard error, of who has one, with marks of levels.
said=$("$TABLETFS" mount -o log-to=stderr other "$work/other" 2>&1)
same "a daemon has none" "1 tabletfs: log-to=stderr wants -f: a daemon has left \
its standard error" "$? $said"
refuse "and nothing is made" test -e other
said=$("$TABLETFS" mount -f -o log-to=syslog other "$work/other" 2>&1)
same "another place" "1 tabletfs: bad option: log-to=syslog: there is stderr, \
which systemd's journal reads; tabletfs help mount lists them" "$? $said"
mkdir elsewhere
"$TABLETFS" mount -f -o log-to=stderr other elsewhere >/dev/null 2>errors &
for i in $(seq 100); do
	mountpoint -q elsewhere && break
	sleep 0.1
done
mkdir elsewhere/t
fusermount3 -u elsewhere
wait $!
check "it opened" grep -qE '^<6>[^ ]+Z opened .* by="pid ' errors
same "as in LOG" "$(cat other/LOG)" "$(sed -n 's/^<[367]>//p' errors)"
