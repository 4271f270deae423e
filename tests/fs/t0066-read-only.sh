#!/bin/bash
# Opening to read changes nothing and needs no room: on a read-only disk, on a
# full one, after a kill, beside others who read.
. "$(dirname "$0")/lib.sh"

# Names, sizes, times and bytes of all files of the store.
picture() { (cd "$store" && stat -c '%n %s %Y %Z' . * && sha256sum *); }

disk=$work/disk locked=$work/locked m2=$work/mnt2
mkdir "$disk" "$locked" "$m2"
if ! mount -t tmpfs -o size=64m none "$disk" 2>/dev/null; then
	skipped=1
	exit 0
fi
at_end() {
	stop_mount 2>/dev/null
	umount -l "$m2" "$locked" "$disk" 2>/dev/null
}
store=$disk/store
tabletfs() { "$TABLETFS" -store "$from" "$@"; }

refuse "no store is made to be read" "$TABLETFS" mount -o ro "$store" "$m" \
	2>/dev/null
check "nor a directory" [ ! -e "$store" ]

# What a killed daemon leaves: values in the log alone, a large one, an edit log
# and, at the end of the log, a piece of a write.
start_mount
mkdir -p "$m/t/row/f"
for i in $(seq 40); do echo "value $i" >"$m/t/row/f/q$i"; done
head -c 300000 /dev/urandom >noise
cp noise "$m/t/row/f/large"
kill -9 "$daemon"
fusermount3 -uz "$m"
await_end
printf 'part of a write' >>"$(ls "$store"/*.log | tail -n 1)"
: >"$store/00000001-00000099.sst.tmp"
dd if=/dev/zero of="$disk/ballast" bs=1M 2>/dev/null
mount -o bind "$store" "$locked" && mount -o remount,bind,ro "$locked"
picture >before

for from in "$store" "$locked"; do
	same "count on $from" 1 "$(tabletfs count t 2>message)"
	check "a torn tail is told" grep -q 'passed over 15 bytes' message
	same "ls" t "$(tabletfs ls 2>/dev/null)"
	same "lookup" '"value 7\n"' \
		"$(tabletfs lookup t row columns=f:q7 2>/dev/null |
			grep -o '".*"')"
	same "read" 41 "$(tabletfs read t 2>/dev/null | grep -c '^  [^ ].* @ ')"
	same "samplekeys" 1 "$(tabletfs samplekeys t 2>/dev/null | wc -l)"
	check "stats" sh -c "'$TABLETFS' -store '$from' stats 2>/dev/null |
		grep -q '^tables 1'"
	same "check" "no problem found" "$(tabletfs check 2>/dev/null)"
	check "repair" tabletfs repair "$work/repaired" >/dev/null
	rm -r "$work/repaired"
done
picture >after
check "nothing was changed by them" cmp before after

# Two mounts, and commands beside them.
from=$store
check "mounted to be read" "$TABLETFS" mount -o ro "$locked" "$m2"
check "twice" start_mount -o ro
check "what was written is there" cmp noise "$m/t/row/f/large"
check "in both" cmp noise "$m2/t/row/f/large"
same "and for a command" 1 "$(tabletfs count t 2>/dev/null)"
for change in "touch $m/t/row/f/new" "mkdir $m/u" "rm $m/t/row/f/q1" \
	"mv $m/t/row/f/q1 $m/t/row/f/q2" "truncate -s 1 $m/t/row/f/q1"; do
	errno EROFS $change
done
"$TABLETFS" mounts | cut -f 1-3 | grep "^$store" >listed
same "mounts names the daemon" "$store	$m	$daemon" "$(cat listed)"
timeout 3 "$TABLETFS" -store "$store" set t row f:q=1 2>message
same "a command that writes waits" 124 $?
same "and says for whom" "tabletfs: waiting for the end of a process that only \
reads it, which has store $store" "$(cat message)"
stop_mount
check "umount of one waits for no other" timeout 5 "$TABLETFS" umount "$m2"
picture >after
check "nothing was changed by mounts" cmp before after

# Who writes keeps readers out.
umount "$locked"
rm "$disk/ballast"
start_mount
if out=$("$TABLETFS" mount -o ro "$store" "$m2" 2>&1); then
	fail "it was mounted to be read beside a writer"
else
	check "and told: $out" grep -q "in use by pid $daemon" <<<"$out"
fi
same "a command that reads asks the daemon" 1 "$(tabletfs count t)"
stop_mount
same "the store is sound" "no problem found" "$(tabletfs check)"
rm "$store/lock"
same "without a lock file nobody writes" 1 "$(tabletfs count t)"
check "and none is made" [ ! -e "$store/lock" ]
