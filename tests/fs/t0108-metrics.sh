#!/bin/bash
# Figures for Prometheus: of a mount, of a server and of a store that is free;
# the file that node_exporter reads, whose place is fixed when the mount begins;
# and the alert rules, by promtool where that is installed.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
package=$(cd "$fs_tests/../.." && pwd)/tools/package
promtool=$(command -v promtool)
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	stop_mount 2>/dev/null
}

# well NAME FILE [FAMILY...]: Prometheus takes it, and has these.
well() {
	local name=$1 file=$2
	shift 2
	same "$name: what Prometheus takes" "" \
		"$(python3 "$fs_tests/metrics.py" "$file" "$@")"
	[ -z "$promtool" ] ||
		same "$name: what promtool says" "" "$("$promtool" check metrics <"$file" 2>&1)"
}
figure() {
	sed -n "s|^tabletfs_$1 ||p" "$2"
}
families="build_info healthy stalls_total stall_seconds_total stalled_seconds
	slowed_seconds_total debt_ratio write_amplification space_amplification
	sync_duration_seconds log_bytes memory_bytes cache_hits_total
	import_rows_total import_bytes_total import_refused_total tables
	table_reads_total table_writes_total table_bytes_total table_file_bytes"
families=$(printf 'tabletfs_%s ' $families)

# A store that is free.
T createtable t families=f
T set t r f:q=1
T metrics >free
well "a store" free $families
same "a table" 1 "$(figure tables free)"
# no_other WHERE: another word than ranges=yes is refused, in the same words.
no_other() {
	local words
	for words in all ranges=no "ranges=yes all" ""; do
		status 1 "$1: metrics ${words:-''}" T metrics ${words:-"$words"}
		same "$1: in one sentence" \
			"tabletfs: usage: tabletfs metrics [ranges=yes]" "$(cat err)"
		same "$1: and nothing else" "" "$(cat out)"
	done
}
no_other "a store"

# A mount, with a file beside it.
mkdir prom other
MOUNT="-o metrics-file=prom/tabletfs.prom" start_mount
for i in $(seq 20); do mkdir -p "$m/t/r$i/f" && echo "$i" >"$m/t/r$i/f/q"; done
seq -f '{"row":"i%.0f","set":{"f":{"q":"1"}}}' 500 >"$m/t/.import/jsonl"
echo nonsense >"$m/t/.import/jsonl"
cat "$m/t/r1/f/q" >out
cp "$m/.tabletfs/metrics" mounted
well "a mount" mounted $families tabletfs_request_duration_seconds \
	tabletfs_requests_running
same "rows of imports" 500 "$(figure import_rows_total mounted)"
same "lines that were refused" 1 "$(figure import_refused_total mounted)"
check "its tables" grep -q '^tabletfs_table_writes_total{table="t"} [1-9]' mounted
check "whoever reads is under way" grep -qE \
	'^tabletfs_requests_running\{operation="(open|read)"\} 1$' mounted
T metrics ranges=yes >asked
no_other "through a mount"
well "a command through it" asked tabletfs_request_duration_seconds
check "hot ranges of rows" grep -qE '^# hot table=t share=[01]\.[0-9]+ start=".*" end=".*"$' asked

# await_file FILE: it comes, or is written anew, within its ten seconds.
await_file() {
	local i old
	old=$(stat -c %i "$1" 2>/dev/null)
	for i in $(seq $((300 * ${SLOW:-1}))); do
		[ -s "$1" ] && [ "$(stat -c %i "$1")" != "$old" ] && return
		sleep 0.1
	done
	return 1
}
file=prom/tabletfs.prom
[ -s $file ] || await_file $file
well "the file" $file $families tabletfs_requests_running
same "each sample tells the store" "" \
	"$(grep -v '^#' $file | grep -vF "{store=\"$(realpath "$store")\"")"
same "who runs node_exporter may read it" 644 "$(stat -c %a $file)"
same "nothing else is there" tabletfs.prom "$(ls -A prom)"
# What comes to the directory's name, or to the file's, leads nowhere else.
mv prom moved && ln -s "$work/other" prom
rm moved/tabletfs.prom && ln -s "$work/target" moved/tabletfs.prom
check "it is written where it was begun" await_file moved/tabletfs.prom
check "as a file of its own" [ -f moved/tabletfs.prom -a ! -L moved/tabletfs.prom ]
refuse "no link is followed" [ -e target ]
same "nor the directory's new name" "" "$(ls -A other)"
# A directory that is gone is an error that is told once, and the mount goes on.
rm -r moved
told_error() { grep -c 'metrics-file=.*tabletfs.prom' "$m/.tabletfs/errors"; }
for i in $(seq $((250 * ${SLOW:-1}))); do
	[ "$(told_error)" = 1 ] && break
	sleep 0.1
done
same "an error is told" 1 "$(told_error)"
check "the mount goes on" mkdir "$m/on"
stop_mount
rm prom && mkdir prom
MOUNT="-o metrics-file=$work/prom/x.prom" start_mount
[ -s prom/x.prom ] || await_file prom/x.prom
check "a full path" [ -s prom/x.prom ]
stop_mount
same "the file goes with the mount" "" "$(ls -A prom)"
# What is not its own stays.
MOUNT="-o metrics-file=prom/y.prom" start_mount
[ -s prom/y.prom ] || await_file prom/y.prom
rm prom/y.prom && echo mine >prom/y.prom
stop_mount
check "who put another there has it" [ -e prom/y.prom ]
rm -f prom/*
mkdir taken.prom
for word in metrics-file=prom/x.txt metrics-file=prom/.prom \
	metrics-file=taken.prom metrics-file=/proc/x.prom \
	metrics-file=none/x.prom metrics-file=; do
	status 1 "refused: $word" "$TABLETFS" mount -o $word "$store" "$m"
	told metrics-file=
	refuse "nothing is mounted" mountpoint -q "$m"
done
# A server, whose calls are counted by method.
serve metrics-file=prom/serve.prom slow=0
check "it serves" [ -n "$address" ]
T metrics >served
no_other "of a server"
well "a server" served $families tabletfs_call_duration_seconds \
	tabletfs_calls_running
[ -s prom/serve.prom ] || await_file prom/serve.prom
well "its file" prom/serve.prom $families
check "it ends" stop
same "and its file with it" "" "$(ls -A prom)"
status 1 "slow= is a time" "$TABLETFS" serve "$store" listen=:0 slow=soon
told 'slow=soon'
status 1 "of a mount, too" "$TABLETFS" mount -o slow=-1ms "$store" "$m"
told 'slow=-1ms'

# The alert rules.
rules=$package/tabletfs.rules.yml
sed -n 's/.*\(tabletfs_[a-z0-9_]*\).*/\1/p' "$rules" | sort -u >used
sed -n 's/^# TYPE \(.*\) histogram/\1_bucket/p; s/^# TYPE \([a-z0-9_]*\) .*/\1/p' \
	mounted | sort -u >known
same "rules are about figures that there are" "" "$(comm -23 used known)"
if [ -n "$promtool" ]; then
	check "promtool takes them" "$promtool" check rules "$rules" >out 2>&1
else
	skip "promtool is not installed: tests/packages-watch"
fi
