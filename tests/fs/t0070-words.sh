#!/bin/bash
# Words of the command line that people bring along: cbt's flags and commands, a
# mount in the place of its store; and what is said to those that are wrong.
. "$(dirname "$0")/lib.sh"
unset TABLETFS_STORE
tfs() { "$TABLETFS" -store "$store" "$@"; }

# says TEXT COMMAND...: it must fail with 1 and say TEXT.
says() {
	local text=$1 out
	shift
	out=$("$@" 2>&1)
	same "$* fails" 1 $?
	case $out in
	*"$text"*) check "$*" true ;;
	*) same "$*" "$text" "$out" ;;
	esac
}

same "cbt's flags are taken" "" "$("$TABLETFS" -project p -instance=i \
	--creds /nowhere -store "$store" -timeout 10s createtable t families=f 2>&1)"
says "-nonsense is no flag" "$TABLETFS" -nonsense x ls
says "-store is no flag, or lacks its value" "$TABLETFS" -store
says "has no instances" tfs createinstance a b c
says "has no instances" tfs listclusters
same "nothing is replicated, so nothing is waited for" "" \
	"$(tfs waitforreplication t 2>&1)"

same "help where many look for it" "$(tfs help read)" "$(tfs read --help)"
says "did you mean family_name_regex?" tfs read t 'filter=family("f")'
says "no JSON document is written" tfs export t out.json
tfs set t r f:q=v f:z=w
cells() { tfs "$@" 2>/dev/null | grep -c '@'; }
same "an empty column is none" 1 "$(cells read t columns=f:q,)"
same "nor one between others" 2 "$(cells read t columns=f:q,,f:z)"
says "columns=, names no column" tfs read t columns=,
same "a family without a name is none" 0 "$(cells read t columns=:)"
same "columns that are empty are all" 2 "$(cells lookup t r columns=)"
same "start and prefix, both empty" 2 "$(cells read t start= prefix=)"
says "may not be mixed" tfs read t start=a prefix=r
same "a count as Go has it" 2 "$(cells read t count=0x1)"
says 'parsing "0x": invalid syntax' tfs read t count=0x
says 'Atoi: parsing "0x1": invalid syntax' tfs read t cells-per-column=0x1
says "usage: tabletfs set" tfs set t r app-profile=x
says "Invalid splits arg format: EOF" tfs createtable u families=f splits=
same "nothing came of that" "t" "$(tfs ls)"
says "column-family cannot be ''" tfs import t - column-family= </dev/null
says "open $work: Is a directory" tfs import t "$work"

mkdir names
for verb in backup repair; do
	check "$verb to a name with a slash" tfs $verb "names/$verb//" >/dev/null
	[ -e names/$verb/latest ] && made=names/$verb/latest || made=names/$verb
	same "is whole: $verb" "$(tfs read t)" "$("$TABLETFS" -store $made read t)"
	says "an empty name" sh -c "cd names && '$TABLETFS' -store '$store' $verb ''"
done
same "which is all that is made" "backup repair" "$(ls -A names | xargs)"

says "quota=17179869184G: too large" \
	"$TABLETFS" mount -o quota=17179869184G "$store" "$m"
says "quota= 4M: not a number" "$TABLETFS" mount -o "quota= 4M" "$store" "$m"
says "from 1 to 3600 seconds" "$TABLETFS" mount -o commit=1K "$store" "$m"
says "memory=99999999T: too large" \
	"$TABLETFS" mount -o memory=99999999T "$store" "$m"
says "quota=x: not a number" "$TABLETFS" mount -o quota=x "$work/none" "$m"
check "a refused mount leaves no store behind" [ ! -e "$work/none" ]

for word in commit= sync gc= strictschema quiet showctl xattr quota= memory= \
	delimiter= opendir allow_other ro; do
	check "help tells of -o $word" \
		grep -q -- "-o $word" <("$TABLETFS" help mount)
done

check "small letters" start_mount -o quota=400m,memory=32m
same "a mount stands for its store" t "$("$TABLETFS" -store "$m" ls)"
same "also where a command writes" "" \
	"$("$TABLETFS" -store "$m/" set t r f:q=new 2>&1)"
same "that is seen" new "$(cat "$m/t/r/f/q")"
says "open $work: Is a directory" tfs import t "$work"

mkdir bound
mount --bind "$m" bound
says "mounted at $work/bound, too; umount that as well" "$TABLETFS" umount "$m"
check "the other goes on" [ "$(cat bound/t/r/f/q)" = new ]
same "and stands for its store" t "$("$TABLETFS" -store bound ls 2>&1)"
same "also where a command writes" "" \
	"$("$TABLETFS" -store bound set t r f:q=newer 2>&1)"
same "that is seen there" newer "$(cat bound/t/r/f/q)"
"$TABLETFS" -store bound set t r f:q=new
check "the last one ends it" "$TABLETFS" umount bound
daemon=
same "and the store is free" t "$(tfs ls)"

mkdir first second
"$TABLETFS" mount -o ro "$store" first
"$TABLETFS" mount -o ro "$store" second
same "one of two that read ends by itself" "" "$("$TABLETFS" umount first 2>&1)"
check "the other goes on, too" [ "$(cat second/t/r/f/q)" = new ]
check "and ends" "$TABLETFS" umount second
finish
