#!/bin/bash
# A mount that follows: it reads beside who writes the store, always a prefix of
# that, as old as it says, while files come and go and owners end.
. "$(dirname "$0")/lib.sh"

f1=$work/f1 f2=$work/f2
mkdir "$f1" "$f2"
at_end() {
	umount -l "$f1" "$f2" 2>/dev/null
	stop_mount 2>/dev/null
}
pid_at() { sed -n 's/^daemon_pid //p' "$1/.tabletfs/stats"; }
# figure MOUNT NAME: of its stats.
figure() { sed -n "s/^$2 //p" "$1/.tabletfs/stats"; }
# shows WANTED SECONDS COMMAND...: prints it within so long.
shows() {
	local wanted=$1 until=$((SECONDS + $2 + 1))
	shift 2
	while [ "$("$@" 2>/dev/null)" != "$wanted" ]; do
		((SECONDS < until)) || return 1
		sleep 0.05
	done
}
follow() { "$TABLETFS" mount $stale -o follow "$@"; }

# What is wrong is told.
refuse "where there is no store" follow "$store" "$f1" 2>err
check "and none is made" [ ! -e "$store" ]
for word in serve=127.0.0.1:0 quota=1G sync reader-grace=1s; do
	status 1 "follow,$word" follow -o $word "$store" "$f1"
	told "does not go with follow"
done
status 1 "a wrong time" follow -o staleness=1ms "$store" "$f1"
told "staleness=1ms"

# Beside the owner, whose files stay for a while.
start_mount -o reader-grace=30s
mkdir -p "$m/t/row/f" "$m/gone/row/f"
echo one >"$m/t/row/f/q"
check "followed" follow "$store" "$f1"
check "twice" follow -o staleness=400ms "$store" "$f2"
same "what was there" one "$(cat "$f1/t/row/f/q")"
same "staleness is told" "2000000 400000" \
	"$(figure "$f1" follow_staleness_us) $(figure "$f2" follow_staleness_us)"
echo two >"$m/t/row/f/q"
check "a change is seen" shows two 2 cat "$f1/t/row/f/q"
check "by the other, too" shows two 1 cat "$f2/t/row/f/q"
check "the age is told" [ "$(figure "$f2" follow_age_us)" -lt 400000 ]
check "as metrics, too" awk '/^tabletfs_follow_age_seconds/ && $2 < 0.4 { n++ }
	/^tabletfs_follow_looks_total/ && $2 > 1 { n++ } END { exit n != 2 }' \
	"$f2/.tabletfs/metrics"
check "and the sequence" [ "$(figure "$f2" follow_sequence)" -gt 3 ]
same "mounts names their daemons" "$(pid_at "$f1") $(pid_at "$f2")" \
	"$("$TABLETFS" mounts | awk -F'\t' -v a="$f1" -v b="$f2" \
		'$2 == a { x = $3 } $2 == b { print x, $3 }')"
ls "$f1/t/row/f" >/dev/null
echo 1 >"$m/t/row/f/new"
check "a name that comes" shows "new q" 2 sh -c "cd $f1/t/row/f && echo *"
rm "$m/t/row/f/new"
check "and goes" shows q 2 sh -c "cd $f1/t/row/f && echo *"
exec 3<"$f1/t/row/f/q"
head -c 300000 /dev/urandom >noise
cp noise "$m/t/row/f/q"
check "a large value" shows "$(sha256sum <noise)" 2 \
	sh -c "sha256sum <$f1/t/row/f/q"
echo three >"$m/t/row/f/q"
same "who has it open goes on with that" two "$(cat <&3)"
exec 3<&-
"$TABLETFS" -store "$store" deletetable gone
check "a table that goes" shows t 2 ls "$f1"
errno EROFS touch "$f1/t/row/f/x"
errno EROFS mkdir "$f1/u"
status 1 "a command that writes" "$TABLETFS" -store "$f1" set t row f:q=1
told "only reads $store"
same "a command that reads" 1 "$("$TABLETFS" -store "$f1" count t)"
same "all of them" "no problem found" "$("$TABLETFS" -store "$f1" check)"
same "without a mount, too" 1 "$("$TABLETFS" -follow -store "$store" count t)"
same "of where it is mounted" 1 \
	"$("$TABLETFS" -follow -store "$m" lookup t row | grep -c '"three')"
