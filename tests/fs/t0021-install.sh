#!/bin/bash
# What make install puts where, and what mount(8) calls.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
top=$(cd "$here/../.." && pwd)
check "make install" make -s -C "$top" install-files DESTDIR="$work/made" \
	B="$(dirname "$TABLETFS")" >/dev/null
root=$work/made/usr/local
for file in bin/tabletfs share/man/man1/tabletfs.1 share/man/man5/tabletfs.5 \
	share/bash-completion/completions/tabletfs \
	share/tabletfs/tabletfs.rules.yml \
	share/zsh/site-functions/_tabletfs share/doc/tabletfs/operations.md \
	share/doc/tabletfs/fs/README.md \
	lib/systemd/system/tabletfs@.service; do
	check "$file" test -s "$root/$file"
done
check "the unit names the program" grep -q "/usr/local/bin/tabletfs mount -f" \
	"$root/lib/systemd/system/tabletfs@.service"
# The version stands in the changelog alone.
version=$(sed -n '1s/tabletfs (\([^)]*\)) .*/\1/p' \
	"$top/tools/package/changelog")
check "the changelog tells a version" test -n "$version"
same "so does the program" "tabletfs $version" "$("$TABLETFS" version)"
for page in 1 5; do
	check "so does man page $page" grep -q "TabletFS $version\"" \
		"$root/share/man/man$page/tabletfs.$page"
done
same "no other place has it" "" "$(cd "$top" && grep -rlF "tabletfs $version" \
	store fs tools tests --include='*.[ch]' --include='*.sh')"
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
	for page in 1 5; do
		same "man page $page has no fault" "" "$(man --warnings -l \
			"$root/share/man/man$page/tabletfs.$page" 2>&1 >/dev/null)"
	done
fi

# As mount(8) calls it.
ln -s "$TABLETFS" mount.fuse.tabletfs
refuse "no directory" ./mount.fuse.tabletfs "$store" 2>/dev/null
check "mount -f of mount(8) only pretends" ./mount.fuse.tabletfs "$store" \
	"$m" -f
refuse "nothing is mounted" mountpoint -q "$m"
check "mounted" ./mount.fuse.tabletfs "$store" "$m" -n -o \
	rw,nofail,user=someone,commit=2 -t fuse.tabletfs
daemon=$(find_daemon)
check "it is used" mkdir -p "$m/t/r/f"
echo x >"$m/t/r/f/q"
stop_mount
check "read-only" ./mount.fuse.tabletfs "$store" "$m" -o ro
daemon=$(find_daemon)
same "it is read" x "$(cat "$m/t/r/f/q")"
errno EROFS touch "$m/t/r/f/other"
same "the mount tells the version" "tabletfs $version" \
	"$(cat "$m/.tabletfs/version")"
stop_mount

# Readiness, as systemd is told of it.
check "sd_notify" python3 - "$TABLETFS" "$store" "$m" <<'PYTHON'
import os, signal, socket, subprocess, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
    s.bind("notify")
    s.settimeout(20)
    p = subprocess.Popen([sys.argv[1], "mount", "-f", sys.argv[2], sys.argv[3]],
                         env={**os.environ, "NOTIFY_SOCKET": os.path.abspath("notify")},
                         stdout=subprocess.DEVNULL)
    told = b""
    while b"READY=1" not in told:
        told += s.recv(4096)
    assert os.path.ismount(sys.argv[3])
    p.send_signal(signal.SIGTERM)
    while b"STOPPING=1" not in told:
        told += s.recv(4096)
    assert p.wait(20) == 0
PYTHON

# Completion.
# completes FUNCTION WORD...: what the last word may become.
completes() {
	bash -c 'shift; . "$0"; function=$1; shift; COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1)); $function 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' \
		"$root/share/bash-completion/completions/tabletfs" - "$@" |
		LC_ALL=C sort | xargs
}
words() {
	completes _tabletfs tabletfs "$@"
}
PATH=$(dirname "$TABLETFS"):$PATH
same "verbs are completed" "create createfamily createtable" "$(words create)"
check "mount" start_mount
mkdir -p "$m/u" "$m/t/phone#4c#1/f" "$m/t/phone#4d#2/g" "$m/t/other/f"
for d in "phone#4c#1/f" "phone#4d#2/g" other/f; do echo 1 >"$m/t/$d/q"; done
same "verbs after a store" "deletefamily" \
	"$(words -store "$store" deletefa)"
same "tables" "t u" "$(words -store "$store" read "")"
same "what takes none" "" "$(words -store "$store" mounts "")"
same "nor is one for create" "" "$(words -store "$store" create "")"
same "families" "f g" "$(words -store "$store" deletefamily t "")"
same "one that begins so" g "$(words -store "$store" setgcpolicy t g)"
same "options of mount" "commit=" "$(words mount -o com)"
# In a mount, for any command: what is not listed, and segments of keys.
path() {
	completes _tabletfs_paths cat "$1"
}
same "control names of a table" "$m/t/.scan/ $m/t/.schema/ $m/t/.stats" \
	"$(path "$m/t/.s")"
same "of a row" "$m/t/other/.row.jsonl" "$(path "$m/t/other/.r")"
same "of a family" "$m/t/other/f/.versions/" "$(path "$m/t/other/f/.")"
same "of the root" "$m/.tabletfs/" "$(path "$m/.")"
same "only where they are" "" "$(path "$m/t/other/f/.s")"
same "segments of a prefix" "$m/t/.scan/prefix/phone#4c#/ \
$m/t/.scan/prefix/phone#4d#/" "$(path "$m/t/.scan/prefix/phone#4")"
same "the first ones" "$m/t/.scan/prefix/other/ \
$m/t/.scan/prefix/phone#/ $m/t/.scan/prefix/r/" "$(path "$m/t/.scan/prefix/")"
same "outside a mount nothing" "" "$(path "$work/.s")"
# Steps are what a shell lists by itself.
same "steps" "regex/ reverse/" "$(cd "$m/t/.scan" && compgen -f -S / re |
	sort | xargs)"
