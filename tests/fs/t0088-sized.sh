#!/bin/bash
# Exports on a mount have a size: programs that go by it, seek or map read all of
# the text, of one moment, or are told; whatever is written meanwhile.
#
# Alone: it has the kernel forget all pages.
MOUNT="-o export-max=20M"
. "$(dirname "$0")/lib.sh"
. "$fs_tests/duckdb.sh"
T() {
	"$TABLETFS" -store "$store" "$@"
}
stat_of() {
	sed -n "s/^$1 //p" "$m/.tabletfs/stats"
}

T createtable t families=f,n:never:intsum
python3 - >rows.jsonl <<'PY'
import json
for i in range(60000):
    print(json.dumps({"row": "r%06d" % i, "set": {"f": {
        "v": "x" * (i % 89), "q": '"quoted",\n%d' % i, "e": ""}}}))
print(json.dumps({"row": "r1", "set": {"f": {"large": "l\u00e4\n" * 1000000}}}))
PY
T import t rows.jsonl quiet=yes >/dev/null
T addtocell t r000003 n:n=5
start_mount
s=$m/t/.scan
none=$(stat_of memory_exports)

# Not in a listing, also with showctl; so du does not count them.
refuse "they are listed" grep -q export <(ls -a "$s")
same "none is made by looking" 0 "$(stat_of exports)"

for f in csv tsv jsonl; do
	cat "$s/$f" >"want.$f"
	size=$(stat -c %s "want.$f")
	same "$f: st_size" "$size" "$(stat -c %s "$s/export.$f")"
	check "$f: cat" cmp "want.$f" "$s/export.$f"
	same "$f: wc -c" "$size" "$(wc -c <"$s/export.$f")"
	check "$f: tail -c" cmp <(tail -c 777 "want.$f") <(tail -c 777 "$s/export.$f")
	cp "$s/export.$f" "copy.$f"
	check "$f: cp" cmp "want.$f" "copy.$f"
done
same "aggregates are numbers" 1 "$(grep -c '^r000003,n,n,[0-9]*,5$' want.csv)"
if command -v rsync >/dev/null; then
	rsync -a --inplace "$s/export.csv" rsynced.csv
	check "rsync" cmp want.csv rsynced.csv
fi
if command -v sqlite3 >/dev/null; then
	sqlite3 db.sqlite ".import --csv $s/export.csv t"
	same "sqlite3" "$(($(wc -l <"$s/keys") * 3 - 1))" \
		"$(sqlite3 db.sqlite 'select count(*) from t')"
fi
mkdir bin
if PATH=$work/bin:$PATH make_duckdb "$work/bin"; then
	same "DuckDB" "$(printf 'n,q\n%d,60000' "$(($(wc -l <"$s/keys") * 3 - 1))")" \
		"$(PATH=$work/bin:$PATH duckdb -csv -c "select count(*) as n,
			count_if(qualifier = 'q') as q
			from read_csv('$s/export.csv', all_varchar = true,
			max_line_size = 10000000)")"
else
	skip "there is no DuckDB"
fi
steps=prefix/r0/reverse/limit/30000/family/f/column/[ve]
cat "$s/$steps/jsonl" >steps.jsonl
check "with steps" cmp steps.jsonl "$s/$steps/export.jsonl"
same "an empty one" "$(cat "$s/prefix/none/csv")" "$(cat "$s/prefix/none/export.csv")"
same "of no bytes" 0 "$(stat -c %s "$s/prefix/none/export.jsonl")"

# At random, by several at once, by reads and by mappings, in small pieces.
cat >reads.py <<'PY'
import mmap, os, random, sys, threading
failed = []
def reads(path, want, seed):
    r = random.Random(seed)
    whole = open(want, "rb").read()
    with open(path, "rb", buffering=0) as f:
        if os.fstat(f.fileno()).st_size != len(whole):
            failed.append("size")
        for i in range(20):
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            at = r.choice([r.randrange(len(whole)), len(whole) - 5, i * 700000])
            n = r.choice([1, 4096, 200000])
            if os.pread(f.fileno(), n, at) != whole[at:at + n]:
                failed.append("at %d" % at)
        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            if mapped[:] != whole:
                failed.append("mapped")
            if mapped[-3:] != whole[-3:]:
                failed.append("end of the mapping")
threads = [threading.Thread(target=reads, args=(p, w, i)) for i, (p, w) in
           enumerate(zip(sys.argv[1::2], sys.argv[2::2]))]
for t in threads: t.start()
for t in threads: t.join()
print(*failed, file=sys.stderr)
sys.exit(bool(failed))
PY
pairs=()
for f in csv tsv jsonl; do
	pairs+=("$s/export.$f" "want.$f" "$s/export.$f" "want.$f")
done
pairs+=("$s/$steps/export.jsonl" steps.jsonl)
for i in 1 2 3 4 5; do pairs+=("$s/export.csv" want.csv); done
check "read at random" python3 reads.py "${pairs[@]}"
# What is kept is counted, and what is not open has no text in memory.
exec 3<"$s/export.csv" 4<"$s/export.tsv" 5<"$s/export.jsonl" \
	6<"$s/$steps/export.jsonl"
check "they are counted" test "$(stat_of exports)" -ge 4
exec 3<&- 4<&- 5<&- 6<&-
check "so is their memory" test "$(stat_of memory_exports)" -gt "$none"
check "which is places of rows" test "$(stat_of memory_exports)" -lt 100000

