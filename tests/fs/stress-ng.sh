#!/bin/bash
# Those of stress-ng's stressors for filesystems that mean something here, in
# groups at a time, for DURATION seconds each: the daemon must live, log no error
# but of what is too large or in the wrong place, and leave a store that is whole.
# For make check-fs-long.
#
# Left out: access, chdir, dir, dirdeep, dirmany, dnotify, inotify (they change
# modes or make directories where there are no such), chattr, fallocate (what it
# punches and collapses), fiemap, inode-flags, verity, xattr, acl (not offered),
# link, symlink, rename (links, and renames between directories), bind-mount,
# binderfs, procfs, fsize and others that are about the kernel.
. "$(dirname "$0")/lib.sh"
duration=${DURATION:-60}
start_mount || exit 1
mkdir -p "$m/t/r/f"
echo keep >"$m/t/r/f/keep"

# stress STRESSOR...: together; each makes a family of its own in the row.
stress() {
	local arguments= s
	for s in "$@"; do arguments="$arguments --$s 2"; done
	echo "$*"
	stress-ng --temp-path "$m/t/r" $arguments -t "$duration" \
		--verify --hdd-bytes 32m --iomix-bytes 4m \
		--copy-file-bytes 128m --readahead-bytes 4m \
		--sync-file-bytes 4m --seek-size 16m --sendfile-size 1m \
		--filename-opts posix --msync-bytes 4m --revio-bytes 4m >log 2>&1
	same "$*" 0 $?
	grep -E 'fail:|error:' log | head -n 20
	check "the daemon lives" kill -0 "$daemon"
	same "it logged no error" "" "$(grep -vE \
		'too large|only a family.s directory holds|no links|its owner and mode' \
		"$m/.tabletfs/errors")"
}

stress chmod chown dentry dup fcntl file-ioctl
stress filename flock fpunch fstat getdent handle
stress hdd io iomix ioprio lease
stress locka lockf lockofd mknod open
stress readahead seek sendfile splice sync-file
stress touch utime fanotify msync
stress aio revio
same "nothing else was touched" keep "$(cat "$m/t/r/f/keep")"
find "$m/t/r" -type f -delete
stop_mount
check "the store is whole" "$TABLETFS" -store "$store" check >/dev/null
