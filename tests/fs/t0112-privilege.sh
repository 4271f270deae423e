#!/bin/bash
# Whoever may not mount hears in one sentence what is missing and who gives it,
# and no store is made meanwhile. Each case has a /dev, /etc and /usr/bin of its
# own, in a namespace of mounts.
#
# Alone: its namespaces of mounts keep those of others.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "only root can take rights away"
unshare -m true 2>/dev/null || skip_all "there are no namespaces of mounts"
chmod 755 "$work"
cp "$TABLETFS" tabletfs
fusermount=$(command -v fusermount3)
# Who has a name, as fusermount3 wants it.
user="setpriv --reuid 1 --regid 1 --clear-groups"
nameless="setpriv --reuid 4001 --regid 1 --clear-groups"

# Makes what a case has: a device for all, a place of the user's own.
cat >prepare <<'END'
mount --make-rprivate / && mount -t tmpfs -o mode=755 none /dev &&
	mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/fuse c 10 229
END
install -d -o 1 -g 1 own own/mnt

# says TEXT PREPARATION RUNNER [OPTION...]: mounting must fail with a line that
# has TEXT in it and no other, and leave no store.
says() {
	local text=$1 case=$2 runner=$3
	shift 3
	unshare -m sh -c ". ./prepare; $case"'
		exec "$@"' - $runner "$work/tabletfs" mount "$@" \
		"$work/own/store" "$work/own/mnt" >out 2>err
	same "$text: it fails" 1 $?
	same "$text: in one sentence" 1 "$(wc -l <err)"
	told "$text"
	refuse "$text: no store is made" test -e own/store
	rm -rf own/store
}

# With all that is needed it mounts, as a user, and it is the user's.
cat >works <<'END'
. ./prepare
"$@" || exit 1
grep -q " $PWD/own/mnt fuse.tabletfs " /proc/self/mounts || exit 1
umount own/mnt
END
check "with all of it, it mounts" unshare -m sh ./works $user "$work/tabletfs" \
	mount "$work/own/store" "$work/own/mnt"
# The daemon ends behind its mount.
await_store() {
	local i
	for i in $(seq $((100 * ${SLOW:-1}))); do
		$user "$work/tabletfs" -store own/store check >/dev/null 2>&1 &&
			break
		sleep 0.1
	done
	rm -rf own/store
}
await_store

for runner in "" "$user"; do
	says 'there is no /dev/fuse: "modprobe fuse" by root' "rm /dev/fuse" \
		"$runner"
done
says '/dev/fuse is not for you: "chmod 666 /dev/fuse" by root' \
	"chmod 600 /dev/fuse" "$user"
group=$(getent group 4 | cut -d: -f1)
says "/dev/fuse is for the group $group: \"usermod -aG $group USER\"" \
	"chmod 660 /dev/fuse; chgrp 4 /dev/fuse" "$user"
says "there is no fusermount3, which the package fuse3 has" \
	"mount --bind /dev/null $fusermount; export PATH=/bin" "$user"
cp "$fusermount" plain && chmod 755 plain
says "$fusermount is not setuid root, as the package fuse3 has it: \"chmod u+s" \
	"mount --bind $work/plain $fusermount" "$user"
says "users mount on directories of their own" "chown 0:0 own/mnt" "$user"
chown 1:1 own/mnt
says "users mount on directories of their own" "chown 0:0 own/mnt; chmod 1777 own/mnt" \
	"$user"
chown 1:1 own/mnt && chmod 755 own/mnt
echo '# user_allow_other' >conf
says "allow_other is for users only where /etc/fuse.conf has the line" \
	"mount --bind $work/conf /etc/fuse.conf" "$user" -o allow_other
says "fusermount3 mounts for users with a name, and 4001 has none" "" "$nameless"
says "this process may gain no rights" "" "$user --no-new-privs"
says "nobody may mount in this container, which is to be started with" "" \
	"setpriv --bounding-set -sys_admin --inh-caps -sys_admin"
says "nobody may mount in this container" "" "$user --bounding-set -sys_admin"

# And where users may, they can.
echo user_allow_other >conf
sed -i 's/^umount/sh -c "stat -c %U own\/mnt" >seen; umount/' works
check "allow_other where it is allowed" unshare -m sh -c \
	'mount --make-rprivate /; mount --bind conf /etc/fuse.conf; . ./works' - \
	$user "$work/tabletfs" mount -o allow_other "$work/own/store" "$work/own/mnt"
check "others see it" test -s seen

# A bare system, as of debootstrap, has no /etc/mtab, which fusermount3 wants.
await_store
cat >bare <<'END'
. ./prepare
mkdir etc && cp /etc/passwd /etc/group etc/ && mount --bind etc /etc
"$@" mount own/store own/mnt || exit 3
"$@" umount own/mnt
status=$?
umount own/mnt
exit $status
END
status 1 "umount without /etc/mtab" unshare -m sh ./bare $user "$work/tabletfs"
told '"ln -s /proc/self/mounts /etc/mtab" by root makes it'
same "in one sentence" 1 "$(wc -l <err)"
await_store
