#!/bin/bash
# mount -o serve=: what comes over the wire is in the files at once, and what
# goes into files is on the wire; names, values, lists and attributes that the
# kernel has kept are never old. ROUNDS=10000 is the long form.
. "$(dirname "$0")/lib.sh"
wire=$(dirname "$TABLETFS")/tests/fs/wire
[ -x "$wire" ] || skip_all "$wire is not built"
p=projects/p/instances/i
data=/google.bigtable.v2.Bigtable
admin=/google.bigtable.admin.v2.BigtableTableAdmin

# at PATH WORD...: a call, with its answer in the file answer.
at() {
	"$wire" "$address" "$@" >answer 2>&1
}

check "a mount that is served" start_mount -o serve=127.0.0.1:0 >said
address=$(sed -n 's/^export BIGTABLE_EMULATOR_HOST=//p' said)
check "says where" [ -n "$address" ]

check "a table over the wire" at $admin/CreateTable 1=$p 2=t \
	3{ 3{ 1=f 2{ } } }
check "is a directory" [ -d "$m/t" ]
check "a write over the wire" at $data/MutateRow 1=$p/tables/t 2=r \
	3{ 1{ 1=f 2=q 3:1000 4=one } }
same "is a file" one "$(cat "$m/t/r/f/q")"
same "in a list" "q" "$(ls "$m/t/r/f")"
check "another column" at $data/MutateRow 1=$p/tables/t 2=r \
	3{ 1{ 1=f 2=other 3:1000 4=two } }
same "is in the list too" "other q" "$(ls "$m/t/r/f" | xargs)"
check "no such file yet" [ ! -e "$m/t/r/f/late" ]
check "it comes" at $data/MutateRows 1=$p/tables/t \
	2{ 1=r 2{ 1{ 1=f 2=late 3:1000 4=three } } }
same "and is there" three "$(cat "$m/t/r/f/late")"
check "a condition" at $data/CheckAndMutateRow 1=$p/tables/t 2=r \
	4{ 1{ 1=f 2=checked 3:1000 4=yes } } 5{ 1{ 1=f 2=no 3:1000 4=no } }
same "its branch is a file" yes "$(cat "$m/t/r/f/checked")"
check "appending" at $data/ReadModifyWriteRow 1=$p/tables/t 2=r \
	3{ 1=f 2=q 3=more }
same "shows in the file" onemore "$(cat "$m/t/r/f/q")"
same "and in its size" 7 "$(stat -c %s "$m/t/r/f/q")"
check "a family" at $admin/ModifyColumnFamilies 1=$p/tables/t \
	2{ 1=g 2{ } }
check "can be written to" eval 'mkdir -p "$m/t/w/g" && echo x >"$m/t/w/g/q"'
check "rows go" at $admin/DropRowRange 1=$p/tables/t 2=r
check "with their names" [ ! -e "$m/t/r/f/q" ]
same "and the list" w "$(ls "$m/t")"

# The other way.
mkdir -p "$m/t/s/f"
echo -n path >"$m/t/s/f/q"
at $data/ReadRows 1=$p/tables/t 2{ 1=s }
check "a file is on the wire" grep -q path answer
rm "$m/t/s/f/q"
at $data/ReadRows 1=$p/tables/t 2{ 1=s }
check "and gone with it" [ "$(wc -l <answer)" = 1 ]
mkdir "$m/made"
at $admin/ListTables 1=$p
check "a directory is a table" grep -q tables/made answer
mkdir -p "$m/made/r/f" && echo x >"$m/made/r/f/own"
at $data/MutateRow 1=$p/tables/made 2=r 3{ 1{ 1=f 2=q 3:1001 4=v } }
check "in microseconds" [ -e "$m/made/r/f/.versions/q/1001" ]
at $data/MutateRow 1=$p/tables/made 2=r 3{ 1{ 1=f 2=now 3:-1 4=v } }
check "where the server's time is a millisecond" \
	eval 'ls "$m/made/r/f/.versions/now" | grep -q "000$"'
mkdir -p "$m/made/both/f"
check "rounds each way in microseconds" "$(dirname "$wire")/rounds" "$address" \
	"$m/made/both/f" made "${ROUNDS:-300}"
rm -r "$m/made/r"
check "which goes" at $admin/DeleteTable 1=$p/tables/made
check "from the mount" [ ! -e "$m/made" ]

check "rounds each way" "$(dirname "$wire")/rounds" "$address" \
	"$m/t/both/f" t "${ROUNDS:-300}"

# Verbs go through the mount as ever.
check "a command" T set t v f:q=verb
at $data/ReadRows 1=$p/tables/t 2{ 1=v }
check "is on the wire" grep -q verb answer

# It ends with the mount, also while somebody is connected.
exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
stop_mount
exec 3>&-
check "nobody listens any more" [ "$(at $data/PingAndWarm 1=$p; echo $?)" != 0 ]
check "what was written stays" [ "$(T lookup t v | grep -c verb)" = 1 ]

# A socket with a name, in the place from where it was mounted.
check "a path" start_mount -o serve="unix:a socket" >said
same "is said as a word of a shell" \
	"export BIGTABLE_EMULATOR_HOST='unix:$work/a socket'" "$(cat said)"
same "only for its user" srw------- "$(stat -c %A "a socket")"
address="unix:$work/a socket"
at $data/ReadRows 1=$p/tables/t 2{ 1=v }
check "it answers" grep -q verb answer
stop_mount
check "the socket goes, too" [ ! -e "a socket" ]

# Of others nothing is taken.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	start_mount -o serve=127.0.0.1:0 >said
	address=$(sed -n 's/^export BIGTABLE_EMULATOR_HOST=//p' said)
	check "another user is refused" [ "$(setpriv --reuid 12345 \
		--clear-groups "$wire" "$address" $data/PingAndWarm 1=$p \
		>/dev/null 2>&1; echo $?)" != 0 ]
	check "and it is noted" grep -q 12345 "$m/.tabletfs/errors"
	check "who mounted it is not" at $data/PingAndWarm 1=$p
	stop_mount
else
	echo "needs root: other users are not tried"
fi

# What cannot be.
new=$work/new
refuse "an address of another machine" "$TABLETFS" mount \
	-o serve=192.0.2.1:1 "$new" "$m"
# says TEXT OPTION...: a mount that is refused, and what it says.
says() {
	local text=$1
	shift
	! "$TABLETFS" mount "$@" "$new" "$m" >/dev/null 2>said &&
		grep -q "$text" said
}
check "one that others reach" says \
	'Listening: 0.0.0.0:.* say 127.0.0.1 .* tabletfs serve' \
	-o serve=0.0.0.0:0
check "two" says 'serve=:0 already' -o serve=:0,ro -o serve=:0
refuse "none" "$TABLETFS" mount -o serve= "$new" "$m"
check "no store was made for them" [ ! -e "$new" ]
check "to be read only" start_mount -o ro,serve=127.0.0.1:0 >said
address=$(sed -n 's/^export BIGTABLE_EMULATOR_HOST=//p' said)
at $data/ReadRows 1=$p/tables/t 2{ 1=v }
check "it is read" grep -q verb answer
at $data/MutateRow 1=$p/tables/t 2=r 3{ 1{ 1=f 2=q 3:1000 4=one } }
check "and not written" grep -q "^status 9 .*read" answer
stop_mount
