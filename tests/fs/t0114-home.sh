#!/bin/bash
# What a user installs below a home: all of it is there, works from there, needs
# no root, and is gone after make uninstall.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
top=$(cd "$here/../.." && pwd)
chmod 755 "$work"
mkdir home
run= prefix=$work/home/.local
if [ "$(id -u)" = 0 ]; then
	chown 1001:1001 home
	run="setpriv --reuid 1001 --regid 1001 --clear-groups"
	# A tree that the user can read.
	if ! $run test -r "$top/Makefile"; then
		skip_all "the tree is root's alone"
	fi
fi
HOME=$work/home
export HOME
made() {
	$run make -s -C "$top" "$@" B="$(dirname "$TABLETFS")"
}
# Who lacks packages and sudo is told what root has to do.
echo no-such-package >list
if ! command -v sudo >/dev/null && [ -n "$run" ]; then
	status 1 "packages are missing" $run "$top/tools/install-packages" list
	told "As root: apt-get install no-such-package"
	same "in one sentence" 1 "$(cat out err | wc -l)"
fi
check "make install" made install-files PREFIX=$HOME/.local >/dev/null
for file in bin/tabletfs share/man/man1/tabletfs.1 share/man/man5/tabletfs.5 \
	share/bash-completion/completions/tabletfs \
	share/zsh/site-functions/_tabletfs share/systemd/user/tabletfs@.service \
	share/doc/tabletfs/start.md sbin/mount.fuse.tabletfs; do
	check "$file" test -s "$prefix/$file"
done
PATH=$prefix/bin:$PATH
same "it is found" "$prefix/bin/tabletfs" "$(command -v tabletfs)"
check "it runs" $run tabletfs help start >/dev/null
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
	check "so is its manual" env -u MANPATH man -w 5 tabletfs >/dev/null
fi
unit=$prefix/share/systemd/user/tabletfs@.service
check "the unit is of the user" grep -q "^ExecStart=$prefix/bin/tabletfs" "$unit"
refuse "and names none" grep -q '^User=' "$unit"
check "it is wanted by what a user has" grep -qx WantedBy=default.target "$unit"
if command -v systemd-analyze >/dev/null; then
	same "systemd has nothing against it" "" "$(XDG_RUNTIME_DIR=$work \
		systemd-analyze --user verify "$unit" 2>&1 | grep 'tabletfs@')"
fi
check "the same, with a word that not every shell knows" \
	made install-files 'PREFIX=~/.local' >/dev/null
same "which is no directory" "" "$(find "$top" home -maxdepth 1 -name '~*')"

# Commands need nothing of the system.
export TABLETFS_STORE=$work/home/store
check "a table" $run tabletfs createtable t families=f
check "a cell" $run tabletfs set t r f:q=v
same "it is read" 1 "$($run tabletfs count t)"

check "make uninstall" made uninstall PREFIX=$HOME/.local
same "nothing is left but what is the user's" "home/store" \
	"$(find home -type f | cut -d/ -f 1,2 | sort -u)"
same "nor a link" "" "$(find home -type l)"
