#!/bin/bash
# Files as Debian has them, by a recipe: paragraphs of its control format, JSON
# whose keys are names, hexadecimal numbers; with a mount and without, and what a
# mount's own import tells of them.
. "$(dirname "$0")/lib.sh"

T createtable t families=f,g

# imports STATUS NAME WORD...: of an empty table.
imports() {
	local want=$1 name=$2
	shift 2
	T deleteallrows t
	status "$want" "$way: $name" T import t "$@"
}
# cell ROW COLUMN: its value, as JSON.
cell() {
	T export t cells.jsonl key="$1" columns="$2" 2>/dev/null &&
		python3 -c 'import json, sys
for line in open("cells.jsonl"):
    for f in json.loads(line)["set"].values():
        for q, v in f.items():
            v = v[0] if isinstance(v, list) else v
            print(json.dumps(v["value"] if isinstance(v, dict) else v))'
}

cat >status <<'END'
Package: bash
Status: install ok installed
Installed-Size:   7164  
Depends: base-files (>= 2.1.12), debianutils (>= 5.6-0.1)
Conffiles:
 /etc/bash.bashrc 89269e1298235f1b12b4c16e4065ad0d
 /etc/skel/.bashrc ee35a240758f374832e809ae0ea4883a
Description: GNU Bourne Again SHell
 Bash is an sh-compatible command language interpreter.
 .
 	With a tab, a "quote" and a \.

Package: dash
# A comment, which parts nothing.
Installed-Size: 191
Homepage: http://gondor.apana.org.au/~herbert/dash/


Package: zsh
Installed-Size: 2430
END
paragraphs() {
	imports 0 "a status file, known by its content" status key={Package} \
		set='g:size {Installed-Size|pad(8)}' rest=f
	same "$way: three packages" 3 "$(T count t)"
	same "$way: a value without blanks around it" '"00007164"' \
		"$(cell bash g:size)"
	same "$way: lines that go on" \
		'"/etc/bash.bashrc 89269e1298235f1b12b4c16e4065ad0d\n/etc/skel/.bashrc ee35a240758f374832e809ae0ea4883a"' \
		"$(cell bash f:Conffiles)"
	same "$way: as they are" \
		'"GNU Bourne Again SHell\nBash is an sh-compatible command language interpreter.\n.\n\tWith a tab, a \"quote\" and a \\."' \
		"$(cell bash f:Description)"
	same "$way: a value with a colon" \
		'"http://gondor.apana.org.au/~herbert/dash/"' \
		"$(cell dash f:Homepage)"
	sed 's/$/\r/' status | gzip >status.gz
	imports 0 "compressed, with CR LF" status.gz format=control \
		key={Package} rest=f
	same "$way: is the same" 3 "$(T count t)"
	imports 0 "by columns it is none" status header=no delimiter=: \
		quote=none key='{$line}' set='f:v {#1}'
	printf 'Package: a\nno colon\n\nPackage: b\nPackage: c\n\n  on\n\nPackage: d\n%s\n\nPackage: \xff\n\n-: 1\n' \
		"$(printf 'X%s: 1\n' 1 2)" >wrong
	imports 1 "wrong ones" wrong key={Package} set='f:x {X1}' rejects=bad
	told "wrong:1: line 2: it is no field, NAME: VALUE"
	told "wrong:4: key \"Package\" is given twice"
	told "wrong:7: line 7: it is no field"
	told "wrong:13: line 13: it is not UTF-8"
	told "wrong:15: line 15: it is no field"
	same "$way: the others are in" 1 "$(T count t)"
	check "$way: what is refused is there as it stood" cmp -s bad <(
		sed '9,12d' wrong)
	printf 'Package: e\rX: 1\r' >mac
	imports 2 "CR alone" mac format=control key={Package} rest=f
	told "mac: its lines end with CR alone"
	python3 -c 'print("Package: x\nX: " + "y" * (5 << 20) +
"\n\nPackage: z\nX: 1")' >long
	imports 1 "a paragraph that is too long" long key={Package} rest=f
	told "long:1: a paragraph of more than 4 MiB; is the empty line behind it missing?"
	same "$way: and what follows it" 1 "$(T count t)"
	imports 2 "a position" status key='{#1}' rest=f
	told "{#1} is a position, which only CSV and TSV have"
}
grows() {
	local i
	T deleteallrows t
	head -n 12 status >log
	status 0 "$way: one that grows" T import t log format=control \
		key={Package} rest=f resume=grows
	sed -n 13,15p status >>log
	status 1 "$way: without its end" T import t log format=control \
		key={Package} rest=f resume=grows
	told "log:13: the last line has no end yet"
	same "$way: which waits" 1 "$(T count t)"
	sed -n '16,$p' status >>log
	echo >>log
	status 0 "$way: and is taken then" T import t log format=control \
		key={Package} rest=f resume=grows
	told "Done importing 2 rows"
	same "$way: whole" '"191"' "$(cell dash f:Installed-Size)"
	T deleterow _imports grows
}
objects() {
	cat >package-lock.json <<'END'
{
  "name": "app", "lockfileVersion": 3,
  "packages": {
    "": {"name": "app"},
    "node_modules/a": {"version": "1.0.0", "license": "MIT"},
    "node_modules/@x/b": {"version": "2.0.0", "dev": true}
  }
}
END
	imports 0 "members of an object" package-lock.json explode='{packages}' \
		key='{name}#{$name|default(.)}' rest=f
	same "$way: are rows" 3 "$(T count t)"
	same "$way: by their names" '"2.0.0"' \
		"$(cell app#node_modules/@x/b f:packages.version)"
	echo '{"a":{"x":1,"y":[2]},"b":[7,8]}' >counts.jsonl
	imports 0 "members that are values" counts.jsonl explode='{a}' \
		key='{$name}' set='f:n {a}'
	same "$way: which are the field itself" '"[2]"' "$(cell y f:n)"
	imports 0 "an array" counts.jsonl explode='{b}' key='{$name}' set='f:n {b}'
	same "$way: has indices" '"8"' "$(cell 1 f:n)"
	imports 2 "a name of nothing" counts.jsonl key='{$name}' set='f:n 1'
	told "{\$name} is of what explode takes apart"
	same "$way: the key that it makes" app#x "$(T key \
		explode='{packages}' key='{name}#{$name}' rest=f name=app '$name=x')"
}
hexadecimal() {
	printf '0041;LATIN CAPITAL LETTER A\n1F600;GRINNING FACE\nFFFG;none\n' >unicode
	imports 1 "hexadecimal numbers" unicode format=csv delimiter=';' header=no \
		key='{#1|pad_hex(6)}' set='f:name {#2}'
	told 'unicode:3: field "#1": "FFFG" is not hexadecimal digits only'
	same "$way: in their order" "000041 01F600" \
		"$(T read t keys-only=true | grep -x '[0-9A-F]*' | xargs)"
	imports 1 "pad" unicode format=csv delimiter=';' header=no \
		key='{#1|pad(6)}' set='f:name {#2}'
	told "those of hexadecimal numbers pad_hex does"
}

