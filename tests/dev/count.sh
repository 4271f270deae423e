#!/bin/bash
# tests/count on a small tree, of which every number is known, and what it says
# when one limit after the other is broken.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
count() {
	python3 "$top/tests/count" "$@" "$work"
}

# column NAME NUMBER: of the line that begins with this name.
column() {
	count | sed 's/ %//g' | awk -v name="$1" -v n="$2" '$1 == name { print $n }'
}

# breaks TEXT: the first limit that is broken is this one.
breaks() {
	same "limit" "$1" "$(count -check | sed '1,/^all/d' | sed -n 2p)"
	refuse "exit status" count -check >/dev/null
}

mkdir -p store/engine/deep fs tools
cat >store/engine/deep/log.h <<'C'
/* A header that tells
 * something. */
struct log {
	int (*read)(struct log *l); /* not a function of ours */
};
__attribute__((format(printf, 2, 3))) int log_print(struct log *l,
						    const char *fmt, ...);
int log_open(struct log *l);
static inline int log_size(const struct log *l)
{
	return l->read ? 1 : 0;
}
C
cat >store/engine/deep/log.c <<'C'
#include "store/engine/deep/log.h"

#define CALL(x)                                                                \
	{                                                                      \
		assert(x);                                                     \
	}
static_assert(sizeof(int) == 4, "assert(of text) {");

/* int hidden(void) { assert(1); } */
static const struct log logs[] = { { 0 }, { log_read } };

__attribute__((format(printf, 2, 3)))
int log_print(struct log *l, const char *fmt, ...)
{
	const char *odd = "/* { \" not a comment", brace = '{';

	assert(l); // and one of these
	if (fmt)
		assert_held(&l->lock);
	return odd[0] == brace;
}

int
log_open(struct log *l)
{
	return 0;
}

static void assert_quiet(struct log *l)
{
}
C
printf 'int main(void)\n{\n\treturn 0;\n}\n' >tools/main.c
printf 'int at_home(void);\nint far_away(void);\n' >fs/home.h
printf 'int at_home(void)\n{\n\treturn 0;\n}\n' >fs/home.c

same "files" 5 "$(column all 2)"
same "headers" 2 "$(column all 3)"
same "lines" 53 "$(column all 4)"
same "functions" 6 "$(column all 5)"
same "the median" 4 "$(column all 6)"
same "the 90th percentile" 10 "$(column all 7)"
same "the longest" 10 "$(column all 8)"
same "comment, of 43 lines 5" 11.6 "$(column store/engine/deep 9)"
same "assertions" 3 "$(column all 10)"
same "in 1,000 lines" 69.8 "$(column 'store/engine/**' 11)"
same "public functions" 3 "$(column all 12)"
same "each in its header" 0.0 "$(column all 13)"
same "sums over a tree" "2 43" \
	"$(column 'store/**' 2) $(column 'store/**' 4)"

# A function in the header of another file, and one in no header.
printf 'int far_away(void)\n{\n\treturn 0;\n}\n' >fs/away.c
same "one of four" 25.0 "$(column all 13)"
same "it is named" "fs/away.c:1: far_away in fs/home.h" \
	"$(count -v | tail -n 1)"
printf 'int far_away(void);\n' >away.h
mv away.h store/away.h
same "a header elsewhere is not its own" 25.0 "$(column all 13)"
rm store/away.h fs/home.h
same "two of four" 50.0 "$(column all 13)"
printf 'int at_home(void);\n' >fs/home.h
printf 'int far_away(void);\n' >fs/away.h
mkdir fs/room && mv fs/away.c fs/room/
same "a header of a folder above is" 0.0 "$(column all 13)"

# A tree within every limit, then one limit after the other.
for i in 1 2 3 4; do
	printf '/* Of use. */\nint f%d(void)\n{\n\tassert(1);\n}\n' "$i" >"fs/f$i.c"
	printf '/* Of use. */\nint f%d(void);\n' "$i" >"fs/f$i.h"
done
check "every limit is kept" count -check >/dev/null
cp -r "$work/fs" "$work/kept"
undo() {
	rm -rf "$work/fs" && cp -r "$work/kept" "$work/fs"
}

for i in $(seq 10 25); do printf '/* . */\n' >"fs/g$i.h"; done
breaks "fs: 27 files, at most 25"
undo
{ printf '/* . */\n%.0s' $(seq 140); printf '\n%.0s' $(seq 561); } >fs/f1.h
printf 'int f1(void);\n' >>fs/f1.h
for i in 1 2 3 4; do printf '\tassert(1);\n' >>fs/home.c; done
breaks "fs/f1.h: 702 lines, at most 700"
undo
# long LINES NAME: a function of so many lines, some of them comment.
long() {
	printf 'int %s(void)\n{\n' "$2"
	printf '\tassert(1);\n\t/* . */\n%.0s' $(seq $(($1 / 2 - 2)))
	printf '\n}\n'
}
printf 'int f1(void);\nint l1(void);\n' >fs/f1.h
long 60 l1 >>fs/f1.c
same "of 60 lines" "" "$(count -check | grep 'fs/f1.c')"
undo
long 60 l1 | sed 's/^}/\n&/' >>fs/f1.c
breaks "fs/f1.c:6: l1: 61 lines, at most 60"
undo
for i in $(seq 20); do long 16 "m$i"; done | sed 's/^int/static &/' >>fs/f1.c
breaks "median function: 16 lines, at most 13"
undo
for i in $(seq 4); do long 40 "m$i"; done | sed 's/^int/static &/' >>fs/f1.c
breaks "90 % of functions: up to 40 lines, at most 30"
undo
sed -i '/Of use/d' fs/*.[ch]
breaks "comments: 6.5 % of lines, 15 to 25"
undo
sed -i 's/assert/ensure/' fs/*.c
breaks "fs: 0.0 assertions in 1,000 lines, at least 5"
undo
printf 'int f1(void);\n' >fs/home.h
breaks "public functions declared elsewhere than in their own header: 12.5 %, \
below 5"
undo
printf 'int f(void)\n{\n' >fs/f1.c
same "what does not parse is told" \
	"fs/f1.c: line 2: what opens here does not close" "$(count 2>&1)"
refuse "and refused" count
