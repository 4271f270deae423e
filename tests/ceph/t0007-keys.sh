#!/bin/bash
# A cluster that asks for keys: each user may what its key is for.
. "$(dirname "$0")/../fs/lib.sh"
cluster=$(cd "$fs_tests/../ceph" && pwd)/cluster
dir=$(mktemp -d /var/tmp/tabletfs-keys-XXXXXX)
export CEPH_CONF=$dir/conf
AUTH=cephx POOL=test "$cluster" start "$dir"
at_end() {
	stop_mount 2>/dev/null
	"$cluster" stop "$dir"
	rm -rf "$dir"
}
# may USER CAPABILITY: of the OSDs.
may() {
	ceph auth get-or-create "client.$1" mon 'allow r' osd "$2" \
		>>"$dir/keyring"
}
may writer 'allow rwx pool=test'
may users 'allow rwx pool=test namespace=users'
may reader 'allow r pool=test'

for user in writer users; do
	store=rados:$user@test/users
	start_mount
	mkdir -p "$m/t/row/f"
	echo "$user" >"$m/t/row/f/q"
	sync "$m/t/row/f/q"
	same "$user writes" "$user" "$(cat "$m/t/row/f/q")"
	check "and looks at space" df "$m"
	same "without an error" "" "$(cat "$m/.tabletfs/errors")"
	stop_mount
	same "$user checks" "no problem found" "$(T check)"
done
mkdir f
check "a reader follows" "$TABLETFS" mount $stale -o follow \
	rados:reader@test/users "$work/f"
same "and reads" users "$(cat f/t/row/f/q)"
fusermount3 -u f
same "by a command, too" 1 \
	"$("$TABLETFS" -follow -store rados:reader@test/users count t)"
status 1 "but does not write" \
	"$TABLETFS" -store rados:reader@test/users set t row f:q=1
told "'allow rwx' of the pool"
status 1 "a key is for one store" \
	"$TABLETFS" -store rados:users@test/other createtable t
told "ceph auth get"
status 1 "who has none" "$TABLETFS" -store rados:nobody@test/users ls
told "does not let in client.nobody"
