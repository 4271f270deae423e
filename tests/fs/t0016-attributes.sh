#!/bin/bash
# Owners, modes and times: of tables, and of what is in them.
. "$(dirname "$0")/lib.sh"
start_mount || exit 1
mkdir "$m/t" && mkdir -p "$m/t/r/f" "$m/t/s/f" && echo 1 >"$m/t/r/f/q"
echo 2 >"$m/t/s/f/q"
show() {
	stat -c %a "$@" | xargs
}

same "modes" "755 755 755 644" "$(show "$m/t" "$m/t/r" "$m/t/r/f" "$m/t/r/f/q")"
errno EPERM chmod 700 "$m/t/r"
errno EPERM chmod 775 "$m/t/r"
errno EPERM chmod 600 "$m/t/r/f/q"
check "what changes nothing" chmod 755 "$m/t/r"
check "of a cell" chmod 644 "$m/t/r/f/q"
check "a table's mode" chmod 750 "$m/t"
same "is that of what is in it" "750 750 750 640" \
	"$(show "$m/t" "$m/t/r" "$m/t/r/f" "$m/t/r/f/q")"
same "control files too" "640 640" "$(show "$m/t/.granularity" "$m/t/.mutate")"
errno EPERM chmod 600 "$m/t/r/f/q"
errno EPERM chmod 660 "$m/t/r/f/q"
check "what gives nobody anything" chmod 644 "$m/t/r/f/q"
check "and of a row" chmod 755 "$m/t/r"
same "changes nothing" "750 640" "$(show "$m/t/r" "$m/t/r/f/q")"
umask 022
check "a new file shows what it was made with" python3 -c "import os
fd = os.open('$m/t/r/f/new', os.O_CREAT | os.O_WRONLY, 0o600)
assert os.fstat(fd).st_mode & 0o777 == 0o600
os.fchmod(fd, 0o640)"
same "and then the usual" 640 "$(show "$m/t/r/f/new")"
check "one made with no mode shows none" python3 -c "import os
fd = os.open('$m/t/r/f/none', os.O_CREAT | os.O_WRONLY, 0)
assert os.fstat(fd).st_mode & 0o777 == 0"
if [ "$(id -u)" = 0 ]; then
	check "a table's owner" chown 12:34 "$m/t"
	same "is that of what is in it" "12:34 12:34 12:34" \
		"$(stat -c %u:%g "$m/t" "$m/t/r/f/q" "$m/t/.mutate" | xargs)"
	errno EPERM chown 1 "$m/t/r/f/q"
	check "the same owner" chown 12 "$m/t/r/f/q"
else
	skipped=$((skipped + 4))
fi
before=$(stat -c '%a %u:%g' "$m/t/r/f/q")
remount
same "they stay" "$before" "$(stat -c '%a %u:%g' "$m/t/r/f/q")"
mv "$m/t" "$m/u"
same "with the table" "$before" "$(stat -c '%a %u:%g' "$m/u/r/f/q")"
mkdir "$m/t"
same "a new one has its own" 755 "$(show "$m/t")"
rmdir "$m/t" && mv "$m/u" "$m/t"
remount -o quiet
check "quiet ignores" chmod 600 "$m/t/r/f/q"
same "and changes nothing" 640 "$(show "$m/t/r/f/q")"
remount

# A row is as new as its newest cell, whichever that is.
mkdir -p "$m/t/n/f"
for i in a b c; do echo $i >"$m/t/n/f/$i"; done
touch -d 2020-01-01 "$m/t/n/f/a" "$m/t/n/f/c" && touch -d 2021-05-05 "$m/t/n/f/b"
remount
same "cold" "2021-05-05 2021-05-05" \
	"$(stat -c %y "$m/t/n" "$m/t/n/f" | cut -c 1-10 | xargs)"
remount
same "listed" 2021-05-05 "$(ls -l --time-style=+%F "$m/t" | awk '$7 == "n" { print $6 }')"
same "find -newer" "$m/t/n" "$(find "$m/t" -maxdepth 1 -name n -newermt 2021-05-04 \
	! -newermt 2021-05-06)"
for i in "$m" "$m/t" "$m/t/n" "$m/t/n/f"; do stat "$i" >/dev/null; done
echo new >"$m/t/n/f/a"
now=$(stat -c %Y "$m/t/n/f/a")
for i in "$m/t/n/f" "$m/t/n" "$m/t" "$m"; do
	check "$i is as new as a change in it" [ "$(stat -c %Y "$i")" -ge "$now" ]
done
touch -d 2019-01-01 "$m/t/n" && check "a directory's times are not set" \
	[ "$(stat -c %Y "$m/t/n")" -ge "$now" ]

# A time set before the close is shown as it will be: no earlier than the version
# beneath, in the table's granularity.
mkdir "$m/ms" && echo millis >"$m/ms/.granularity"
for q in "$m/us/r/f/early" "$m/ms/r/f/early"; do
	mkdir -p "${q%/*}" && echo 1 >"$q" && touch -d 2020-01-01 "$q"
	for time in '2020-01-01 00:00:00.0004567' 2019-01-01; do
		touch -d "$time" early
		cp --preserve=timestamps early "$q"
		shown=$(stat -c %.9Y "$q")
		remount
		same "$time, set before the close" "$(stat -c %.9Y "$q")" \
			"$shown"
	done
done
