#!/bin/bash
# The units for tabletfs serve: systemd has nothing against them, and what they run
# is started by the first connection to a socket that is handed over, says when it
# is ready, and ends well with all that was answered. systemd itself starts them in
# make check-deb.
fs_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TABLETFS=${TABLETFS:-$(cd "$fs_tests/../.." && pwd)/build/tabletfs}
. "$fs_tests/../lib.sh"
. "$fs_tests/serve.sh"
top=$(cd "$fs_tests/../.." && pwd)

at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

install_to() {
	make -s -C "$top" "$1" DESTDIR="$work/root" \
		B="$(dirname "$TABLETFS")" >/dev/null
}
check "they are installed" install_to install-files
units=$work/root/usr/local/lib/systemd/system
for unit in tabletfs-serve@.service tabletfs-serve@.socket; do
	check "$unit is" [ -s "$units/$unit" ]
	refuse "with its places filled in" grep -q '^[^#].*@[A-Z]' "$units/$unit"
done
line=$(sed -n 's/^ExecStart=//p' "$units/tabletfs-serve@.service" |
	sed "s,/usr/local/bin/tabletfs,$TABLETFS,")
variables=$(sed -n 's/^Environment=//p' "$units/tabletfs-serve@.service" |
	sed "s,%S,$work/lib,g; s,%i,shop,g")

if command -v systemd-analyze >/dev/null; then
	mkdir units
	for kind in service socket; do
		sed "s,/usr/local/bin/tabletfs,$TABLETFS,; s,^Doc.*,," \
			"$units/tabletfs-serve@.$kind" \
			>"units/tabletfs-serve@shop.$kind"
	done
	same "systemd has nothing against them" "" \
		"$(cd units && systemd-analyze verify ./*.service ./*.socket 2>&1 |
			grep 'tabletfs-serve')"
else
	skip "there is no systemd-analyze"
fi
check "they are removed" install_to uninstall
same "to the last" "" "$(find "$work/root" -name '*serve@*')"

command -v systemd-socket-activate >/dev/null ||
	skip_all "there is no systemd-socket-activate"
data=/google.bigtable.v2.Bigtable
admin=/google.bigtable.admin.v2.BigtableTableAdmin
t=projects/p/instances/i/tables/t
mkdir -p lib/tabletfs/shop
address=unix:$work/socket

# listening: as systemd with the socket, which waits for a connection.
listening() {
	local i
	eval "$variables"
	rm -f socket
	systemd-socket-activate -l "$work/socket" -E NOTIFY_SOCKET \
		$(eval "echo $line") >out 2>err &
	server=$!
	for i in $(seq $((100 * ${SLOW:-1}))); do
		[ -S socket ] && return
		sleep 0.1
	done
	return 1
}
check "a socket is listened on" listening
check "by nobody yet" [ ! -e lib/tabletfs/shop/store ]
check "the first call starts the server" "$wire" "$address" $admin/CreateTable \
	1=projects/p/instances/i 2=t 3{ 3{ 1=f 2{ } } } >/dev/null
check "on its store" [ -d lib/tabletfs/shop/store ]
check "it says where" grep -qF "export BIGTABLE_EMULATOR_HOST=$address" out
check "a write" "$wire" "$address" $data/MutateRow 1=$t 2=row1 \
	3{ 1{ 1=f 2=q 3:1000 4=value1 } } >/dev/null
check "it ends well" stop
same "what was written is there" value1 "$("$TABLETFS" -store \
	lib/tabletfs/shop/store lookup t row1 | grep -o value1)"

# Systemd's part: the next connection after a stop starts the next server.
check "it is listened on again" listening
same "for the next" value1 "$("$wire" "$address" $data/ReadRows 1=$t |
	grep -o value1)"
check "it ends well, too" stop

# It says when it may be used, and where that is.
if command -v python3 >/dev/null; then
	cat >told.py <<'END'
import os, signal, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('notify')
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL,
                     env=dict(os.environ, NOTIFY_SOCKET=os.getcwd() + '/notify'))
print(s.recv(4096).decode().replace('\n', ' '))
p.send_signal(signal.SIGTERM)
print(s.recv(4096).decode())
sys.exit(p.wait())
END
	told=$(python3 told.py "$TABLETFS" serve told.store listen=unix:told)
	check "it is ready, and stops" grep -qzx \
		"READY=1 STATUS=told.store is served at unix:.*told.STOPPING=1." \
		<<<"$told"
else
	skip "there is no python3"
fi
