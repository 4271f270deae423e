#!/bin/bash
# Changes by .mutate, imports and commands, met by files that are open and names
# that the kernel remembers.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir -p "$m/t/r/f"
f=$m/t/r/f

# mutate JSON
mutate() {
	printf '%s\n' "$1" >"$m/t/.mutate"
}

echo old >"$f/q"
exec 3<"$f/q"
mutate '{"row":"r","set":{"f":{"q":"new"}}}'
same "the name has the new value" new "$(cat "$f/q")"
same "an open file the old" old "$(cat <&3)"
exec 3<&-

exec 3>"$f/w"
echo mine >&3
cat /dev/null >&3
mutate '{"row":"r","set":{"f":{"w":"theirs"}}}'
same "between a writer's commits" theirs "$(cat "$f/w")"
same "with its size" 6 "$(stat -c %s "$f/w")"
echo more >&3
exec 3>&-
same "what was written last is seen" "mine more" "$(xargs <"$f/w")"
same "by stat as well" 10 "$(stat -c %s "$f/w")"
same "and nothing is lost" 3 "$(versions t/r/f w)"

check "bytes not yet committed come first, then follow" python3 - "$m" <<'PYTHON'
import os, sys
m = sys.argv[1]
path = m + "/t/r/f/d"
fd = os.open(path, os.O_WRONLY | os.O_CREAT)
os.write(fd, b"mine")
control = os.open(m + "/t/.mutate", os.O_WRONLY)
os.write(control, b'{"row":"r","set":{"f":{"d":"theirs, longer"}}}\n')
assert open(path).read() == "mine"
os.close(fd)
assert open(path).read() == "mine"
assert len(os.listdir(m + "/t/r/f/.versions/d")) == 2
PYTHON

mkdir -p "$m/t/s/f"
exec 3>"$m/t/s/f/q"
echo one >&3
cat /dev/null >&3
mutate '{"row":"s","delete":true}'
check "a deleted row is gone" [ ! -e "$m/t/s" ]
same "from the list" r "$(ls "$m/t")"
echo two >&3
exec 3>&-
same "until a file that was open is written" "one two" \
	"$(xargs <"$m/t/s/f/q")"
same "it is listed again" "r s" "$(ls "$m/t" | xargs)"

check "missing" [ ! -e "$f/none" ]
mutate '{"row":"r","set":{"f":{"none":"x"}}}'
check "a name that was missing is there" [ -e "$f/none" ]
check "its family's list has it" grep -qx none <(ls "$f")
mutate '{"row":"r","delete":{"f":["none"]}}'
check "and is gone" [ ! -e "$f/none" ]
check "from the list" [ -z "$(ls "$f" | grep none)" ]

for i in 1 2 3; do
	echo "{\"row\":\"r\",\"set\":{\"f\":{\"i\":\"$i\"}}}" >"$m/t/.import/jsonl"
	same "import $i" "$i" "$(cat "$f/i")"
	"$TABLETFS" -store "$store" set t r f:i=c$i
	same "command $i" "c$i" "$(cat "$f/i")"
	echo "{\"set\":{\"f\":{\"i\":\"j$i\"}}}" >"$m/t/r/.row.jsonl"
	same "row $i" "j$i" "$(cat "$f/i")"
done
rm "$f/.versions/i/$(ls -U "$f/.versions/i" | head -1)"
same "the newest version removed" c3 "$(cat "$f/i")"
"$TABLETFS" -store "$store" deletetable t
check "a dropped table is gone" [ ! -e "$m/t" ]
same "from the list" "" "$(ls "$m")"
mkdir "$m/t"
same "a new one of its name is empty" "" "$(ls "$m/t")"
check "and has no family" [ -z "$(ls "$m/t/.schema")" ]
