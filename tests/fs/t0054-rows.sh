#!/bin/bash
# Rows and families as directories: when there is one, what makes its family, and
# what is left when the last cell has gone, by every way that it can go.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" "$m/t/.schema/f" "$m/t/.schema/g"

# A family of the schema is no directory of a row, so that mkdir can make it.
mkdir -p "$m/t/r/f" && echo 1 >"$m/t/r/f/q"
check "an empty family is not found" [ ! -e "$m/t/r/g" ]
check "so it can be made" mkdir "$m/t/r/g"
errno EEXIST mkdir "$m/t/r/g"
errno EEXIST mkdir "$m/t/r"
errno EEXIST mkdir "$m/t"
same "it is listed" "f g" "$(ls "$m/t/r" | xargs)"
check "mkdir -p" mkdir -p "$m/t/r/g" "$m/t/new/g/"
check "os.makedirs" python3 -c "import os
os.makedirs('$m/t/made/f')
os.makedirs('$m/t/made/f', exist_ok=True)"
same "families that mkdir found in the schema keep their rules" "never never" \
	"$(cat "$m/t/.schema/f/gc" "$m/t/.schema/g/gc" | xargs)"
mkdir "$m/t/r/made"
same "one that it makes gets the mount's" maxversions=10 \
	"$(cat "$m/t/.schema/made/gc")"
mkdir "$m/t/.schema/explicit"
same "one of .schema has none" never "$(cat "$m/t/.schema/explicit/gc")"
"$TABLETFS" -store "$store" createfamily t verb
same "nor one of a command" never "$(cat "$m/t/.schema/verb/gc")"
rmdir "$m/t/r/made"
check "rmdir leaves the family in the schema" [ -d "$m/t/.schema/made" ]

# What is only a directory is in no scan.
seen() {
	echo "$(xargs <"$m/t/.scan/keys"), $(cat "$m/t/.scan/count")," \
		"$(ls "$m/t/.scan/rows" | xargs)," \
		"$(ls "$m/t/.scan/segments" | xargs)," \
		"$(ls "$m/t/.at/now" | xargs)," \
		"$("$TABLETFS" -store "$store" count t)"
}
same "scans see rows with cells only" "r, 1, r, r, r, 1" "$(seen)"
same "lists see all" "made new r" "$(ls "$m/t" | xargs)"

