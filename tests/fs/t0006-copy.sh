#!/bin/bash
# Programs that copy trees, which know nothing of cells: what arrives, with which
# times, and how many versions are left, into an empty table and a full one.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1

for r in alice bob carol; do
	mkdir -p "src/$r/info" "src/$r/log"
	echo "name $r" >"src/$r/info/name"
	head -c 5000 /dev/urandom >"src/$r/info/photo"
	: >"src/$r/log/empty"
	seq 1000 >"src/$r/log/numbers"
	echo hidden >"src/$r/log/.dot"
done
head -c 3000000 /dev/urandom >src/bob/info/large
find src -exec touch -d '2020-05-06 07:08:09.123456 UTC' {} +

# all_versions TABLE: "FILES VERSIONS" of the whole table.
all_versions() {
	echo "$(find "$m/$1" -type f | wc -l)" \
		"$(grep -o '"timestamp"' "$m/$1/.scan/versions/all/jsonl" | wc -l)"
}

# times DIR: the name and time of every file.
times() {
	(cd "$1" && find . -type f -printf '%P %.6T@\n' | sed 's/0*$//' | sort)
}

mkdir "$m/t"
check "cp -r" cp -r src/. "$m/t/"
check "its result" diff -r src "$m/t"
same "one version each" "16 16" "$(all_versions t)"
check "cp -r over it" cp -r src/. "$m/t/"
same "adds one to each" "16 32" "$(all_versions t)"

mkdir "$m/a"
check "cp -a" cp -a src/. "$m/a/"
check "its result" diff -r src "$m/a"
same "keeps times" "$(times src)" "$(times "$m/a")"
same "in one version each" "16 16" "$(all_versions a)"
check "cp -a over it" cp -a src/. "$m/a/"
check "changes nothing" diff -r src "$m/a"
same "and adds one to each" "16 32" "$(all_versions a)"
same "which must be newer" 1588748889.123457 \
	"$(stat -c %.6Y "$m/a/bob/info/name")"
check "cp -au takes none of them" cp -au src/. "$m/a/"
same "so adds none" "16 32" "$(all_versions a)"
check "cp -a out" cp -a "$m/a" out
same "keeps times" "$(times "$m/a")" "$(times out)"
check "cp -a from table to table" cp -a "$m/t" "$m/t2"
same "keeps times" "$(times "$m/t")" "$(times "$m/t2")"
rm -rf out "$m/t2"

mkdir "$m/rs"
check "rsync -a into an empty table" rsync -a src/ "$m/rs/"
check "its result" diff -r src "$m/rs"
same "keeps times" "$(times src)" "$(times "$m/rs")"
same "one version each" "16 16" "$(all_versions rs)"
same "a second one sends nothing" "" \
	"$(rsync -ai src/ "$m/rs/" | grep '^[<>]f')"
same "nor finds a difference in what it reads" "" \
	"$(rsync -aci --omit-dir-times src/ "$m/rs/" | grep '^[<>c]f')"
same "and adds no version" "16 16" "$(all_versions rs)"

# Over cells that are newer than what comes.
mkdir "$m/full"
cp -r src/. "$m/full/"
find "$m/full" -type f -exec sh -c 'echo other >"$1"' - {} \;
check "rsync -a into a full table" rsync -a src/ "$m/full/"
check "its result" diff -r src "$m/full"
same "adds a version to each" "16 48" "$(all_versions full)"
first=$(rsync -ai src/ "$m/full/" | grep -c '^>f')
same "a second one: their times are newer, it sends again" 16 "$first"
check "rsync -c sends nothing" rsync -acn --out-format= src/ "$m/full/"
same "by content, nothing is left to send" "" \
	"$(rsync -rci src/ "$m/full/" | grep '^[<>]f')"

echo changed >src/bob/info/name
check "rsync of a change" rsync -a src/ "$m/rs/"
check "its result" diff -r src "$m/rs"
same "adds one version" "16 17" "$(all_versions rs)"
same "leaves no temporary file" "large name photo" \
	"$(ls -A "$m/rs/bob/info" | xargs)"
same "a third one sends nothing" "" \
	"$(rsync -ai src/ "$m/rs/" | grep '^[<>]f')"
