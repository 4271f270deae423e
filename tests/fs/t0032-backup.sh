#!/bin/bash
# Backups of a store that is mounted and goes on to change, and of one that is
# not; they open for writing and hold what was there.
. "$(dirname "$0")/lib.sh"
export TABLETFS_STORE=$store

dump() { "$TABLETFS" -store "$1" read t; }

start_mount
"$TABLETFS" createtable t families=f
for i in 1 2 3 4 5; do "$TABLETFS" set t "row$i" f:q="value $i"; done
"$TABLETFS" compact
head -c 300000 /dev/urandom >large
mkdir -p "$m/t/row6/f"
cp large "$m/t/row6/f/large"
sync "$m/t/row6/f/large"
"$TABLETFS" read t >before
check "a backup through the mount" "$TABLETFS" backup online
refuse "its place is taken" "$TABLETFS" backup online
rm -r "$m/t/row2"
echo new >"$m/t/row1/f/q"
"$TABLETFS" compact
same "the backup is as the store was" "$(cat before)" "$(dump online)"
check "and nothing is wrong with it" "$TABLETFS" -store online check
check "it can be written" "$TABLETFS" -store online set t row9 f:q=nine
check "which the store does not see" \
	sh -c "! '$TABLETFS' read t | grep -q nine"
stop_mount

# Restoring is a backup of the backup, to where the store was.
mv "$store" lost
check "restoring" "$TABLETFS" -store online backup "$store"
start_mount
same "a row of before" "value 2" "$(cat "$m/t/row2/f/q")"
check "a large value" cmp large "$m/t/row6/f/large"
stop_mount
check "nothing is wrong" "$TABLETFS" check

# To another file system files are copied.
if [ -d /dev/shm ] && other=$(mktemp -d /dev/shm/tabletfs-test.XXXXXX); then
	check "a backup elsewhere" sh -c \
		"'$TABLETFS' backup '$other/copy' | grep -q '^0 files linked'"
	same "has it all" "$("$TABLETFS" read t | md5sum)" \
		"$(dump "$other/copy" | md5sum)"
	rm -r "$other"
fi
errno ENOENT "$TABLETFS" backup "$work/no/such/place"
