#!/bin/bash
# What make install puts where, and what mount(8) calls.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
top=$(cd "$here/../.." && pwd)
check "make install" make -s -C "$top" install-files DESTDIR="$work/root" \
	B="$(dirname "$TABLETFS")" >/dev/null
root=$work/root/usr/local
for file in bin/tabletfs share/man/man1/tabletfs.1 share/man/man5/tabletfs.5 \
	share/bash-completion/completions/tabletfs \
	lib/systemd/system/tabletfs@.service; do
	check "$file" test -s "$root/$file"
done
check "the unit names the program" grep -q "/usr/local/bin/tabletfs mount -f" \
	"$root/lib/systemd/system/tabletfs@.service"
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
	for page in 1 5; do
		same "man page $page has no fault" "" "$(man --warnings -l \
			"$root/share/man/man$page/tabletfs.$page" 2>&1 >/dev/null)"
	done
fi
# Every verb is in the manual.
for verb in $("$TABLETFS" help 2>&1 |
	sed -n 's/^tabletfs \([a-z]*\) .*/\1/p'); do
	case $verb in help | version) continue ;; esac
	check "$verb is in the manual" grep -q "\b$verb\b" \
		"$root/share/man/man1/tabletfs.1"
done

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
completes() {
	bash -c '. "$1"; COMP_WORDS=(tabletfs "$2"); COMP_CWORD=1; _tabletfs
		echo "${COMPREPLY[@]}"' - \
		"$root/share/bash-completion/completions/tabletfs" "$1"
}
PATH=$(dirname "$TABLETFS"):$PATH
same "verbs are completed" "createfamily createtable" \
	"$(completes create | tr ' ' '\n' | sort | xargs)"
