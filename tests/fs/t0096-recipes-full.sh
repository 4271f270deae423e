#!/bin/bash
# Recipes on a full disk: one is stored whole or refused, and the former stays;
# what they take is not the room that deletions have.
. "$(dirname "$0")/lib.sh"

small=$work/small
mkdir "$small"
if ! mount -t tmpfs -o size=16m none "$small" 2>/dev/null; then
	skipped=1
	exit 0
fi
# Before what lib.sh does at the end.
trap 'stop_mount 2>/dev/null; umount -l "$small"; finish' EXIT
store=$small/store
export TABLETFS_STORE=$store

# A recipe of some 60 KiB, another for each number.
recipe() {
	printf 'key {a}\nset f:b {b}\n'
	seq -f "# $1 %055.0f" 1000
}

start_mount
mkdir -p "$m/gone/row/f" "$m/t" "$m/t2" "$m/t3" "$m/t4"
r=$m/t/.recipes
recipe 0 >kept
cp kept "$r/kept"
head -c 100000 /dev/urandom >"$m/gone/row/f/value"
head -c 64m /dev/zero >"$small/ballast" 2>/dev/null
# In place of itself: taken or not, it is one or the other.
recipe 1 >new
for i in $(seq 10); do
	if cp new "$r/kept" 2>message; then cp new kept; fi
	check "it is whole: $(cat message)" cmp kept "$r/kept"
	recipe "$i" >new
done
# More and more.
taken=0
for t in t2 t3 t4; do
	for i in $(seq 14); do
		cp kept "$m/$t/.recipes/r$i" 2>message || break 2
		taken=$((taken + 1))
	done
done
echo "$taken more were taken: $(cat message)"
[ "$taken" = 42 ] || check "then there was no space" \
	grep -q "No space left on device" message
same "what was taken is there" "$taken" \
	"$(cat "$m"/t[234]/.recipes/* | grep -c key)"
check "rows are deleted" rm -r "$m/gone/row"
check "a table is dropped" "$TABLETFS" deletetable gone
check "a recipe is removed" rm "$r/kept"
same "and is gone" "" "$(ls "$r")"
remount
same "after a remount, too" "" "$(ls "$r")"
rm "$small/ballast"
check "with space again one is stored" cp kept "$r/kept"
check "and is whole" cmp kept "$r/kept"
check "nothing is damaged" "$TABLETFS" check
