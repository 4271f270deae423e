#!/bin/bash
# How rows are read and what that costs: .scan/.../explain and read explain=yes;
# and slow=, by which the event log tells what took long and what it had to read.
#
# Alone: it tells quick calls from slow ones.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	stop_mount 2>/dev/null
}
# number FILE WORD NAME: behind the NAME= of the first line that begins with WORD.
number() {
	sed -n "s/^$2\( .*\)\? $3=\([0-9]*\).*/\2/p" "$1" | head -n 1
}

start_mount
mkdir -p "$m/t/.schema/f" "$m/t/.schema/g"
for family in f g; do echo never >"$m/t/.schema/$family/gc"; done
python3 - "$m/t/.import/jsonl" <<'PYTHON'
import json, random, sys
random.seed(1)
with open(sys.argv[1], "w") as f:
    for i in range(20000):
        f.write(json.dumps({"row": f"row{i:05}", "set": {
            "f": {"q": "%032x" % random.getrandbits(128), "r": "x"},
            "g": {"q": "y"}}}) + "\n")
PYTHON
T compact
q=$m/t/.scan

cat "$q/explain" >all
same "one range" 'range start="" end=""' "$(grep -o '^range start="" end=""' all)"
same "of all files" "$(number all range all_ssts)" "$(number all range ssts)"
same "all rows" 20000 "$(number all cost rows)"
same "and cells" 60000 "$(number all cost cells)"
check "each was passed" [ "$(number all cost passed)" -ge 60000 ]
same "in as many blocks as were foretold" "$(number all range blocks)" \
	"$(number all cost blocks)"
same "nothing is pushed down" "" "$(grep ^pushed all)"
check "it takes time" [ "$(number all cost us)" -gt 0 ]
cat "$q/explain" >again
same "now from memory" 0 "$(number again cost blocks_read)"

cat "$q/prefix/row0001/explain" >prefix
check "a prefix is a range" grep -q '^range start="row0001" end="row0002" ' prefix
same "its rows" 10 "$(number prefix cost rows)"
check "and no others" [ "$(number prefix cost passed)" -le 35 ]
check "few blocks" [ "$(number prefix cost blocks)" -le 2 ]
cat "$q/regex/row0001.*/column/q/family/g/explain" >pushed
same "what filters push down" 'pushed rows_begin="row0001" family="g" column="q"' \
	"$(grep ^pushed pushed)"
same "what they leave" 10 "$(number pushed cost cells)"
cat "$q/value/y/limit/1/explain" >value
same "a limit" 1 "$(number value cost rows)"
cat "$q/value/nothing/explain" >nothing
same "nothing is found" 0 "$(number nothing cost cells)"
check "by looking at everything" [ "$(number nothing cost passed)" -ge 60000 ]
cat "$q/since/2100-01-01T00:00:00Z/explain" >since
same "what is too old is not read" "$(number since range ssts) 0" \
	"$(number since range too_old) $(number since cost blocks)"
errno ENOENT cat "$q/since/never/explain"
refuse "it is not written" sh -c "echo x >'$q/explain'"
check "it is in the listing of steps" sh -c "ls '$q' | grep -qx explain"
T read t explain=yes prefix=row0001 >verb
same "the verb says the same" "$(sed 's/ us=.*//; s/ blocks_read=.*//' prefix)" \
	"$(sed 's/ us=.*//; s/ blocks_read=.*//' verb)"
T read t explain=yes key=row00001 key=row19999 key=none >keys
same "three keys" "3 2" "$(number keys ranges count) $(number keys cost rows)"
T read t explain=no count=1 >plain
check "explain=no reads" grep -q '^row00000' plain
# Of one table as it is then, whatever it is called.
exec 7<"$q/explain"
mv "$m/t" "$m/u"
same "a rename meanwhile" 20000 "$(cat <&7 >renamed; number renamed cost rows)"
exec 7<&-
mv "$m/u" "$m/t"

status 1 "no other word" T read t explain=maybe
told 'explain must be yes or no'
status 1 "not of an export" T export t explain=yes
status 1 "nor of what is not there" T read none explain=yes
stop_mount
T read t explain=yes >free
same "of a store that is free, too" 20000 "$(number free cost rows)"

# What takes long is told, with what it read; without slow= from 100 ms on.
log=$store/LOG
: >"$log"
slow_lines() { grep -c ' slow_request ' "$log"; }
start_mount -o slow=1us,memory=16M
cat "$m/t/.scan/value/nothing/count" >out
cat "$m/t/row00007/f/q" >out
stop_mount
line=$(grep ' slow_request request=open ' "$log" | head -n 1)
check "each request" [ "$(slow_lines)" -gt 3 ]
pattern=' slow_request request=[a-z_0-9]+ us=[0-9]+ cells=[0-9]+ files=[0-9]+ excluded=[0-9]+ blocks=[0-9]+ blocks_read=[0-9]+ bytes_read=[0-9]+$'
same "in one form" 0 "$(grep ' slow_request ' "$log" | grep -vcE "$pattern")"
most=$(sed -n 's/.* slow_request request=read .* cells=\([0-9]*\) .*/\1/p' "$log" |
	sort -n | tail -n 1)
check "a scan passed what it passed" [ "$most" -ge 50000 ]
check "and read blocks" grep -qE ' request=read .* blocks_read=[1-9][0-9]* bytes_read=[1-9]' "$log"
check "row keys are in no line" sh -c "! grep -q row00007 '$log'"
: >"$log"
start_mount -o slow=0
cat "$m/t/.scan/value/nothing/count" >out
stop_mount
same "0 tells none" 0 "$(slow_lines)"

# Of calls, by their method.
: >"$log"
serve slow=1us
name=projects/p/instances/i/tables/t
check "a call" "$wire" "$address" /google.bigtable.v2.Bigtable/ReadRows \
	1=$name 2{ 1=row00007 } >out
T metrics >metrics
check "it is counted" grep -q \
	'^tabletfs_call_duration_seconds_count{method="Bigtable/ReadRows"} 1$' metrics
check "and over" grep -q \
	'^tabletfs_calls_running{method="Bigtable/ReadRows"} 0$' metrics
stop
line=$(grep ' slow_request request=Bigtable/ReadRows ' "$log")
check "it is told once" [ "$(wc -l <<<"$line")" = 1 ]
check "with what it passed" grep -qE ' cells=[1-9]' <<<"$line"