printf tail >>src/bob/info/large
check "rsync --inplace of an end" rsync -a --inplace --no-W src/ "$m/rs/"
check "its result" cmp src/bob/info/large "$m/rs/bob/info/large"
same "adds one version" "16 18" "$(all_versions rs)"
rm src/bob/log/empty
check "rsync --delete" rsync -a --delete src/ "$m/rs/"
check "its result" diff -r src "$m/rs"
check "rsync out" rsync -a "$m/rs/" out/
check "its result" diff -r src out
same "keeps times" "$(times src)" "$(times out)"
rm -rf out

mkdir "$m/tar"
check "tar in" sh -c "tar -C src --format=posix -c . | tar -C '$m/tar' -x"
check "its result" diff -r src "$m/tar"
same "keeps times" "$(times src)" "$(times "$m/tar")"
check "tar in again" sh -c \
	"tar -C src --format=posix -c . | tar -C '$m/tar' -x"
check "its result" diff -r src "$m/tar"
same "unlinks first, so one version each" "15 15" "$(all_versions tar)"
check "tar --overwrite" sh -c \
	"tar -C src --format=posix -c . | tar -C '$m/tar' -x --overwrite"
same "does not, so two" "15 30" "$(all_versions tar)"
mkdir out
check "tar out" sh -c \
	"tar -C '$m/rs' --format=posix -c . | tar -C out -x"
check "its result" diff -r src out
same "keeps times" "$(times src)" "$(times out)"
check "tar -d finds no difference" sh -c \
	"tar -C src -c . | tar -C '$m/rs' -d"

f=$m/rs/carol/log
check "install" install -m 644 src/bob/log/numbers "$f/new"
check "its result" cmp src/bob/log/numbers "$f/new"
check "install over it" install -m 644 src/carol/info/name "$f/new"
check "its result" cmp src/carol/info/name "$f/new"
same "unlinks first, so one version" 1 "$(versions rs/carol/log new)"
check "install -D" install -D -m 644 src/carol/info/name "$m/rs/dan/info/name"
check "its result" cmp src/carol/info/name "$m/rs/dan/info/name"

printf abcdefgh >"$f/new"
check "dd conv=notrunc" dd if=<(printf XY) of="$f/new" bs=1 seek=3 \
	conv=notrunc status=none
same "changes only those bytes" abcXYfgh "$(cat "$f/new")"
same "in a version of its own" 3 "$(versions rs/carol/log new)"
check "dd conv=fsync" dd if=src/bob/info/large of="$f/new" bs=64k \
	conv=fsync status=none
check "its result" cmp src/bob/info/large "$f/new"
same "one more version" 4 "$(versions rs/carol/log new)"
check "dd out" cmp src/bob/info/large \
	<(dd if="$f/new" bs=7k skip=0 status=none)

check "mv in a family" mv "$f/new" "$f/moved"
same "moves the history" "0 4" \
	"$(versions rs/carol/log new) $(versions rs/carol/log moved)"
check "mv of a row" mv "$m/rs/bob" "$m/rs/bill"
same "under its new name only" "alice bill carol dan" "$(ls "$m/rs" | xargs)"
check "with all of it" diff -r src/bob "$m/rs/bill"
same "and its history" 2 "$(versions rs/bill/info name)"
check "mv to another family" mv "$m/rs/bill/info/photo" "$m/rs/bill/log/photo"
check "copies it" cmp src/bob/info/photo "$m/rs/bill/log/photo"
refuse "and removes it" [ -e "$m/rs/bill/info/photo" ]
check "mv into the mount" mv out "$m/moved"
check "its result" diff -r src "$m/moved"
check "mv out of it" mv "$m/moved" out
check "its result" diff -r src out
refuse "and nothing remains" [ -e "$m/moved" ]
check "mv of a table" mv "$m/rs" "$m/people"
check "its result" diff -r src/carol/info "$m/people/carol/info"

check "rm -r of all" rm -r "$m"/*
same "they are gone" "" "$(ls -A "$m")"
same "no error was logged" "" "$(cat "$m/.tabletfs/errors")"
