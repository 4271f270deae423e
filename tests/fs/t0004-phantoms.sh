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
remount
same "none survives" "" "$(ls "$m/t")"
check "the table is empty" rmdir "$m/t"
