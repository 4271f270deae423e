#!/bin/bash
# Programs that people use on files, which know nothing of cells.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t"

for r in alice bob carol; do
	mkdir -p "src/$r/info" "src/$r/log"
	echo "name $r" >"src/$r/info/name"
	head -c 5000 /dev/urandom >"src/$r/info/photo"
	: >"src/$r/log/empty"
	seq 1000 >"src/$r/log/numbers"
done
find src -exec touch -d '2020-05-06 07:08:09.123456 UTC' {} +

cp -r src/. "$m/t/"
check "cp -r" diff -r src "$m/t"
same "one version each" 1 "$(versions t/bob/info photo)"
mkdir "$m/a" && cp -a src/. "$m/a/"
check "cp -a" diff -r src "$m/a"
same "keeps times" "$(stat -c %.6Y src/bob/info/name)" \
	"$(stat -c %.6Y "$m/a/bob/info/name")"
same "in one version" 1 "$(versions a/bob/info name)"

if command -v rsync >/dev/null; then
	mkdir "$m/rs"
	check "rsync -a" rsync -a src/ "$m/rs/"
	check "its result" diff -r src "$m/rs"
	same "one version" 1 "$(versions rs/bob/info photo)"
	same "a second rsync sends nothing" "" \
		"$(rsync -ai src/ "$m/rs/" | grep '^>f')"
	echo changed >src/bob/info/name
	check "rsync of a change" rsync -a src/ "$m/rs/"
	check "its result" diff -r src "$m/rs"
	same "the old version is kept" 2 "$(versions rs/bob/info name)"
	same "no temporary file" "name photo" "$(ls -A "$m/rs/bob/info" | xargs)"
	same "a third sends nothing" "" \
		"$(rsync -ai src/ "$m/rs/" | grep '^>f')"
	mkdir out && rsync -a "$m/rs/" out/
	check "rsync out" diff -r src out
else
	skipped=$((skipped + 1))
fi

mkdir "$m/tar" && tar -C src --format=posix -c . | tar -C "$m/tar" -x
check "tar in" diff -r src "$m/tar"
tar -C src --format=posix -c . | tar -C "$m/tar" -x
check "tar in again" diff -r src "$m/tar"
same "unlinks first, so one version" 1 "$(versions tar/bob/info photo)"
mkdir out2 && tar -C "$m/tar" --format=posix -c . | tar -C out2 -x
check "tar out" diff -r src out2
same "tar keeps times" "$(stat -c %.6Y src/carol/info/photo)" \
	"$(stat -c %.6Y out2/carol/info/photo)"

same "find" 12 "$(find "$m/t" -type f | wc -l)"
same "grep -r" "$m/t/carol/info/name" "$(grep -rl 'name carol' "$m/t")"
check "du" du -s "$m/t" >/dev/null

sed -i s/alice/ALICE/ "$m/t/alice/info/name"
same "sed -i" "name ALICE" "$(cat "$m/t/alice/info/name")"
same "adds a version" 2 "$(versions t/alice/info name)"
same "and leaves nothing" "name photo" "$(ls -A "$m/t/alice/info" | xargs)"

if command -v vim >/dev/null; then
	vim -u NONE -es -c 's/ALICE/alice/' -c 'wq' "$m/t/alice/info/name" \
		</dev/null
	same "vim" "name alice" "$(cat "$m/t/alice/info/name")"
	same "adds a version" 3 "$(versions t/alice/info name)"
	vim -u NONE -es -c 'set backup backupcopy=no' -c 's/alice/A/' -c 'wq' \
		"$m/t/alice/info/name" </dev/null
	same "vim that renames" "name A" "$(cat "$m/t/alice/info/name")"
	rm -f "$m/t/alice/info/name~"
	same "keeps history, too" 4 "$(versions t/alice/info name)"
	same "no swap file is left" "name photo" \
		"$(ls -A "$m/t/alice/info" | xargs)"
else
	skipped=$((skipped + 1))
fi

mv "$m/t/bob" "$m/t/bill"
same "mv of a row" "alice bill carol" "$(ls "$m/t" | xargs)"
check "with all of it" diff -r src/bob/log "$m/t/bill/log"
mv "$m/t/bill/info/photo" "$m/t/bill/log/photo"
check "mv to another family copies" cmp src/bob/info/photo \
	"$m/t/bill/log/photo"
mv "$m/t" "$m/people"
check "mv of a table" diff -r src/carol "$m/people/carol"
check "install" install -m 644 src/bob/log/numbers "$m/people/carol/log/new"
check "flock" flock "$m/people/carol/log/new" true
check "rm -r of all" rm -r "$m/people" "$m/a" "$m/tar"
check "they are gone" [ ! -e "$m/people" ]
