#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/filter/filter_text.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Filters as expressions: what each lets pass of a few cells, and what is said
 * of wrong ones. */
static struct store *s;

static void set(struct write *w, const char *family, const char *qualifier,
		uint64_t us, const char *value)
{
	ck_assert_int_eq(write_set(w, bytes_string(family),
				   bytes_string(qualifier), us,
				   bytes_string(value)),
			 0);
}

static void setup(void)
{
	struct family_spec specs[2] = { { .name = BYTES_LITERAL("f") },
					{ .name = BYTES_LITERAL("g") } };
	struct write *w;

	s = mem_store(NULL);
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, specs, 2), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("r1")),
			 0);
	set(w, "f", "a", 1, "old");
	set(w, "f", "a", 2, "new");
	set(w, "f", "b'", 1, "x");
	set(w, "g", "a", 3, "y");
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("r2")),
			 0);
	set(w, "f", "a", 1, "only");
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

/* "r1/f:a@2=new " and so on for all cells that pass. */
static void show(struct filter *f, struct buf *out)
{
	struct scan_range range = { .table = BYTES_LITERAL("t"), .filter = f };
	struct scan *scan;
	struct cell c;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &c) == 1)
		ck_assert_int_eq(
			buf_printf(out, "%.*s/%.*s:%.*s@%d=%.*s%.*s ",
				   (int)c.row.size, c.row.data,
				   (int)c.family.size, c.family.data,
				   (int)c.qualifier.size, c.qualifier.data,
				   (int)c.timestamp_us, (int)c.value.size,
				   c.value.data, (int)scan_label(scan).size,
				   scan_label(scan).data),
			0);
	scan_close(scan);
	ck_assert_int_eq(buf_terminate(out), 0);
}

START_TEST(expressions)
{
	static const char *const cases[][2] = {
		{ "pass_all", "r1/f:a@2=new r1/f:a@1=old r1/f:b'@1=x "
			      "r1/g:a@3=y r2/f:a@1=only " },
		{ " block_all ", "" },
		{ "row_key_regex('r[^1]')", "r2/f:a@1=only " },
		{ "family_name_regex(\"g\")", "r1/g:a@3=y " },
		{ "column_qualifier_regex('b''')", "r1/f:b'@1=x " },
		{ "column_qualifier_regex(\"b'\")", "r1/f:b'@1=x " },
		{ "value_regex( 'o\\w+' )", "r1/f:a@1=old r2/f:a@1=only " },
		{ "column_range('f', > 'a')", "r1/f:b'@1=x " },
		{ "column_range('f', >= 'a', < 'b')",
		  "r1/f:a@2=new r1/f:a@1=old r2/f:a@1=only " },
		{ "column_range('g')", "r1/g:a@3=y " },
		{ "value_range(>= 'x', <= 'y')", "r1/f:b'@1=x r1/g:a@3=y " },
		{ "value_range(>x'78')", "r1/g:a@3=y " },
		{ "value_bitmask(x'78')", "r1/f:b'@1=x r1/g:a@3=y " },
		{ "value_bitmask(x'01')", "r1/g:a@3=y " },
		{ "value_bitmask(x'0000')", "" },
		{ "timestamp_range(2, 3)", "r1/f:a@2=new " },
		{ "timestamp_range(3)", "r1/g:a@3=y " },
		{ "cells_per_row_limit(1)", "r1/f:a@2=new r2/f:a@1=only " },
		{ "cells_per_row_offset(3)", "r1/g:a@3=y " },
		{ "chain(row_key_regex('r1'),cells_per_column_limit(1))",
		  "r1/f:a@2=new r1/f:b'@1=x r1/g:a@3=y " },
		{ "chain(family_name_regex('g'), strip_value)", "r1/g:a@3= " },
		{ "chain(family_name_regex('g'), apply_label('l'))",
		  "r1/g:a@3=yl " },
		{ "interleave(value_regex('x'), value_regex('y'))",
		  "r1/f:b'@1=x r1/g:a@3=y " },
		{ "chain(interleave(chain(value_regex('x'), sink), "
		  "block_all), value_regex('no'))",
		  "r1/f:b'@1=x " },
		{ "condition(value_regex('new'), value_regex('x'), pass_all)",
		  "r1/f:b'@1=x r2/f:a@1=only " },
		{ "condition(value_regex('new'), block_all)", "" },
	};
	struct buf out = BUF_INIT;
	struct filter *f;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&out);
		ck_assert_msg(filter_parse(bytes_string(cases[i][0]), &f) == 0,
			      "%s: %s", cases[i][0], err_detail());
		show(f, &out);
		ck_assert_msg(!strcmp((char *)out.data, cases[i][1]),
			      "%s gives %s", cases[i][0], out.data);
		filter_free(f);
	}
	buf_release(&out);
}
END_TEST

START_TEST(wrong_expressions)
{
	static const char *const cases[][2] = {
		{ "", "at byte 1: the name of a filter is missing" },
		{ "foo", "there is none with the name foo" },
		{ "pass_all pass_all", "at byte 10: the filter ends" },
		{ "pass_all()", "at byte 9: the filter ends" },
		{ "value_regex", "at byte 12: a ( is missing" },
		{ "value_regex(", "at byte 13: a string in quotes" },
		{ "value_regex('a", "the closing quote is missing" },
		{ "value_regex('a'", "at byte 16: a ) is missing" },
		{ "value_regex('(')", "missing closing )" },
		{ "value_regex(x'0')", "no pair of hexadecimal" },
		{ "value_regex(x'00", "a ' is missing" },
		{ "cells_per_row_limit('1')", "a number is missing" },
		{ "cells_per_row_limit(1.5)", "is no integer" },
		{ "cells_per_row_limit(99999999999999999999)", "no integer" },
		{ "column_range(>= 'a')", "a string in quotes" },
		{ "column_range('f' >= 'a')", "a , is missing" },
		{ "column_range('f', 'a')", "a bound begins with" },
		{ "value_range(> 'a', >= 'b')", "a second bound" },
		{ "value_bitmask('')", "must not be empty" },
		{ "timestamp_range(-1)", "below 0" },
		{ "row_sample(0)", "between 0.0 and 1.0" },
		{ "row_sample(x)", "a number is missing" },
		{ "row_sample(1.2.3)", "is no number" },
		{ "chain(pass_all)", "at least two" },
		{ "chain(pass_all,)", "the name of a filter is missing" },
		{ "condition(pass_all)", "condition takes" },
		{ "condition(pass_all, pass_all, pass_all, pass_all)",
		  "condition takes" },
		{ "apply_label('A B')", "" },
	};
	struct buf deep = BUF_INIT;
	struct filter *f;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err_clear();
		ck_assert_msg(filter_parse(bytes_string(cases[i][0]), &f) ==
				      -ERR_bad_argument,
			      "%s", cases[i][0]);
		ck_assert_ptr_null(f);
		ck_assert_msg(strstr(err_detail(), cases[i][1]), "%s: %s",
			      cases[i][0], err_detail());
	}
	for (i = 0; i < 10000; i++)
		ck_assert_int_eq(buf_add_string(&deep, "chain("), 0);
	ck_assert_int_eq(filter_parse(buf_bytes(&deep), &f), -ERR_bad_argument);
	buf_release(&deep);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { expressions, wrong_expressions };

	return run_suite("filter_text", setup, teardown, tests, 2);
}
