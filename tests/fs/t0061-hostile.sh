#!/bin/bash
# What other users may do to who uses a store, and to each other: nothing.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || { skipped=1; exit 0; }
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
chmod 755 "$work"
mkdir -m 1777 public
marker='TabletFS store, format 1\n'

# Links in a store's directory are not followed, by no command, whoever made
# the directory.
for who in "" "$nobody"; do
	for link in lock tabletfs.tmp root.tmp tabletfs root; do
		rm -rf public/* victim
		echo precious >victim
		$who mkdir public/store
		[ "$link" = tabletfs.tmp ] || [ "$link" = tabletfs ] ||
			printf "$marker" | $who tee public/store/tabletfs >/dev/null
		$who ln -s "$work/victim" "public/store/$link"
		timeout 10 "$TABLETFS" -store public/store createtable t \
			>out 2>&1 && [ "$who" ] && fail "$link of another: $(cat out)"
		timeout 10 "$TABLETFS" -store public/store ls >out 2>&1
		timeout 10 "$TABLETFS" mount public/store "$m" >out 2>&1 &&
			"$TABLETFS" umount "$m"
		same "through $link of ${who:-root}" precious "$(cat victim)"
	done
done
rm -rf public/*
$nobody "$TABLETFS" -store public/store createtable t families=f
refuse "a directory of another user" "$TABLETFS" -store public/store ls
check "whose it is, and what to do: $("$TABLETFS" -store public/store ls 2>&1)" \
	sh -c "'$TABLETFS' -store public/store ls 2>&1 |
		grep -q 'belongs to user 65534'"
refuse "nor to be mounted" "$TABLETFS" mount public/store "$m"
same "its owner has it" t "$($nobody "$TABLETFS" -store public/store ls)"
mkfifo public/store/999999.sst
check "a pipe among its files makes nobody wait" \
	timeout 10 $nobody "$TABLETFS" -store public/store check
