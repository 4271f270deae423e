#!/bin/bash
# Patterns that take long to match: who asks can be killed, others go on
# meanwhile, writers do not wait for them, and neither does the end of the mount.
#
# Alone: how long others wait is measured.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f" "$m/t2/r/f" "$m/other/r/f"
head -c 100000000 /dev/zero | tr '\0' a >"$m/t/r/f/big"
head -c 3000000 /dev/zero | tr '\0' a >"$m/t2/r/f/small"
echo hi >"$m/other/r/f/q"
slow='(.*a){30}b'

# Processor time of the daemon, in clock ticks.
ticks() {
	awk '{ print $14 + $15 }' "/proc/$daemon/stat"
}

# await SECONDS COMMAND...: until it succeeds.
await() {
	local left=$(($1 * 20 * ${SLOW:-1}))
	shift
	until "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 0.05
	done
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

busy() {
	[ "$(ticks)" -gt "$((before + 20))" ]
}

# One reader of 100 MB.
before=$(ticks)
cat "$m/t/.scan/value/$slow/count" 2>/dev/null &
reader=$!
check "it matches" await 30 busy
check "others write" timeout 5 sh -c "echo x >'$m/other/r/f/w'"
same "others read" x "$(timeout 5 cat "$m/other/r/f/w")"
check "it still matches" kill -0 "$reader"
kill -9 "$reader"
wait "$reader" 2>/dev/null
check "it is gone when it is killed" await 5 gone "$reader"
sleep 0.5
before=$(ticks)
sleep 1
check "nothing goes on for it" [ "$(($(ticks) - before))" -lt 20 ]

# More readers than there are threads.
cat >readers.py <<'PYTHON'
import os, sys, threading, time
def read():
    try:
        fd = os.open(sys.argv[1], os.O_RDONLY)
        os.read(fd, 100)
    except OSError as e:
        print(e.strerror, flush=True)
for _ in range(130):
    threading.Thread(target=read, daemon=True).start()
time.sleep(100)
PYTHON
python3 readers.py "$m/t2/.scan/value/$slow/count" >readers &
readers=$!
some_refused() {
	grep -q busy readers
}
check "too many at once are refused" await 60 some_refused
refuse "others are answered" timeout 20 stat "$m/other/r/f/none"
same "with what is there" hi "$(timeout 20 cat "$m/other/r/f/q")"
kill -9 "$readers"
wait "$readers" 2>/dev/null
check "they are gone when they are killed" await 10 gone "$readers"

# A condition of an update, whose row others may change meanwhile.
condition() {
	printf '{"row":"r","if":{"family":"f","qualifier":"%s","matches":"%s"},%s}\n' \
		"$1" "$2" '"set":{"f":{"made":"1"}},"else":{"set":{"f":{"made":"0"}}}'
}
# (A machine that is emulated may not match it in the time that it has.)
if [ "${SLOW:-1}" = 1 ]; then
	condition small 'a*' >"$m/t2/.mutate"
	same "a condition holds" 1 "$(cat "$m/t2/r/f/made")"
else
	skipped=$((skipped + 1))
fi
condition big "$slow" >line
start=$(ticks)
refuse "one that takes long is refused" sh -c "cat line >'$m/t/.mutate'"
check "soon" [ "$(($(ticks) - start))" -lt 200 ]
check "it says why" grep -q "the condition takes longer" "$m/.tabletfs/errors"
refuse "nothing was written" stat "$m/t/r/f/made"
echo '{"row":"r","if":{"filter":"value_regex(\"'"$slow"'\")"},"delete":true}' \
	>line
refuse "so is a filter" sh -c "cat line >'$m/t/.mutate'"

# Nobody waits for many of them: neither who renames, for which no condition may
# go on, nor who comes after that.
cat >between.py <<'PYTHON'
# between.py DIR: the longest time, in milliseconds, that a rename and a look took
# in four seconds.
import os, sys, time
base, most, until, turn = sys.argv[1], 0.0, time.time() + 4, 0
while time.time() < until or turn:
    began = time.time()
    os.rename("%s/r%d" % (base, turn), "%s/r%d" % (base, 1 - turn))
    os.stat("%s/r%d" % (base, 1 - turn))
    most, turn = max(most, time.time() - began), 1 - turn
    time.sleep(0.02)
print(int(most * 1000))
PYTHON
mkdir -p "$m/other/r0/f"
echo x >"$m/other/r0/f/q"
condition small '(a|b)*' | sed 's/"row":"r",//' >line
writers=()
for i in $(seq 40); do
	mkdir -p "$m/t2/w$i/f"
	cp "$m/t2/r/f/small" "$m/t2/w$i/f/small"
done
for i in $(seq 40); do
	while :; do cat line >"$m/t2/w$i/.row.jsonl"; done 2>/dev/null &
	writers+=($!)
done
sleep 0.5
# One that waits as long as the others come would not end before them.
python3 between.py "$m/other" >most &
renames=$!
await 30 gone $renames
kill "${writers[@]}"
wait "${writers[@]}" $renames 2>/dev/null
most=$(cat most)
check "renames go on beside many conditions: $most" \
	[ "$most" -lt $((1000 * ${SLOW:-1})) ]
# And many of one write, each of which takes almost a tenth of a second.
for i in $(seq 100); do
	condition small '(a|b)*'
done >lines
cat lines >"$m/t2/.mutate" &
writer=$!
sleep 0.2
most=$(python3 between.py "$m/other")
wait $writer
check "and beside many of one write: $most" \
	[ "$most" -lt $((3000 * ${SLOW:-1})) ]

# The mount ends beside a reader.
before=$(ticks)
cat "$m/t/.scan/value/$slow/count" 2>/dev/null &
reader=$!
check "it matches once more" await 30 busy
ended=$daemon
kill "$ended"
check "the daemon ends" await 10 gone "$ended"
check "and so does the reader" await 5 gone "$reader"
