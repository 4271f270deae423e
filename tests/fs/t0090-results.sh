#!/bin/bash
# What a mutation came to: the versions that append and increment made and
# whether its condition held, by the verb, with a store by itself and mounted,
# and by a .mutate that is read, too.
. "$(dirname "$0")/lib.sh"

t() {
	"$TABLETFS" -store "$store" "$@"
}
# mutate STATUS JSON...: must end so; what it prints is in out, without times,
# and in err.
mutate() {
	local wanted=$1 status
	shift
	t mutate t "$@" >raw 2>err
	status=$?
	sed 's/ *@ .*//' raw >out
	[ "$status" = "$wanted" ] ||
		fail "mutate $*: status $status, not $wanted: $(cat err)"
}
dashes=$(printf '%040d' 0 | tr 0 -)
n() {
	printf '    "%s\\x%02x"' "$(printf '\\x00%.0s' 1 2 3 4 5 6 7)" "$1"
}

t create
t createtable t families=f

by_verb() {
	t deleteallrows t
	mutate 0 '{"row":"r","increment":{"f":{"n":3,"a":1}},"append":{"f":{"m":"x"}}}'
	same "new cells, by column" "$dashes
r
  f:a
$(n 1)
  f:m
    \"x\"
  f:n
$(n 3)" "$(cat out)"
	same "as they are read" "$(t read t | grep -v '^$')" \
		"$(grep -v '^$' raw)"
	mutate 0 '{"row":"r","mutations":[{"append":{"f":{"m":"y"}}},
		{"append":{"f":{"m":"z"}}}]}'
	same "the last of a column" "$dashes
r
  f:m
    \"xyz\"" "$(cat out)"
	mutate 0 '{"row":"r","set":{"f":{"p":"1"}}}'
	same "nothing to tell" "" "$(cat out err)"
	mutate 0 '{"row":"r","if":{"present":true},"set":{"f":{"p":"2"}}}'
	same "held" matched "$(cat out err)"
	mutate 1 '{"row":"r","if":{"absent":true},"set":{"f":{"p":"3"}}}' \
		'{"row":"r","set":{"f":{"p":"4"}}}'
	same "did not hold" "not matched" "$(cat out)"
	same "and ended there" "tabletfs: Applying mutation 1: the condition \
does not hold" "$(cat err)"
	mutate 1 '{"row":"r","if":{"absent":true},"set":{"f":{"p":"3"}},
		"else":{"increment":{"f":{"n":1}}}}' \
		'{"row":"r","set":{"f":{"p":"5"}}}'
	same "did the other, and went on" "not matched
$dashes
r
  f:n
$(n 4)" "$(cat out)"
	same "to the next" 5 "$(t lookup t r columns=f:p cells-per-column=1 |
		sed -n 's/^    "\(.*\)"/\1/p')"
	for wrong in '{"row":"r","if":{"absent":1},"set":{}}' '{"row":"r"' \
		'{"row":"r","if":{"present":true},"set":{"no":{"p":"3"}}}' \
		'{"row":"r","increment":{"f":{"p":1}}}'; do
		mutate 2 "$wrong"
		same "wrong: $wrong" "" "$(cat out)"
	done
	# Where a number has to be, what is there is shown.
	while IFS='|' read -r value shown; do
		for what in increment add; do
			mutate 2 "{\"row\":\"r\",\"$what\":{\"f\":{\"x\":$value}}}"
			check "wrong $what of $value" grep -qF \
				"must be a decimal 64-bit integer$shown" err
		done
	done <<-'END'
		"5"| without quotes, not "5"
		"x y"| without quotes, not "x y"
		1.5|, not 1.5
		null|, not null
		true|, not true
	END
	mutate 2
	mutate 1 '{"row":"q","if":{"present":true},"set":{"f":{"p":"3"}}}'
	t mutate no '{"row":"q"}' 2>/dev/null
	same "no table" 2 $?
	"$TABLETFS" -store "$work/none" mutate t '{"row":"q"}' 2>/dev/null
	same "no store" 2 $?
	t mutate t '{"row":"r","if":{"present":true},"set":{"f":{"p":"6"}}}' \
		>/dev/full 2>/dev/null
	same "nobody to tell" 2 $?
}

by_verb
start_mount || exit 1
by_verb

