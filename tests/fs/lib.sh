# For tests/fs/t*.sh: a store and a mount in a temporary directory, both gone
# when the script ends, and the checks of tests/lib.sh. Source it; it leaves the
# shell in the mount point's parent, $work.
#
#   $work  temporary directory    $store  the store    $m  the mount point
#
# With PLACE, such as rados:POOL/, the store is there, by the directory's name.
fs_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$fs_tests/../.." && pwd)/build/tabletfs}
# For fails.py.
export PYTHONPATH=$fs_tests PYTHONDONTWRITEBYTECODE=1
. "$fs_tests/../lib.sh"
daemon= store=${PLACE:+$PLACE${work##*/}} m=$work/mnt
store=${store:-$work/store}
mkdir "$m"

[ -w /dev/fuse ] && command -v fusermount3 >/dev/null ||
	skip_all "there is no FUSE"

at_end() {
	stop_mount 2>/dev/null
}

# The daemon that serves $m, by the line that it leaves with the store; one that
# only reads leaves none and is asked, and so is one of a store elsewhere.
find_daemon() {
	if [ -n "${PLACE-}" ] ||
		grep -q " $m fuse.tabletfs ro" /proc/self/mounts; then
		sed -n 's/^daemon_pid //p' "$m/.tabletfs/stats"
	else
		sed -n 's/.*pid \([0-9]*\), mounted at.*/\1/p' "$store/lock"
	fi
}

# Kernels that cannot be told of changes ask each time, unless STALE says else.
case $(uname -r) in
[0-5].* | 6.[0-9].* | 6.1[0-5].*) stale="-o stale=${STALE:-0}" ;;
*) stale= ;;
esac

# Returns when it is served. MOUNT is more words for each mount.
start_mount() {
	"$TABLETFS" mount $stale ${MOUNT-} "$@" "$store" "$m" || return 1
	daemon=$(find_daemon)
}

# Returns when the daemon has ended.
stop_mount() {
	mountpoint -q "$m" 2>/dev/null || [ -n "$daemon" ] || return 0
	fusermount3 -u "$m" 2>/dev/null || fusermount3 -uz "$m" 2>/dev/null
	await_end
}

# Waits until the daemon is no more.
await_end() {
	[ -z "$daemon" ] || python3 -c 'import os, select, sys
try:
    fd = os.pidfd_open(int(sys.argv[1]))
except ProcessLookupError:
    sys.exit()
select.select([fd], [], [])' "$daemon"
	daemon=
}

remount() {
	stop_mount
	start_mount "$@"
}

# The size of the store, in MiB.
store_size() {
	local pool=${store#rados:}
	case $store in
	rados:*)
		rados -p "${pool%%/*}" --namespace "${store##*/}" ls |
			while read -r object; do
				rados -p "${pool%%/*}" --namespace \
					"${store##*/}" stat "$object"
			done | awk '{ all += $NF }
				END { print int(all / 1048576) + 1 }' ;;
	*) du -sm "$store" | cut -f 1 ;;
	esac
}

# T WORD...: a command on the store.
T() {
	"$TABLETFS" -store "$store" "$@"
}

# status WANTED NAME COMMAND...: its exit status; what it says is left in out and
# err.
status() {
	local wanted=$1 name=$2
	shift 2
	"$@" >out 2>err
	same "$name" "$wanted" $?
}

# told TEXT: the last of these said so on standard error.
told() {
	check "told: $1" grep -qF -- "$1" err
}

declare -A errnos=() # what names that were asked for stand for

# errno NAME COMMAND...: the command must fail and say what NAME stands for.
errno() {
	local name=$1 text out
	shift
	[ -n "${errnos[$name]-}" ] ||
		errnos[$name]=$(python3 -c "import errno, os, sys
print(os.strerror(getattr(errno, sys.argv[1])))" "$name")
	text=${errnos[$name]}
	if out=$("$@" 2>&1); then
		fail "$* succeeded, not $name"
	else
		case $out in
		*"$text"*) pass ;;
		*) fail "$*: $out, not $name" ;;
		esac
	fi
}

# Whether the program is a sanitizer's, which has its own ways with memory and
# with what is loaded before it.
is_sanitized() {
	grep -qE '__(asan|tsan)_init' "$TABLETFS"
}

# How many versions a cell has: versions TABLE/ROW/FAMILY QUALIFIER.
versions() {
	ls "$m/$1/.versions/$2" 2>/dev/null | wc -l
}
