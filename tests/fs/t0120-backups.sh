#!/bin/bash
# Directories of backups, of a store that is mounted, served or free: each holds
# its moment, later ones copy what is new, also on another file system; kills and
# a full disk leave what was there; stores and tables come back as they were.
#
# Alone: its namespaces of mounts keep those of others.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	stop_mount 2>/dev/null
	[ -z "$other" ] || rm -rf "$other"
	umount -l "$work/tiny" 2>/dev/null
}
other=
export TABLETFS_STORE=$store

# state STORE: what it shows, as one hash.
state() { "$TABLETFS" -store "$1" dump | sha1sum; }

# number N: the N-th number of what the last backup said.
number() {
	sed -n 's/^[^:]*: //p' out | grep -oE '[0-9]+' | sed -n "${1}p"
}

# write N: rows, of which all are new, and a few large values.
write() {
	for i in $(seq 100); do
		printf '{"row":"r%s","set":{"f":{"q":"%s %s"}}}\n' "$i" "$1" \
			"$RANDOM"
	done >"$m/t/.mutate"
	head -c 200000 /dev/urandom >"$m/t/row/f/large$(($1 % 3))"
	sync "$m/t/row/f/large$(($1 % 3))"
}

start_mount
T createtable t families=f,g:maxversions=2 || exit 1
mkdir -p "$m/t/row/f"
write 0
status 0 "a first backup" T backup backups
same "copies all" 0 "$(($(number 1) + $(number 2)))"
all=$(number 5)
first=$(ls -d backups/2*)
first=${first#*/}
was=$(state "backups/$first")
same "it is as the store is" "$(state "$m")" "$was"
T set t one f:q=1
status 0 "a second" T backup backups
check "shares what is there: $(number 1)" [ "$(number 1)" -ge 1 ]
check "and copies little: $(number 5) of $all" [ $((10 * $(number 5))) -lt "$all" ]
same "latest is it" "$(state "$m")" "$(state backups/latest)"
same "the first is as it was" "$was" "$(state "backups/$first")"
same "they are listed" "$(ls backups | grep ^2)" \
	"$("$TABLETFS" backups backups | cut -f 1)"
check "with sizes" sh -c "'$TABLETFS' backups backups |
	awk -F '\t' '\$2 < \$3 || \$3 == 0 { exit 1 }'"
check "of which the second has little of its own" \
	sh -c "'$TABLETFS' backups backups | tail -n 1 |
	awk -F '\t' '\$3 * 10 > \$2 { exit 1 }'"
check "the backup is sound" "$TABLETFS" -store backups/latest check

# A file that is damaged is not handed on.
cp -a backups spoilt
file=$(ls spoilt/latest/*.sst | head -n 1)
truncate -s 100 "$file"
status 0 "a backup after damage" T backup spoilt
told "1 files of the backup before are damaged, such as ${file##*/}"
same "has all" "$(state "$m")" "$(state spoilt/latest)"
status 1 "it is looked for in all" "$TABLETFS" backups spoilt verify=yes
same "and found in the others" "damaged damaged " \
	"$(awk -F '\t' '{ printf "%s ", $4 }' out | sed 's/  *$/ /')"
told "${file##*/}: has 100 bytes"
status 0 "those are sound" "$TABLETFS" backups backups verify=yes
newest=spoilt/$(ls spoilt | grep '^2' | tail -n 1)
rm -f "$newest/digests"
status 1 "a check of one without digests" "$TABLETFS" -store "$newest" check
check "names them" grep -q "digests is missing" out
status 1 "verify is yes or no" "$TABLETFS" backups backups verify=1
told "verify=1: neither yes nor no"
echo "TabletFS store, format 99" >"spoilt/$first/tabletfs"
status 0 "one of a newer release" "$TABLETFS" backups spoilt
same "hides no other" "cannot be read" "$(cut -f 4 out | head -n 1)"
same "of three" 3 "$(wc -l <out)"
status 0 "nor keeps a backup" T backup spoilt keep=1
told "1 older backups stay: "
rm -r spoilt

# What is wrong is told before anything is done.
"$TABLETFS" -store "$work/elsewhere" createtable t
status 1 "another store is refused" "$TABLETFS" -store "$work/elsewhere" backup backups
told "$(sed -n 2p backups/backups)"
told "and this is store "
status 1 "a store is no place for backups" T backup "$work/elsewhere"
told "is a store"
mkdir mine && touch mine/file
status 1 "nor is what holds anything else" T backup mine
told "such as file"
same "which stays" file "$(ls -A mine)"
status 1 "keep is a number" T backup backups keep=0
told "keep=0: not a number from 1"
status 1 "link is yes or no" T backup backups link=1
told "link=1: neither yes nor no"
status 1 "nothing twice" T backup backups keep=1 keep=2
status 1 "no other words" T backup backups keeep=1
status 1 "a moment that is gone" \
	"$TABLETFS" restore-from backups@19990101 "$work/new"
told "no backup 19990101; they are from $first"
status 1 "no directory" "$TABLETFS" backups "$work/none"
status 1 "one without backups" "$TABLETFS" backups mine
told "holds no backups"
status 1 "a place that is taken" "$TABLETFS" restore-from backups "$work/mine"
told "is there already"
same "all this made none" 2 "$("$TABLETFS" backups backups | wc -l)"

status 1 "a directory of backups is no store" "$TABLETFS" -store backups ls
told "holds backups, each of which is a store; the newest is backups/2"

# keep, and a backup that is in use.
T set t two f:q=2
status 0 "of three two are kept" T backup backups keep=2
check "which is told" grep -q '^1 older backups removed' out
refuse "the first is gone" test -e "backups/$first"
same "the last is whole" "$(state "$m")" "$(state backups/latest)"
second=$("$TABLETFS" backups backups | head -n 1 | cut -f 1)
mkdir looking
"$TABLETFS" mount -o ro "backups/$second" looking
T set t three f:q=3
status 0 "one that is looked at" T backup backups keep=2
told "1 older backups stay for now"
check "stays" ls looking/t/one >/dev/null
fusermount3 -u looking
for i in $(seq 100); do
	T set t three f:q=4
	T backup backups keep=2 >out 2>err && grep -q '^2 older' out && break
	sleep 0.1
done
same "until it is not" 2 "$("$TABLETFS" backups backups | wc -l)"

# Written to, it is a store of its own, with an id of its own.
second=$("$TABLETFS" backups backups | head -n 1 | cut -f 1)
was=$(state backups/latest)
check "one is written to" "$TABLETFS" -store "backups/$second" set t four f:q=4
same "which the other does not see" "$was" "$(state backups/latest)"
check "and is told" grep -q "$second.*written to since" \
	<("$TABLETFS" backups backups)
status 1 "it is not restored from" \
	"$TABLETFS" restore-from "backups@$second" "$work/new"
told "was written to since"
status 0 "nor removed" T backup backups keep=1
same "but others are" "2" "$(ls -d backups/2* | wc -l)"
rm -r "backups/$second"
check "rm -r of one harms no other" "$TABLETFS" -store backups/latest check

# Moments under kills: what is listed is whole, whatever was killed.
declare -A states
for moment in $("$TABLETFS" backups backups | cut -f 1); do
	states[$moment]=$(state "backups/$moment")
done
kills=${KILLS:-$((${SLOW:-1} > 1 ? 4 : 8))}
for i in $(seq "$kills"); do
	write "$i"
	"$TABLETFS" backup backups keep=3 >killed 2>&1 &
	command=$!
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	[ $((i % 2)) = 0 ] || kill -9 $command
	{ wait $command; } 2>/dev/null
	now=$(state "$m")
	for moment in $("$TABLETFS" backups backups | cut -f 1); do
		has=$(state "backups/$moment")
		same "$moment after $i" "${states[$moment]-$now}" "$has"
		states[$moment]=$has
	done
done
status 0 "the next one" T backup backups keep=3
refuse "removes what was left" compgen -G "backups/*.partial"
check "three are there" [ "$(ls -d backups/2* | wc -l)" = 3 ]
for moment in $(ls -d backups/2*); do
	same "sound: $moment" "no problem found" "$("$TABLETFS" -store "$moment" check)"
done

# On another file system, too.
if [ -d /dev/shm ] && other=$(mktemp -d /dev/shm/tabletfs-test.XXXXXX); then
	status 0 "elsewhere" T backup "$other/backups" link=yes
	same "nothing is linked to the store" 0 "$(number 2)"
	T set t five f:q=5
	status 0 "and again" T backup "$other/backups"
	check "files are shared" [ "$(number 1)" -ge 1 ]
	check "and what is new copied: $(number 3)" [ "$(number 3)" -le 2 ]
	same "it is as the store" "$(state "$m")" "$(state "$other/backups/latest")"
fi
status 0 "on the same one a link is asked for" T backup linked link=yes
check "and made" [ "$(number 2)" -ge 1 ]
status 0 "what is linked" T backup linked
check "is no second copy" [ "$(number 3)" -ge 1 ]
rm -r linked

# A full disk leaves those that are there.
if unshare -m mount -t tmpfs none "$work" 2>/dev/null; then
	mkdir private
	# Which would keep what is deleted, once a second went by, and with it the
	# file that it is in.
	T history off
	T compact
	size=$(($(cat "$store"/*.{sst,blob,log} | wc -c) / 1024 + 1500))
	same "a full target" "1 $(state "$m")" "$(unshare -m sh -c "
		mount -t tmpfs -o size=${size}k none private &&
		'$TABLETFS' backup private/backups >/dev/null 2>&1 || exit 9
		was=\$(ls private/backups)
		head -c 3000000 /dev/urandom >'$m/t/row/f/large3'
		'$TABLETFS' backup private/backups >/dev/null 2>said
		echo -n \$?' '
		grep -q 'No space left' said || exit 9
		[ \"\$was\" = \"\$(ls private/backups)\" ] || exit 9
		rm '$m/t/row/f/large3'
		'$TABLETFS' compact
		'$TABLETFS' backup private/backups >/dev/null || exit 9
		'$TABLETFS' -store private/backups/latest dump | sha1sum")"
fi

# A store comes back whole, and is another one from then on.
was=$(state backups/latest)
status 0 "a store is restored" "$TABLETFS" restore-from backups restored
same "as it was" "$was" "$(state restored)"
check "nothing of it is shared" [ -z "$(find restored -name '*.sst' -links +1)" ]
"$TABLETFS" -store restored set t six f:q=6
status 1 "it has an id of its own" "$TABLETFS" -store restored backup backups
told "and this is store "
status 0 "one before the last" "$TABLETFS" restore-from \
	"backups@$("$TABLETFS" backups backups | head -n 1 | cut -f 1)" older
mkdir -p broken && cp -a backups/. broken/
file=$(ls broken/latest/*.sst | head -n 1)
printf x | dd of="$file" bs=1 seek=20 conv=notrunc 2>/dev/null
status 1 "a backup that is damaged" "$TABLETFS" restore-from broken new
told "${file##*/}: is damaged"
refuse "leaves nothing" compgen -G "new*"
# One that is ended while its disk lets it wait, and then has a whole backup.
waits() {
	grep -qs request_wait_answer "/proc/$command/wchan"
}
hang=$(dirname "$TABLETFS")/tests/fs/hang
if [ -x "$hang" ]; then
	mkdir slow
	"$hang" "$(realpath backups/latest)" slow &
	disk=$!
	until mountpoint -q slow || ! kill -0 $disk; do sleep 0.1; done
	for signal in INT TERM; do
		kill -STOP $disk
		env --default-signal=INT "$TABLETFS" restore-from slow new \
			>out 2>err &
		command=$!
		until waits || ! kill -0 $command; do sleep 0.1; done
		kill -$signal $command
		kill -CONT $disk
		wait $command
		same "a restore that is stopped" 1 $?
		told "Restoring: stopped by SIG$signal"
		refuse "leaves nothing, too" compgen -G "new*"
	done
	status 0 "but for that it is whole" "$TABLETFS" restore-from slow new
	same "as ever" "$was" "$(state new)"
	fusermount3 -u slow
	wait $disk
fi
stop_mount

# A table, into a store that is free, mounted and served.
content() { # of a table's dump, without its name, as a hash
	"$TABLETFS" -store "$1" dump | awk -v name="'$2" '
		/^(table|end) / { on = $1 == "table" && $3 == name; next }
		on && !/^attribute (import-table|bigtable.protected)/' | sha1sum
}
T createtable all "families=f:maxversions=3,s:never:intsum,h:maxage=90d:inthll" \
	granularity=millis 2>/dev/null || T createtable all families=f
start_mount
mkdir -p "$m/all/row/f" "$m/all/row/s" "$m/all/row/h"
for i in 1 2 3 4 5; do
	T set all row f:q="$i@$((1700000000000000 + i * 1000))"
	echo "$i" >>"$m/all/row/s/sum"
	echo "$i" >>"$m/all/row/h/count"
done
printf 'a\0b\n\377' >"$m/all/row/f/bytes"
head -c 9500000 /dev/urandom >"$m/all/row/f/large"
head -c 9500000 /dev/zero >"$m/all/row/f/zeros"
for i in $(seq 3000); do
	printf '{"row":"%05d","set":{"f":{"q":"%s","p":"%01000d"}}}\n' "$i" "$i" "$i"
done >"$m/all/.mutate"
chmod 2750 "$m/all"
T recipe all set r - <<<'key {a}
set f:q {b}' 2>/dev/null
T protect all on
status 0 "a backup of it" T backup tables
wanted=$(content "$m" all)
T protect all off
status 1 "a name that is taken" T restore-from tables "$store" table=all
told 'there is a table "all" already; as= gives another name'
status 1 "a table that the backup lacks" \
	T restore-from tables "$store" table=none
told 'has no table "none"'
status 1 "a name that is none" T restore-from tables "$store" table=all as=a/b
status 1 "only with a table" T restore-from tables "$store" as=b
status 0 "through the mount" T restore-from tables "$m" table=all as=mounted
same "it is the same" "$wanted" "$(content "$m" mounted)"
same "and protected, as it was" yes "$(T protect mounted)"
same "a sum of it goes on" 16 \
	"$(echo 1 >>"$m/mounted/row/s/sum"; cat "$m/mounted/row/s/sum")"
refuse "nothing else is there" sh -c "ls '$m' | grep partial"
T createtable once.partial
status 1 "a table that has its name meanwhile" \
	T restore-from tables "$m" table=all as=once
told "deletetable removes it"
told 'there is a table "once.partial"'
T deletetable once.partial
# One that is killed leaves what the next one replaces, and no other while it is
# alive.
"$TABLETFS" restore-from tables "$m" table=all as=once >out 2>err &
command=$!
until [ -e "$m/once.partial" ] || ! kill -0 $command; do :; done
kill -STOP $command
status 1 "one that is under way" T restore-from tables "$m" table=all as=once
told "which process $command restores or undeletes"
check "which ls tells" grep -q '^Not whole: it is to be "once"' <(T ls once.partial)
kill -KILL $command
wait $command 2>/dev/null
check "a kill leaves a part" [ -e "$m/once.partial" ]
status 0 "which the next one replaces" T restore-from tables "$m" table=all as=once
same "it is whole" "$wanted" "$(content "$m" once)"
refuse "with nothing beside it" [ -e "$m/once.partial" ]
refuse "nor a mark" grep -q "^Not whole" <(T ls once)
T protect once off
T deletetable once
# What is filled is known, whatever gets its name meanwhile.
"$TABLETFS" restore-from tables "$m" table=all as=swapped >out 2>err &
command=$!
until [ -e "$m/swapped.partial" ] || ! kill -0 $command; do :; done
kill -STOP $command
T deletetable swapped.partial && mkdir -p "$m/swapped.partial/mine/f"
echo mine >"$m/swapped.partial/mine/f/q"
kill -CONT $command
wait $command
same "a table that was exchanged" 1 $?
told "dropped meanwhile, and another has its name"
same "stays what it is" mine "$(ls "$m/swapped.partial")"
refuse "and gets no name" ls "$m/swapped"
T deletetable swapped.partial
"$TABLETFS" restore-from tables "$m" table=all as=killed >out 2>&1 &
command=$!
sleep 0.2
kill -TERM $command
wait $command
if [ $? = 0 ]; then
	check "a restore that was quick" ls "$m/killed" >/dev/null
else
	refuse "one that is ended leaves nothing" sh -c "ls '$m' | grep killed"
fi
stop_mount
status 0 "a store that is free" T restore-from tables "$store" table=all as=free
same "has the same" "$wanted" "$(content "$store" free)"
rm -rf small
"$TABLETFS" create small
store=small
serve
status 0 "one that is served" "$TABLETFS" restore-from tables small table=all
stop
same "has it, too" "$wanted" "$(content small all)"
same "protected" yes "$("$TABLETFS" -store small protect all)"
same "and nothing else" all "$("$TABLETFS" -store small ls)"

# A disk that is full is why, and no reason to unmount what is on it.
mkdir tiny
if mount -t tmpfs -o size=80m none tiny 2>/dev/null; then
	store=$work/tiny/store
	start_mount
	head -c 128m /dev/zero >tiny/ballast 2>/dev/null
	status 1 "into a full one" \
		"$TABLETFS" restore-from tables "$store" table=all
	told "No space left on device"
	refuse "is told as such" grep -q unmount err
	rm tiny/ballast
	status 0 "with room it goes on" "$TABLETFS" restore-from tables \
		"$store" table=all as=again
	same "with nothing left" again "$("$TABLETFS" -store "$store" ls)"
	stop_mount
	umount -l tiny
fi