# left TEXT EXPECTED: what is found of t/x, t/x/f and t/x/f/q.
left() {
	same "$1" "$2" "$(for p in x x/f x/f/q; do
		[ -e "$m/t/$p" ] && echo "$p"; done | xargs)"
	same "$1: in the list" "$(echo "$2" | grep -o '^x\b')" \
		"$(ls "$m/t" | grep '^x$')"
}
fill() {
	mkdir -p "$m/t/x/f" && echo 1 >"$m/t/x/f/q"
	ls "$m/t" "$m/t/x" "$m/t/x/f" >/dev/null
}
# Through a path the directories stay, until rmdir.
fill; rm "$m/t/x/f/q"
left "rm" "x x/f"
errno ENOTEMPTY rmdir "$m/t/x"
check "rmdir of the family" rmdir "$m/t/x/f"
check "and the row" rmdir "$m/t/x"
left "rmdir" ""
fill; rm "$m/t/x/f/.versions/q"/*
left "rm of the only version" "x x/f"
rm -r "$m/t/x"
fill; mv "$m/t/x/f/q" "$m/t/r/f/q2"
left "mv out of it" "x x/f"
rm -r "$m/t/x"
fill; mv "$m/t/x" "$m/t/y"
left "mv of the row" ""
rm -r "$m/t/y"
fill; rm "$m/t/x/f/q"; echo 2 >"$m/t/x/f/q"; rm -r "$m/t/x"
left "rm -r" ""
# By all other ways none stays.
fill; echo '{"row":"x","delete":true}' >"$m/t/.mutate"
left ".mutate of the row" ""
fill; echo '{"row":"x","delete":{"f":["q"]}}' >"$m/t/.mutate"
left ".mutate of the cell" ""
fill; echo '{"delete":{"f":true}}' >"$m/t/x/.row.jsonl"
left ".row.jsonl" ""
fill; sed -n 's/^token //p' "$m/t/.drop/prefix/x/preview" >token
cp token "$m/t/.drop/prefix/x/apply"
left ".drop" ""
fill; "$TABLETFS" -store "$store" deleterow t x
left "deleterow" ""
fill; "$TABLETFS" -store "$store" deletecolumn t x f q
left "deletecolumn" ""
fill; "$TABLETFS" -store "$store" deletefamily t f
left "deletefamily" ""
mkdir "$m/t/.schema/f"
fill; "$TABLETFS" -store "$store" deleteallrows t
left "deleteallrows" ""
fill; "$TABLETFS" -store "$store" setgcpolicy t f maxage=1ms
left "an age" ""
"$TABLETFS" -store "$store" setgcpolicy t f maxversions=10
rm -rf "$m/t/x"

# A directory that mkdir made stays when the row's cells go without it, and
# leaves no row behind when it goes.
mkdir -p "$m/t/y/new" && mkdir "$m/t/y/f" && echo 1 >"$m/t/y/f/q"
"$TABLETFS" -store "$store" deletecolumn t y f q
same "a family that mkdir made" "y/new" "$(cd "$m/t" && find y -mindepth 1)"
same "its row is listed" y "$(ls "$m/t" | grep '^y$')"
check "it is written to" sh -c "echo 2 >'$m/t/y/new/q'"
mkdir "$m/t/y/g"
check "another family goes" rmdir "$m/t/y/g"
"$TABLETFS" -store "$store" deleterow t y
same "and leaves no row" "" "$(ls "$m/t" | grep '^y$')"

# What holds a cell is not removed, at any level, nor by a race.
fill
for d in t/x/f t/x t; do
	errno ENOTEMPTY rmdir "$m/$d"
done
same "nothing was" 1 "$(cat "$m/t/x/f/q")"
check "no cell is lost to an rmdir meanwhile" python3 - "$m/t" <<'PYTHON'
import errno, os, sys
t = sys.argv[1]
pid = os.fork()
if pid == 0:
    removed = 0
    while not os.path.exists(t + "/stop"):
        for d in "/race/f", "/race":
            try:
                os.rmdir(t + d)
                removed += 1
            except OSError as e:
                if e.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                    os._exit(2)
    os._exit(0 if removed else 3)
made = 0
for i in range(3000):
    if made >= 300:
        break
    path = "%s/race/f/q%d" % (t, i)
    try:
        os.makedirs(t + "/race/f", exist_ok=True)
        with open(path, "w") as f:
            f.write("x")
    except FileNotFoundError:
        continue
    except FileExistsError:
        continue
    made += 1
    assert open(path).read() == "x", path
    os.unlink(path)
os.mkdir(t + "/stop")
assert os.waitpid(pid, 0)[1] == 0
assert made >= 300, made
PYTHON
rm -rf "$m/t/stop" "$m/t/race"

# The mount's rules for families.
remount -o 'gc=maxversions=3||maxage=7d'
mkdir -p "$m/t/z/three"
same "-o gc=" "maxversions=3||maxage=7d" \
	"$(tr -d ' ()' <"$m/t/.schema/three/gc")"
remount -o gc=never
mkdir "$m/t/z" "$m/t/z/all"
same "-o gc=never" never "$(cat "$m/t/.schema/all/gc")"
remount -o strictschema
mkdir "$m/t/z"
errno EPERM mkdir "$m/t/z/unknown"
check "the reason" grep -q 'unknown is not in the schema' "$m/.tabletfs/errors"
check "nothing was made" [ ! -e "$m/t/.schema/unknown" ]
check "one that is known" mkdir "$m/t/z/three"
check ".schema makes one" mkdir "$m/t/.schema/unknown"
check "which then is known" mkdir "$m/t/z/unknown"
remount
check "directories end with the mount" [ ! -e "$m/t/z" ]
