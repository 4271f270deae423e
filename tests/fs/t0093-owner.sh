#!/bin/bash
# A mount that root makes and an application's user works in: uid=, gid= and
# umask=, which a table's own owner and mode outdo.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "only root mounts for others"
chmod 755 "$work"
umask 022
app="setpriv --reuid 1001 --regid 2000 --clear-groups"
friend="setpriv --reuid 1002 --regid 2000 --clear-groups"
other="setpriv --reuid 1003 --regid 1003 --clear-groups"
show() {
	stat -c '%a %u:%g' "$@"
}

for wrong in uid=nobody-of-this-name gid=-1 uid=4294967295 uid= umask=888 \
	umask=1777 umask=; do
	refuse "$wrong" "$TABLETFS" mount -o "$wrong" "$store" "$m"
done
start_mount -o allow_other,uid=1001,gid=2000,umask=027 || exit 1
same "the instance" "750 1001:2000" "$(show "$m")"
check "the application makes a table" $app mkdir -p "$m/t/r/f"
check "and writes" $app sh -c "echo value >'$m/t/r/f/q'"
same "a table" "750 1001:2000" "$(show "$m/t")"
same "a row" "750 1001:2000" "$(show "$m/t/r")"
same "a cell" "640 1001:2000" "$(show "$m/t/r/f/q")"
same "a version" "440 1001:2000" "$(show "$m"/t/r/f/.versions/q/*)"
same "its group reads" value "$($friend cat "$m/t/r/f/q")"
refuse "and does not write" $friend sh -c "echo x >'$m/t/r/f/q'" 2>/dev/null
refuse "others see nothing" $other ls "$m" 2>/dev/null
check "commands work for it" $app "$TABLETFS" -store "$m" set t r f:p=1
refuse "not for its group" $friend "$TABLETFS" -store "$m" set t r f:p=2
same "at once" 1 "$($app cat "$m/t/r/f/p")"
check "it hears of its errors" $app cat "$m/.tabletfs/errors"

# What a table says itself counts.
check "chmod of a table" $app chmod 700 "$m/t"
check "root gives one away" chown 1003:1003 "$m/t"
same "both stay" "700 1003:1003" "$(show "$m/t")"
stop_mount
start_mount -o allow_other,uid=1001,gid=2000,umask=000 || exit 1
same "under another umask" "700 1003:1003" "$(show "$m/t")"

# Where all may make names, what one makes is theirs.
check "all make tables" $other mkdir "$m/shared"
check "and rows" $friend mkdir -p "$m/shared/r/f"
check "with their times" $friend cp -p "$fs_tests/lib.sh" "$m/shared/r/f/script"
same "as theirs" "1002" "$(stat -c %u "$m/shared/r/f/script")"
stop_mount

name=$(getent passwd 1 | cut -d: -f1)
start_mount -o "uid=$name" || exit 1
same "a user by name" 1 "$(stat -c %u "$m")"
stop_mount
start_mount -o allow_other || exit 1
said=$(setpriv --reuid 65534 --clear-groups "$TABLETFS" umount "$m" 2>&1)
same "another cannot end it" "1 tabletfs: $m: another user has mounted it, who \
can end it, and so can root" "$? $said"
stop_mount