# While rows are written: what is open stays as it is, and is whole.
exec 5<"$s/export.csv"
(
	for i in $(seq 50); do
		echo "new $i" >"$m/t/r000001/f/v" && rm -r "$m/t/r0000$((i + 10))"
	done
) &
writer=$!
check "while others write" cmp want.csv /dev/fd/5
wait $writer
echo 3 >/proc/sys/vm/drop_caches 2>/dev/null
check "also later" python3 -c 'import os, sys
whole = open("want.csv", "rb").read()
at = len(whole) // 2
os.posix_fadvise(5, 0, 0, os.POSIX_FADV_DONTNEED)
sys.exit(os.pread(5, 1 << 20, at) != whole[at:at + (1 << 20)])'
exec 5<&-
T compact
check "and shared by who looks" cmp want.csv "$s/export.csv"
check "other steps see what is there now" \
	grep -q '^r000001,f,v,[0-9]*,"new 50$' "$s/prefix/r/export.csv"

# A rename takes the open one along; a dropped table ends it with an error.
exec 5<"$s/export.csv"
mv "$m/t" "$m/u"
check "after a rename" cmp want.csv /dev/fd/5
exec 5<&-
exec 5<"$m/u/.scan/limit/50000/export.csv"
head -c 100 <&5 >/dev/null
cat "$m/u/.scan/export.csv" >before
cat "$m/u/.scan/limit/50000/export.csv" >limited
T deletefamily u n
check "a dropped family is whole for who has it open" python3 -c 'import os, sys
whole = open("limited", "rb").read()
os.posix_fadvise(5, 0, 0, os.POSIX_FADV_DONTNEED)
sys.exit(os.pread(5, len(whole) + 1, 0) != whole)'
exec 5<&-
check "who opens it anew finds what is there" test "$(wc -c <before)" -gt \
	"$(wc -c <"$m/u/.scan/export.csv")"
check "as the text without a size" cmp <(cat "$m/u/.scan/csv") \
	<(cat "$m/u/.scan/export.csv")
s=$m/u/.scan
exec 5<"$s/limit/49999/export.csv"
T deletetable u
errno ESTALE python3 -c 'import os
os.posix_fadvise(5, 0, 0, os.POSIX_FADV_DONTNEED)
os.read(5, 1000)'
exec 5<&-
refuse "a table that is not there" cat "$s/export.csv"

# Limits: of one, of all.
T createtable big families=f
T import big rows.jsonl quiet=yes >/dev/null
remount -o export-max=1M
s=$m/big/.scan
errno EFBIG cat "$s/export.csv"
check "which is told" grep -q export-max "$m/.tabletfs/errors"
check "a part is not too large" test -s "$s/prefix/r00001/export.csv"
remount
s=$m/big/.scan
check "20 one after the other" python3 -c '
import sys
for i in range(1, 21):
    text = open("%s/limit/%d/export.csv" % (sys.argv[1], i)).read()
    assert text.count("\nr") == 3 * i, i' "$s"
check "of which 16 are kept" test "$(stat_of exports)" -le 16
python3 - "$s" <<'PY'
import errno, sys
files = []
try:
    for i in range(1, 40):
        files.append(open("%s/limit/%d/export.csv" % (sys.argv[1], i)))
    sys.exit("39 are open")
except OSError as e:
    assert e.errno == errno.EBUSY and len(files) == 16, (e, len(files))
for i, f in enumerate(files):
    assert f.read().count("\nr") == 3 * (i + 1)
PY
same "16 open are all that may be" 0 $?
check "and then others" test -s "$s/limit/41/export.csv"

# Half of them is what a user may have open who is neither root nor the mount's.
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$work"
	remount -o allow_other
	python3 - "$s" <<'PY'
import errno, os, sys
def open_all(limits):
    files = []
    try:
        for i in limits:
            files.append(open("%s/limit/%d/export.csv" % (sys.argv[1], i)))
    except OSError as e:
        assert e.errno == errno.EBUSY, e
    return files
os.seteuid(65534)
theirs = open_all(range(1, 40))
os.seteuid(0)
assert len(theirs) == 8, len(theirs)
assert len(open_all(range(101, 140))) == 8
theirs.pop().close()
os.seteuid(65534)
theirs += open_all([1])
assert len(theirs) == 8, len(theirs)
PY
	same "8 open are a user's share" 0 $?
	remount -o allow_other
	python3 - "$s" <<'PY'
import errno, os, sys
def open_all(uid, limits):
    files = []
    os.seteuid(uid)
    try:
        for i in limits:
            files.append(open("%s/limit/%d/export.csv" % (sys.argv[1], i)))
    except OSError as e:
        assert e.errno == errno.EBUSY, e
    os.seteuid(0)
    return files
first = open_all(65534, range(1, 9))
second = open_all(65533, range(1, 40))
assert (len(first), len(second)) == (8, 8), (len(first), len(second))
for f in first:
    f.close()
assert not open_all(65533, [9])
first = open_all(65534, range(9, 40))
assert len(first) == 8, len(first)
PY
	same "whoever opened them first" 0 $?
	remount
else
	skip "there is no second user"
fi

# A signal ends the making of one, and it leaves nothing.
python3 - "$s" <<'PY'
import os, signal, subprocess, sys, time
p = subprocess.Popen(["cat", sys.argv[1] + "/filter/value_regex('zzz')/reverse/export.csv"],
                     stdout=subprocess.DEVNULL)
time.sleep(0.02)
p.send_signal(signal.SIGINT)
p.wait(60)
PY
same "a signal" 0 $?
check "the mount goes on" test -d "$m/big/r000001"

# The end of the mount does not wait for who has one open.
exec 5<"$s/limit/7/export.csv"
kill -TERM "$daemon"
await_end
exec 5<&-
check "the store is sound" T check >/dev/null
