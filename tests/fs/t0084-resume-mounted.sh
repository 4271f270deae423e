#!/bin/bash
# Imports through a mount that are killed and go on, and those whose daemon is
# killed: each record is in exactly once.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/resume.sh"

# The daemon ends while an import is under way, and another one serves the store.
dies() {
	local kills=0 pid result
	T deleteallrows whole
	run from_csv whole 2>/dev/null
	content whole >want
	T deleteallrows killed
	while [ "$kills" -lt $(((KILLS + 2) / 3)) ]; do
		from_csv killed resume=dies 2>err &
		pid=$!
		sleep "$(awk "BEGIN { print $RANDOM / 32768 / 2 }")"
		kill -9 "$daemon"
		wait "$pid"
		result=$?
		fusermount3 -uz "$m"
		await_end
		if [ "$result" = 2 ]; then
			kills=$((kills + 1))
			# Not that none is: it cannot know.
			refuse "kill $kills: nothing is said that is not known" \
				grep -q "no line is committed" err
			check "kill $kills: what is known" grep -qE \
				"tell any more|^tabletfs: Importing" err
		fi
		start_mount || exit 1
		# What was told is true.
		sed -n 's/.*committed up to data.csv:\([0-9]*\).*/\1/p' err >line
		if [ -s line ]; then
			T lookup _imports dies | sed -n \
				's/.*line \([0-9]*\).noffset.*/\1/p' >position
			check "kill $kills: at least what was told" \
				[ "$(cat position)" -gt "$(cat line)" ]
		fi
		if [ "$result" -le 1 ]; then
			content killed >got
			cmp -s got want || fail "ended after $kills kills"
			forget dies
		fi
	done
	run from_csv killed resume=dies 2>err
	content killed >got
	check "after $kills daemons" cmp got want
	forget dies
}
# It ends before it has told of any line.
forgets() {
	local pid
	mkfifo pipe
	exec {hold}<>pipe
	"$TABLETFS" -store "$store" import killed pipe "${adds[@]}" \
		resume=forgets 2>err {hold}>&- &
	pid=$!
	printf 'k,v,w\na,1,1\n' >pipe
	until ls -l "/proc/$pid/fd" | grep -q batch; do
		sleep 0.01
	done
	kill -9 "$daemon"
	exec {hold}>&-
	wait "$pid"
	same "no daemon: not finished" 2 $?
	refuse "no daemon: it is not known that none is in" \
		grep -q "no line is committed" err
	told "tell any more"
	fusermount3 -uz "$m"
	await_end
	start_mount || exit 1
	forget forgets
}
# Two at once would both bring in the same.
twice() {
	local pid
	exec {hold}<>"$m/killed/.import/resume/two/batch"
	errno EBUSY sh -c ": <>'$m/killed/.import/resume/two/batch'"
	check "another name is another" \
		sh -c ": <>'$m/killed/.import/resume/three/batch'"
	check "as that of another table" \
		sh -c ": <>'$m/whole/.import/resume/two/batch'"
	same "which only the owner reads" 700 "$(stat -c %a "$m/_imports")"
	exec {hold}>&-
	check "after its end" sh -c ": <>'$m/killed/.import/resume/two/batch'"
}
# In the words that are told without a mount.
explains() {
	local words=("${sets[@]}" "resume=e f/g")
	printf 'k,v,w\na,1,1\n' >e.csv
	status 0 "a name of any bytes" T import killed e.csv "${words[@]}"
	T set _imports "e f/g" import:position=nonsense
	status 2 "no position" T import whole e.csv "${words[@]}"
	told 'Importing: table _imports, row "e f/g": it is no position'
	same "nothing else" 1 "$(wc -l <err)"
	forget "e f/g"
}
# frames NAME TEXT...: what another program may write.
frames() {
	local name=$1
	shift
	printf "$@" | dd bs=1M of="$m/killed/.import/resume/$name/batch" \
		conv=notrunc 2>err
}
hostile() {
	local place='version 1\ntable 9\nline %d\noffset %d\nelements 0\ntime 5\nformat 1\nin_array 0\nhead_size 0\nhead_hash 0\nrecipe_hash 0\n'
	local row='{"row":"h%d","set":{"f":{"v":"1"}}}\n' text
	errno ENOENT ls "$m/killed/.import/batch"
	errno ENOENT ls "$m/killed/.import/family/f/resume"
	errno ENOENT ls "$m/killed/.import/resume/x/csv"
	errno ENOENT ls "$m/killed/.import/resume/x/family"
	errno ENOENT ls "$m/killed/.import/resume/$(printf %0256d 1)"
	for text in 'nonsense\n' 'rows 1\n' 'rows 1 2 3\n' 'rows 0 0\n' \
		'rows 0 99999\n' 'rows 99999999999999999999999 1\n' \
		"$(printf '%099d' 1)" 'rows 0 3\nabc' 'rows 1 3\n{abc'; do
		refuse "hostile: $text" frames h "$text"
	done
	text=$(printf "$row" 1)
	# A frame that is cut off leaves nothing, those before it stay.
	printf "$place" 2 10 >place
	{
		printf 'rows %d %d\n%s\n' $((${#text} + 1)) "$(wc -c <place)" "$text"
		cat place
		printf 'rows %d %d\n%s\n' $((${#text} + 1)) "$(wc -c <place)" \
			"${text/h1/h2}"
		head -c 20 place
	} >torn
	check "a torn frame" dd if=torn bs=50 conv=notrunc \
		of="$m/killed/.import/resume/h/batch" status=none
	same "only the whole one" h1 "$(T read killed prefix=h keys-only=true |
		grep '^h' | xargs)"
	check "its position" grep -qF 'line 2\noffset 10\n' <(T lookup _imports h)
	forget h
}
start_mount || exit 1
killed csv from_csv
killed gzip from_gzip
grows
refuses
explodes
killed json from_json
adds=(key={k} "set=f:v {v}" "set=f:w {w}" "key=sum#{k|slice(0,2)}" "add=s:n 1")
twice
explains
hostile
dies
forgets
stop_mount
check "the store is whole" T check >/dev/null