status 1 "which only reads" "$TABLETFS" -follow -store "$store" set t row f:q=1
told "-follow only reads $store"
status 1 "a store" "$TABLETFS" -follow -store "$store" mount "$store" "$f2"
told "mount reads none"
mkdir "$work/other"
"$TABLETFS" create "$work/other/store"
mv "$store" "$work/moved" && mv "$work/other/store" "$store"
status 1 "a command where another store is by now" \
	"$TABLETFS" -store "$f1" count t
told "not at $store any more"
sleep 2
errno ESTALE cat "$f1/t/row/f/q"
mv "$store" "$work/other/store" && mv "$work/moved" "$store"
check "and it is shown again" shows three 3 cat "$f1/t/row/f/q"

# Rows in order, in commits of two rows each, with times; an import and merges
# beside. At each look a prefix, no older than is allowed.
python3 "$fs_tests/prefix.py" write "$m" done 14 &
writer=$!
sleep 0.5
(
	value=$(printf 'v%.0s' {1..80})
	for i in 1 2 3 4 5 6 7 8; do
		{
			printf ',f\n,q\n'
			seq -f "i$i-%07g,$value" 1 30000
		} >rows.csv
		T import t rows.csv quiet=yes && T compact || echo "import $i"
	done
) >imported 2>import_err &
merger=$!
# A long scan beside it all, read slowly.
check "there is much to scan" shows "i1-0030000" 10 \
	sh -c "ls $f2/t | grep i1-0030000"
(
	exec 4<"$f2/t/.scan/csv"
	lines=0
	while IFS= read -r line <&4; do
		((lines++ % 2000)) || sleep 0.1
	done
	echo "$lines"
) >scanned 2>scan_err &
scanner=$!
python3 "$fs_tests/prefix.py" read "$f1" done 2.3 10 >reader1 2>&1 &
r1=$!
python3 "$fs_tests/prefix.py" read "$f2" done 0.8 10 >reader2 2>&1
status=$?
same "a prefix, and fresh: $(tail -n 1 reader2)" 0 $status
wait $r1
status=$?
same "the other: $(tail -n 1 reader1)" 0 $status
wait $writer
same "the writer ends well" 0 $?
wait $merger
same "imports ended well" "" "$(cat imported)"
wait $scanner
same "a long scan ends well" 0 $?
same "without an error" "" "$(cat scan_err)"
check "and saw what there was: $(cat scanned)" [ "$(cat scanned)" -gt 30000 ]
check "nothing went wrong" [ ! -s "$f2/.tabletfs/errors" ]

# The owner is killed, and another one comes, twice.
for i in 1 2; do
	echo "before $i" >"$m/t/row/f/q"
	kill -9 "$daemon"
	fusermount3 -uz "$m"
	await_end
	check "what it took is there" shows "before $i" 2 cat "$f1/t/row/f/q"
	sleep 0.5
	check "with no owner, as new as ever" \
		[ "$(figure "$f2" follow_age_us)" -lt 400000 ]
	start_mount
	echo "after $i" >"$m/t/row/f/q"
	check "another one writes" shows "after $i" 2 cat "$f1/t/row/f/q"
	check "for both" shows "after $i" 1 cat "$f2/t/row/f/q"
done

# Where it cannot be read it is not told as new.
mv "$store/root" "$work/root.away"
sleep 1
errno ESTALE cat "$f2/t/row/f/q"
mv "$work/root.away" "$store/root"
check "until it can" shows "after 2" 2 cat "$f2/t/row/f/q"
check "with a sentence" grep -q "staleness=400ms" "$f2/.tabletfs/errors"

umount "$f1" "$f2"
stop_mount
same "the store is sound" "no problem found" "$(T check)"
check "it is followed where nobody has it" follow "$store" "$f1"
same "as it is" "after 2" "$(cat "$f1/t/row/f/q")"
printf x >>"$store/root"
umount "$f1"
status 1 "a damaged root" follow "$store" "$f1"
told "root"