# Eight claims at once: one is told that it has it.
for i in 1 2 3 4 5 6 7 8; do
	(t mutate t '{"row":"lock","if":{"absent":true},"set":{"f":{"by":"'$i'"}}}' \
		>claim$i 2>/dev/null; echo $? >>claim$i) &
done
wait $(jobs -p)
same "one winner" "1 7 " "$(cat claim* | grep -c ^matched | tr "\n" " "
	cat claim* | grep -c "^1$" | tr "\n" " ")"

# .mutate, read as well.
check "lines and what they came to" python3 - "$m/t/.mutate" <<'PYTHON'
import base64
import errno
import json
import os
import sys
from fails import fails


def ask(fd, *lines):
    os.write(fd, b"".join(json.dumps(l).encode() + b"\n" for l in lines))
    return told(fd)


def told(fd, size=7):
    text = b""
    while piece := os.read(fd, size):
        text += piece
    return [json.loads(line) for line in text.splitlines()]


fails(errno.EACCES, os.open, sys.argv[1], os.O_RDONLY)
fd = os.open(sys.argv[1], os.O_RDWR)
assert told(fd) == []
fails(errno.ESPIPE, os.lseek, fd, 0, os.SEEK_SET)
one = {"row": "c", "increment": {"f": {"n": 1}}}
for i in 1, 2, 3:
    (answer,) = ask(fd, one)
    (cell,) = answer["cells"]["set"]["f"].values()
    assert answer["line"] == i and answer["cells"]["row"] == "c", answer
    assert ord(cell["value"][7]) == i and cell["timestamp"] > 0, answer
assert ask(fd, {"row": "c", "set": {"f": {"x": "y"}}}) == []
no = {"row": "c", "if": {"absent": True}, "set": {"f": {"x": "z"}}}
yes = {"row": "c", "if": {"present": True}, "append": {"f": {"x": "z"}}}
answers = ask(fd, no, yes)
assert answers[0] == {"line": 5, "matched": False}, answers
assert answers[1]["matched"] is True, answers
assert answers[1]["cells"]["set"]["f"]["x"]["value"] == "yz", answers
# Bytes that are no text, and a column of that name.
key = {"base64": base64.b64encode(b"\xff\0").decode()}
(answer,) = ask(fd, {"row": key, "append": {"f": {"base64:/w==": key}}})
assert answer["cells"]["row"] == key, answer
(column, cell), = answer["cells"]["set"]["f"].items()
assert column == "base64:/w==" and cell["base64"] == key["base64"], answer
# A part of a line is told with its end; two handles do not mix.
other = os.open(sys.argv[1], os.O_RDWR)
line = json.dumps(one).encode() + b"\n"
os.write(fd, line[:9])
assert told(fd) == []
assert ask(other, one)[0]["line"] == 1
os.write(fd, line[9:])
assert told(fd)[0]["line"] == 8
os.close(other)
# Unread, what is told is bounded: lines wait and go on.
big = {"row": "b", "append": {"f": {"v": "0123456789" * 10000}}}
line = json.dumps(big).encode() + b"\n"
for i in range(100):
    try:
        os.write(fd, line)
    except OSError as e:
        assert e.errno == errno.ENOBUFS, e
        break
assert 2 < i < 20, i
answers = told(fd, 4001)
assert len(answers) == i, (len(answers), i)
assert len(answers[-1]["cells"]["set"]["f"]["v"]["value"]) == i * 100000
(answer,) = ask(fd, one)
assert answer["line"] == 9 + i, answer
# A wrong line is an error, and ends it.
fails(errno.EINVAL, os.write, fd, b'{"row":"c"\n')
fails(errno.EINVAL, os.write, fd, json.dumps(one).encode() + b"\n")
fails(errno.EINVAL, os.close, fd)
# Who does not read is told of a condition by the error, as ever.
fd = os.open(sys.argv[1], os.O_WRONLY)
fails(errno.EINVAL, os.write, fd, json.dumps(no).encode() + b"\n")
PYTHON
# A shell reads a byte at a time what it cannot seek in.
exec 3<>"$m/t/.mutate"
for i in 1 2; do
	echo '{"row":"s","append":{"f":{"x":"'$i'"}}}' >&3
done
read -r first <&3
read -r second <&3
exec 3>&-
same "a shell" '1 12 ' "$(printf '%s\n' "$first" "$second" |
	sed 's/.*"value": "\([0-9]*\)".*/\1/' | tr '\n' ' ')"
