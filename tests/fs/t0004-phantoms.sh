#!/bin/bash
# Directories without a cell live until a cell appears, rmdir, or unmount.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t"

mkdir "$m/t/b" "$m/t/d"
mkdir -p "$m/t/a/f" "$m/t/c/f"
echo >"$m/t/a/f/q"
echo >"$m/t/c/f/q"
same "they are listed in order" "a b c d" "$(ls -U "$m/t" | xargs)"
same "but not scanned" "a c" "$(xargs <"$m/t/.scan/keys")"
same "nor counted" 2 "$(cat "$m/t/.scan/count")"
errno EEXIST mkdir "$m/t/b"
rmdir "$m/t/b"
check "rmdir removes them" [ ! -e "$m/t/b" ]
errno ENOENT rmdir "$m/t/b"
errno ENOTEMPTY rmdir "$m/t"
mkdir "$m/t/d/g"
errno ENOTEMPTY rmdir "$m/t/d"
check "mkdir made the family" [ -d "$m/t/.schema/g" ]
same "with the default policy" maxversions=10 "$(cat "$m/t/.schema/g/gc")"
rm "$m/t/a/f/q"
same "a row stays after its last cell" "f" "$(ls "$m/t/a")"
same "but is none any more" "c" "$(cat "$m/t/.scan/keys")"
check "rm -r removes it" rm -r "$m/t/a"
echo '{"row":"c","delete":true}' >"$m/t/.mutate"
check "a row deleted by .mutate is gone" [ ! -e "$m/t/c" ]
mkdir -p "$m/t/e/f"
exec 3>"$m/t/e/f/q"
same "a file not yet committed is listed" q "$(ls "$m/t/e/f")"
errno ENOTEMPTY rmdir "$m/t/e/f"
exec 3>&-
same "and then it is a row" e "$(cat "$m/t/.scan/keys")"
echo '{"row":"e","delete":true}' >"$m/t/.mutate"
check "which leaves no phantom" [ ! -e "$m/t/e" ]
# What is removed by paths, in some order, while others remove, too.
for order in cat tac "shuf --random-source=/dev/zero"; do
	mkdir -p "$m/t/g/f" "$m/t/g/other"
	seq -f '{"row":"g","set":{"f":{"q%04.0f":"v"}}}' 300 >"$m/t/.mutate"
	seq -f '{"row":"g","delete":{"f":["q%04.0f"]}}' 64 66 >gone
	cp gone "$m/t/.mutate"
	(cd "$m/t/g/f" && ls | $order | head -n 290 | xargs rm)
	same "$order: seven are left" 7 "$(ls "$m/t/g/f" | wc -l)"
	(cd "$m/t/g/f" && ls | $order | head -n 6 | xargs rm)
	same "$order: it is a row" g "$(cat "$m/t/.scan/keys")"
	rm "$m/t/g/f/"*
	same "$order: the last one leaves phantoms" "f other" \
		"$(ls "$m/t/g" | xargs)"
	check "$order: that can be removed" rm -r "$m/t/g"
	mkdir -p "$m/t/g/f"
	touch "$m/t/g/f/a" "$m/t/g/f/b" "$m/t/g/f/c"
	rm "$m/t/g/f/a"
	echo '{"row":"g","delete":true}' >"$m/t/.mutate"
	check "$order: the last by .mutate leaves none" [ ! -e "$m/t/g" ]
done
remount
same "none survives" "" "$(ls "$m/t")"
check "the table is empty" rmdir "$m/t"