for way in "without a mount" "through a mount"; do
	[ "$way" = "without a mount" ] || start_mount || exit 1
	paragraphs
	grows
	objects
	hexadecimal
done

# What the mount's own import tells.
way="the mount's own"
last=$m/t/.import/last
printf 'key {#1}\nset f:v {#2}\n' >"$m/t/.recipes/positions"
printf '1;a\n2;b\n' | tr ';' ',' >some.csv
check "a header that is none" cp some.csv "$m/t/.import/recipe/positions/data"
check "is told in the command's words" grep -qxF "header data:1: was taken for the header; header=no makes a record of it, header=yes says that it is one" "$last"
check "by csv" cp some.csv "$m/t/.import/recipe/positions/csv"
check "too" grep -q "^header csv:1: was taken" "$last"
printf 'header yes\nkey {#1}\nset f:v {#2}\n' >"$m/t/.recipes/positions"
check "one that is said" cp some.csv "$m/t/.import/recipe/positions/data"
refuse "is not told" grep -q "^header" "$last"
printf 'key {id}\nset f:v {v}\n' >"$m/t/.recipes/names"
errno EINVAL cp some.csv "$m/t/.import/recipe/names/data"
check "a header without a name" grep -q '^error data:1: the header has no field "id"' "$last"
T deleteallrows t
printf 'format control\nkey {Package}\nrest f\n' >"$m/t/.recipes/deb"
check "paragraphs" cp status "$m/t/.import/recipe/deb/data"
same "are rows" 3 "$(T count t)"
check "as the report tells" grep -qx "rows 3" "$last"
errno EINVAL cp wrong "$m/t/.import/recipe/deb/data"
check "with what is wrong" grep -q "^data:1: line 2: it is no field" "$last"
stop_mount
check "the store is whole" T check >/dev/null
finish
