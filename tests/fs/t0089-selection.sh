#!/bin/bash
# Several keys and ranges in one command, and pages, with a store by itself and
# mounted: what is shown is what single commands show, each row once.
. "$(dirname "$0")/lib.sh"

t() {
	"$TABLETFS" -store "$store" "$@"
}
# The keys that a read shows, on one line.
rows() {
	t read t keys-only=true "$@" | grep -A1 -- '^----' | grep -v -- '^--' |
		tr '\n' ' '
}

t create
t createtable t families=f
t mutate t $(for k in a a1 b b1 c d e; do
	echo "{\"row\":\"$k\",\"set\":{\"f\":{\"q\":\"of-$k\",\"r\":\"x\"}}}"
done)
# A key that no argument can be, for the token.
t mutate t '{"row":{"base64":"YgAK/w=="},"set":{"f":{"q":"of-b"}}}'

both() {
	same "keys" "a c e " "$(rows key=e key=a key=nope key=c key=a)"
	same "an open start" "a1 b " "$(rows after=a through=b)"
	same "a closed end before all" "" "$(rows through=a after=a)"
	same "ranges that overlap" "a a1 c d " \
		"$(rows start=a end=b or start=a1 end=b or after=b1 through=d)"
	same "backwards" "d c a1 a " \
		"$(rows prefix=a or prefix=c or key=d reversed=true)"
	same "a limit is of all" "a a1 d " \
		"$(rows key=d prefix=a or start=d count=3)"
	same "of one range the last counts" "b " "$(rows start=a start=b end=b1 end=b1 count=1)"
	same "a pattern is of all" "a1 d " \
		"$(rows prefix=a or key=d start=d 'regex=a.|d')"
	same "count" 4 "$(t count t key=e prefix=a or prefix=d)"
	same "count what passes" 1 "$(t count t "filter=value_regex('of-c')")"
	same "lookup" "$(t lookup t b; t lookup t d)" \
		"$(t lookup t d key=b key=nope)"
	same "keys that are all missing" "" "$(t lookup t nope key=none)"
	same "one that is missing, as cbt shows it" "3 lines" \
		"$(t lookup t nope | wc -l) lines"
	same "a column that two patterns have" 1 \
		"$(t lookup t a 'columns=f:q,q,f:' | grep -c of-a)"
	for words in q q,zz zz,q; do
		same "a qualifier of one letter: columns=$words" "of-a of-a" \
			"$(t read t key=a columns=$words | grep -o of-a) $(
				t lookup t a columns=$words | grep -o of-a)"
		same "and of export" "a,f,q,of-a" \
			"$(t export t key=a columns=$words | sed -n '/^a,/s/,[0-9]*,/,/p')"
	done
	same "a colon alone is no family" "" "$(t read t columns=:)"
	same "a range is missing" \
		"tabletfs: \"or\" parts keys and ranges: one is missing" \
		"$(t read t prefix=a or 2>&1)"
	same "prefix and end" \
		"tabletfs: \"start\"/\"end\" may not be mixed with \"prefix\"" \
		"$(t read t key=a or prefix=a through=b 2>&1)"
	same "no or for lookup" 'tabletfs: bad arg "or"' \
		"$(t lookup t a or 2>&1)"
	same "rows seen are those of the ranges" "3 2 6 2 " \
		"$(t read t key=a key=c key=e include-stats=full \
			"filter=value_regex('of-[ac]')" |
			sed -n 's/.*_count: //p' | tr '\n' ' ')"
}

# All rows by pages of n with these words, until no token comes.
pages() {
	local n=$1 word=page=first times=0
	shift
	while [ -n "$word" ] && [ $((times += 1)) -lt 20 ]; do
		t read t count="$n" "$word" "$@" 2>"$work/next" | tr '\0' 0
		word=$(cat "$work/next")
	done
	echo "$times commands"
}

paging() {
	local n words all
	for words in "prefix=" "prefix=b" "prefix=a or key=e start=c" \
		"reversed=true" "columns=r reversed=true"; do
		all=$(t read t $words | tr '\0' 0)
		for n in 1 2 3; do
			same "pages of $n of $words" "$(grep -a . <<<"$all")" \
				"$(pages $n $words | grep -av commands | grep -a .)"
		done
	done
	same "a whole last page says no more" "1 commands" \
		"$(pages 2 prefix=a | tail -n 1)"
	same "no page, no token" "" "$(t read t count=1 2>&1 >/dev/null)"
	t read t count=1 page=first 2>"$work/next" >/dev/null
	word=$(cat "$work/next")
	# What comes and goes between two pages.
	t deleterow t a
	t set t a0 f:q=new
	same "behind the last row, though it is gone" "a0 a1 " \
		"$(rows count=2 "$word" 2>/dev/null)"
	t deleterow t a0
	t set t a f:q=of-a f:r=x
	for n in "${word%?}" page=Zm9v page=x "${word}A"; do
		same "not a token: $n" "tabletfs: Reading rows: $n is no whole \
token of a page; the first is page=first" "$(t read t count=1 "$n" 2>&1)"
	done
}

both
paging
start_mount || exit 1
both
paging
