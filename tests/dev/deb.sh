#!/bin/bash
# The Debian package: what is in it runs from there, what it depends on is what
# the program is linked with, and uninstall leaves nothing of install.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
command -v dpkg-shlibdeps >/dev/null || skip_all "without dpkg-dev"
command -v strip >/dev/null || skip_all "without binutils"
[ -z "${SAN:-}" ] || skip_all "with a sanitizer"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL T SEED B
version=$(sed '1s/.*(\(.*\)).*/\1/; q' "$top/tools/package/changelog")

VERSION=$version "$top/tools/package/deb" >made 2>message ||
	fail "it is made: $(cat message)"
deb=$top/$(tail -n 1 made)
same "its version" "$version" "$(dpkg-deb -f "$deb" Version)"
for library in libc6 libfuse3-3 liblz4-1 libisal2 libyajl2 libpcre2-8-0 \
	libsystemd0 libnghttp2-14 fuse3; do
	check "it depends on $library" grep -qw -- "$library" \
		<<<"$(dpkg-deb -f "$deb" Depends)"
done
dpkg-deb -x "$deb" root
check "the program in it runs" root/usr/bin/tabletfs version
same "the helper of mount is the program" "$(realpath root/usr/bin/tabletfs)" \
	"$(realpath root/usr/sbin/mount.fuse.tabletfs)"
for page in 1/tabletfs.1 5/tabletfs.5 8/mount.fuse.tabletfs.8; do
	check "page $page" zgrep -q '^.TH' "root/usr/share/man/man$page.gz"
done
check "the unit starts what is installed" grep -q '^ExecStart=/usr/bin/tabletfs' \
	root/lib/systemd/system/tabletfs@.service
check "all is root's" [ -z "$(dpkg-deb -c "$deb" | grep -v ' root/root ')" ]
check "nobody else may write" [ -z "$(find root -perm /022 ! -type l)" ]
same "sums" "" "$(dpkg-deb -e "$deb" control &&
	(cd root && md5sum --quiet -c ../control/md5sums 2>&1))"

make -s -C "$top" install-files DESTDIR="$work/all" PREFIX=/opt/t >/dev/null
check "install puts things there" [ -x all/opt/t/bin/tabletfs ]
make -s -C "$top" uninstall DESTDIR="$work/all" PREFIX=/opt/t >/dev/null
same "what uninstall leaves" "" "$(find all ! -type d)"
