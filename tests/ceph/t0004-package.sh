#!/bin/bash
# The plugin is a package of its own, and the program's goes without it.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
[ -n "$(command -v dpkg-shlibdeps)" ] || skip_all "dpkg-dev is not there"
# made KIND: the package of this kind.
made() {
	ls "$top/$B/deb/$1"_*.deb
}
check "make deb" make -C "$top" --no-print-directory deb B="$B" >log
same "two packages" 2 "$(grep -c '_.*\.deb$' log)"
same "the program's has no plugin" "" \
	"$(dpkg-deb -c "$(made tabletfs)" | grep rados)"
refuse "and does not need it" sh -c "dpkg-deb -f '$(made tabletfs)' Depends |
	grep rados"
same "the plugin's has it" ./usr/lib/tabletfs/tabletfs-rados.so \
	"$(dpkg-deb -c "$(made tabletfs-rados)" | awk '$1 ~ /^-/ { print $6 }')"
check "and needs librados2, and the program of its version" sh -c \
	"dpkg-deb -f '$(made tabletfs-rados)' Depends |
	grep 'tabletfs (= .*librados2 '"
dpkg-deb -x "$(made tabletfs)" there && dpkg-deb -x "$(made tabletfs-rados)" there
unset TABLETFS_PLUGINS
out=$(CEPH_CONF=/nowhere there/usr/bin/tabletfs -store rados:p/n read t 2>&1)
check "where it is installed it is found: $out" grep -q CEPH_CONF <<<"$out"
rm -r there/usr/lib/tabletfs
out=$(there/usr/bin/tabletfs -store rados:p/n read t 2>&1)
check "without it, it is told what is missing: $out" \
	grep -q "has no tabletfs-rados.so" <<<"$out"
