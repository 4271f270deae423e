#!/bin/bash
# Tables, rows, families and cells as a tree.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1

check "the root is empty" [ -z "$(ls -A "$m")" ]
check "mkdir makes a table" mkdir "$m/t"
errno EEXIST mkdir "$m/t"
errno EINVAL mkdir "$m/a b"
errno EPERM mkdir "$m/.x"
check "mkdir -p makes row and family" mkdir -p "$m/t/r1/f"
check "it does so again" mkdir -p "$m/t/r1/f"
errno EPERM mkdir "$m/t/r1/f/x"
errno EPERM touch "$m/t/file"
errno EPERM touch "$m/t/r1/file"
errno EPERM ln -s x "$m/t/r1/f/link"
errno EPERM mkfifo "$m/t/r1/f/fifo"

printf hello >"$m/t/r1/f/q"
same "content is the value" hello "$(cat "$m/t/r1/f/q")"
same "size is its length" 5 "$(stat -c %s "$m/t/r1/f/q")"
errno EPERM ln "$m/t/r1/f/q" "$m/t/r1/f/hard"
same "the table lists its row" r1 "$(ls "$m/t")"
same "the row lists its family" f "$(ls "$m/t/r1")"
same "nothing else is listed" "$m/t/r1/f/q" "$(find "$m" -type f)"
same "d_ino is st_ino" "$(stat -c %i "$m/t/r1")" \
	"$(ls -i "$m/t" | awk '{ print $1 }')"
same "one link" "1 1" "$(stat -c %h "$m/t" "$m/t/r1/f/q" | xargs)"
same "mode" "755 644" "$(stat -c %a "$m/t/r1" "$m/t/r1/f/q" | xargs)"

errno ENOENT cat "$m/t/r1/f/none"
errno ENOENT ls "$m/t/r2"
errno ENOENT ls "$m/none"
errno ENOTEMPTY rmdir "$m/t"
errno ENOTEMPTY rmdir "$m/t/r1"
errno ENOTEMPTY rmdir "$m/t/r1/f"
errno ENOTDIR rmdir "$m/t/r1/f/q"
check "chmod that changes nothing" chmod 644 "$m/t/r1/f/q"
errno EPERM chmod 600 "$m/t/r1/f/q"
errno EPERM chown 7 "$m/t/r1/f/q"
check "df" df "$m" >/dev/null

check "rm -r removes the row" rm -r "$m/t/r1"
check "it is gone" [ ! -e "$m/t/r1" ]
check "an empty table is removed" rmdir "$m/t"
same "the root is empty again" "" "$(ls -A "$m")"
same "control names of the root" "as-of ctl errors help log metrics stats \
version" \
	"$(ls "$m/.tabletfs" | xargs)"
check "help" grep -q versions "$m/.tabletfs/help"
check "stats" grep -q '^nodes [0-9]' "$m/.tabletfs/stats"

remount -o quiet
mkdir -p "$m/t/r/f" && echo >"$m/t/r/f/q"
check "with quiet chmod is taken" chmod 600 "$m/t/r/f/q"
remount -o showctl
same "with showctl names are listed" .versions "$(ls -A "$m/t/r/f" | head -1)"
remount -o strictschema
errno EPERM mkdir "$m/t/r/g"
check "a known family can be made" mkdir -p "$m/t/r2/f"
