#!/bin/bash
# The unit for systemd: what it runs works as root and as the user that a drop-in
# names, with the directory that systemd makes of StateDirectory=. systemd itself
# starts it in make check-deb.
#
# Alone: its namespace of mounts keeps those of others.
here=$(cd "$(dirname "$0")" && pwd)
# In a namespace of its own /dev/fuse can be what Debian has it, for all.
if [ "$(id -u)" = 0 ] && [ -z "${ALONE-}" ] && unshare -m true 2>/dev/null; then
	ALONE=1 exec unshare -m "$here/$(basename "$0")"
fi
. "$here/lib.sh"
top=$(cd "$here/../.." && pwd)
[ "$(id -u)" = 0 ] || skip_all "only root becomes others"
if [ -n "${ALONE-}" ]; then
	mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse
fi
make -s -C "$top" install-files DESTDIR="$work/root" \
	B="$(dirname "$TABLETFS")" >/dev/null || exit 1
unit=$work/root/usr/local/lib/systemd/system/tabletfs@.service
for line in User=root StateDirectory=tabletfs/%i; do
	check "the unit has $line" grep -qx "$line" "$unit"
done

# Verified with the program in its place.
if command -v systemd-analyze >/dev/null; then
	sed "s,/usr/local/bin/tabletfs,$TABLETFS,; s,^Doc.*,," "$unit" \
		>tabletfs@shop.service
	same "systemd has nothing against it" "" \
		"$(systemd-analyze verify ./tabletfs@shop.service 2>&1 |
			grep 'tabletfs@')"
else
	skip "there is no systemd-analyze"
fi

# As systemd does: a directory of the user's, the environment of the unit with
# its specifiers, then of the file, and the command lines of both.
chmod 755 "$work"
mkdir -p lib/tabletfs etc/tabletfs
# started USER OPTIONS: runs what the unit runs, in the background.
started() {
	local line state=$work/lib/tabletfs/shop
	install -d -m 755 -o "$1" -g "$1" "$state"
	eval "$(sed -n 's/^Environment=//p' "$unit" |
		sed "s,%S,$work/lib,g; s,%i,shop,g")"
	. "$work/etc/tabletfs/shop.conf"
	as="setpriv --reuid $1 --regid $1 --clear-groups"
	line=$(sed -n 's/^ExecStartPre=-//p' "$unit")
	# What fails there is ignored, as its - says.
	$as $(eval "echo $line") 2>/dev/null
	line=$(sed -n 's/^ExecStart=//p' "$unit" |
		sed "s,/usr/local/bin/tabletfs,$TABLETFS,")
	rm -f served
	$as $(eval "echo $line") >served 2>&1 &
	pid=$!
	for line in $(seq $((200 * ${SLOW:-1}))); do
		grep -qs 'is served' served && return
		sleep 0.1
	done
	return 1
}
ended() {
	kill "$pid" && wait "$pid"
}
user="setpriv --reuid 1001 --regid 1001 --clear-groups"
state=$work/lib/tabletfs/shop

: >etc/tabletfs/shop.conf
check "root's, without a word of configuration" started 0
check "it is used" mkdir -p "$state/mnt/t/r/f"
check "and ends well" ended
check "as a store in its directory" "$TABLETFS" -store "$state/store" ls
rm -rf lib/tabletfs/shop

# Root mounts, the application's user works in it, others do not.
echo 'OPTIONS=allow_other,uid=1001,gid=1001,umask=027' >etc/tabletfs/shop.conf
check "root's, for an application" started 0
check "which makes a table" $user mkdir -p "$state/mnt/orders/1/line"
check "and writes" $user sh -c "echo 3 >'$state/mnt/orders/1/line/count'"
check "and has commands" $user "$TABLETFS" -store "$state/mnt" set orders 1 \
	line:sku=x
same "which are seen" x "$($user cat "$state/mnt/orders/1/line/sku")"
refuse "others do not" setpriv --reuid 1002 --regid 1002 --clear-groups \
	ls "$state/mnt"
refuse "nobody but root looks into the store" $user ls "$state/store"
check "and ends well" ended

# What a daemon that was killed leaves is no hindrance to the next.
check "once more" started 0
kill -9 "$pid"
wait "$pid" 2>/dev/null
check "a start after a kill" started 0
same "nothing is lost" 3 "$($user cat "$state/mnt/orders/1/line/count")"
check "and ends well" ended
rm -rf lib/tabletfs/shop

# As another user; /dev/fuse is for all on Debian.
named="setpriv --reuid 1 --regid 1 --clear-groups"
if $named test -w /dev/fuse; then
	: >etc/tabletfs/shop.conf
	check "as the user" started 1
	check "who has it" $named mkdir -p "$state/mnt/t/r/f"
	same "and the store" 1 "$(stat -c %u "$state/store")"
	refuse "root has not" ls "$state/mnt"
	check "and ends well" ended
else
	skip "/dev/fuse is not for users"
fi
