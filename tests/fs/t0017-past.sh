#!/bin/bash
# .at/<time> and .at/now: tables as they were.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" "$m/t/.schema/g"
line() {
	echo "{\"row\":\"$1\",\"set\":{\"$2\":{\"$3\":{\"value\":\"$4\",\"timestamp\":$5}}}}"
}
{
	line a f q one 1000000
	line a f q two 2000000
	line a g q two 2000000
	line b f %2F late 3000000
	line b f .versions late 3000000
} >"$m/t/.mutate"
a=$m/t/.at

same "rows then" "a" "$(ls "$a/1500000")"
same "rows later" "a b" "$(ls "$a/3000000" | xargs)"
same "not after that time" "a" "$(ls "$a/2999999" | xargs)"
same "families then" f "$(ls "$a/1500000/a")"
same "a value then" one "$(cat "$a/1500000/a/f/q")"
same "a value later" two "$(cat "$a/2000000/a/f/q")"
same "by date" two "$(cat "$a/1970-01-01T00:00:02Z/a/f/q")"
same "names are escaped" "%252F %2Eversions" "$(ls "$a/3000000/b/f" | xargs)"
same "and found so" late "$(cat "$a/3000000/b/f/%2Eversions")"
same "its size and time" "3 1" "$(stat -c '%s %Y' "$a/1500000/a/f/q")"
same "of a directory" 1 "$(stat -c %Y "$a/1500000/a")"
errno ENOENT ls "$a/1500000/b"
errno ENOENT ls "$a/1500000/a/g"
errno ENOENT cat "$a/999999/a/f/q"
errno ENOENT ls "$a/yesterday"
check "with the reason" grep -q 'yesterday' "$m/.tabletfs/errors"
for c in "mkdir $a/3000000/x" "touch $a/3000000/b/f/x" "rm $a/3000000/a/f/q" \
	"rmdir $a/3000000/a" "mv $a/3000000/a $a/3000000/c" \
	"chmod 600 $a/3000000/a/f/q" "truncate -s 0 $a/3000000/a/f/q" \
	"ln -s x $a/3000000/a/f/x" "mkfifo $a/3000000/a/f/x" \
	"python3 -c __import__('os').link('$m/t/a/f/q','$a/3000000/a/f/x')"; do
	errno EROFS $c
done
# Without opening it to be written.
for c in "truncate(sys.argv[1], 0)" "utime(sys.argv[1])" \
	"open(sys.argv[1], os.O_RDONLY | os.O_TRUNC)"; do
	errno EROFS python3 -c "import os, sys; os.$c" "$a/3000000/a/f/q"
	errno EACCES python3 -c "import os, sys; os.$c" \
		"$m/t/a/f/.versions/q/2000000"
done
same "they are listed" now "$(ls "$a")"
same "but not with data" "" "$(find "$m/t" -name .at)"

before=$(cd "$a/now" && find . -type f -exec md5sum {} + | sort)
exec 3<"$a/now/a/f/q"
line a f q three 4000000 >"$m/t/.mutate"
rm -r "$m/t/b"
mkdir -p "$m/t/c/f" && echo new >"$m/t/c/f/q"
same "a pinned snapshot stays" "$before" \
	"$(cd "$a/now" && find . -type f -exec md5sum {} + | sort)"
same "also in open files" two "$(cat <&3)"
exec 3<&-
same "while the table goes on" "a c" "$(ls "$m/t" | xargs)"
check "tar of it" sh -c "tar c -C '$a' now | tar x -C '$work'"
same "is what it was" "$before" \
	"$(cd now && find . -type f -exec md5sum {} + | sort)"
same "diff against the present" "Only in c d" \
	"$(diff -rq "$a/now" "$m/t" | sed "s,$m/t.*: ,," | grep -o '^Only in [cd]' |
	xargs) d"
errno EROFS mkdir "$a/now/x"
mkdir "$m/u"
same "each table has its own" "" "$(ls "$m/u/.at/now")"
mkdir -p "$m/w/r/g" "$m/w/r/h"
echo kept >"$m/w/r/g/q" && echo other >"$m/w/r/h/q"
same "two families" "g h" "$(ls "$m/w/.at/now/r" | xargs)"
"$TABLETFS" -store "$store" deletefamily w g
"$TABLETFS" -store "$store" compact
same "one that is dropped is in the pinned one" kept \
	"$(cat "$m/w/.at/now/r/g/q")"
same "and listed" "g h" "$(ls "$m/w/.at/now/r" | xargs)"
same "but not in the present" h "$(ls "$m/w/r")"
"$TABLETFS" -store "$store" createfamily w g
same "nor with its name" h "$(ls "$m/w/r")"
rm -r "$m/t"/[abc]
check "a pin does not keep a table" rmdir "$m/t"
errno ENOENT ls "$a/now"

# A long row key, whose name is cut.
mkdir "$m/u/.schema/f"
long=$(printf 'x%.0s' $(seq 300))
line "$long" f q v 1000000 >"$m/u/.mutate"
same "a cut name" v "$(cat "$m/u/.at/1000000/"x*/f/q)"
