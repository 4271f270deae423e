#!/bin/bash
# What an import shows on a terminal, in a real one: bytes, rows a second, what is
# refused and the time left; and a line's place as it was when it is over. Without
# a mount and through one.
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "there is no tmux"
socket=$work/tmux
at_end() {
	tmux -S "$socket" kill-server 2>/dev/null
	stop_mount 2>/dev/null
}
# A terminal of its own, whose shell reads nobody's files.
tm() {
	tmux -S "$socket" -f /dev/null "$@"
}
shown() {
	tm capture-pane -p -t import
}
# types TEXT: as a user would.
types() {
	tm send-keys -t import -l "$1"
	tm send-keys -t import Enter
}
# sees PATTERN: a line that matches comes in time; it is left in line.
sees() {
	for i in $(seq $((600 * ${SLOW:-1}))); do
		line=$(shown | grep -E -- "$1" | tail -n 1)
		[ -z "$line" ] || return 0
		sleep 0.1
	done
	echo "$1: not seen in:" >&2
	shown >&2
	return 1
}
tm new-session -d -s import -x 120 -y 30 "env PS1='ready> ' bash --norc --noprofile" ||
	skip_all "tmux cannot start"
export_words="export TABLETFS_STORE=$store PATH=$(dirname "$TABLETFS"):\$PATH"
types "cd $work && $export_words; clear"

T createtable t families=f
# A file whose end waits: what came before it is shown as long as that.
{ echo k,v; seq -f '%.0f,1' 30000; echo a,x; } >head.csv
seq -f '%.0f,2' 30001 60000 >tail.csv
shows() {
	local way=$1
	rm -f whole.csv fifo
	mkfifo fifo
	types "clear; tabletfs import t fifo key={k} 'set=f:v {v|pad(3)}'"
	exec 7>fifo
	cat head.csv >&7
	sleep 0.3
	cat tail.csv >&7
	sleep 0.3
	echo end,3 >&7
	check "$way: of a pipe what came" \
		sees '^[0-9.]+ MB, [0-9.]+ MB/s, [0-9]+ rows, [0-9]+ rows/s, 1 refused'
	refuse "$way: nothing is known of its end" grep -q left <<<"$line"
	exec 7>&-
	check "$way: it ends" sees '^Done importing 60001 rows'
	refuse "$way: the bar is erased" grep -q 'rows/s' <(shown)
	check "$way: what is refused is told" sees '^tabletfs: refused lines: 1'
	check "$way: the prompt stands at the left" sees '^ready> *$'

	# A file, with what is left: stopped once a bar is there.
	{ echo k,v; echo a,x; seq -f '%.0f,1' 6000000; } >whole.csv
	types "clear; tabletfs import t whole.csv key={k} 'set=f:v {v|pad(3)}'"
	check "$way: a bar of a file" sees '^\[#*-*\] [0-9]+ %'
	check "$way: all of it" grep -qE '^\[[#-]{20}\] [0-9]+ %, [0-9]+:[0-9]{2} left, [0-9.]+ MB, [0-9.]+ MB/s, [0-9]+ rows, [0-9]+ rows/s, 1 refused *$' <<<"$line"
	tm send-keys -t import C-c
	check "$way: it is stopped" sees '^tabletfs: stopped by SIGINT'
	check "$way: and erased" sees '^Done importing [0-9]+ rows'
	refuse "$way: no bar is left" grep -q '\[#' <(shown)
}
shows free
start_mount || exit 1
types "clear"
T deleteallrows t
shows mounted
stop_mount
check "the store is whole" T check >/dev/null
