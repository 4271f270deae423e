#include <stdio.h>
#include <stdlib.h>

#include "store/text/json/json_mutation.h"
#include "store/text/print/print.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Row mutations as JSON: what they do and what is refused. */
static struct store *store;

static void setup(void)
{
	const struct family_spec families[] = {
		{ BYTES_LITERAL("f"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("g"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("max"), NULL, FAMILY_INTMAX },
		{ BYTES_LITERAL("sum"), NULL, FAMILY_INTSUM },
	};

	store = mem_store(NULL);
	ck_assert_int_eq(store_create_table(store, BYTES_LITERAL("t"), false,
					    families, 4),
			 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* Texts are written with ' for ", to be read without backslashes. */
static char *quoted(const char *text)
{
	char *copy = strdup(text), *p;

	ck_assert_ptr_nonnull(copy);
	for (p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	return copy;
}

/* Parses and commits a line about row r: 0 or the error. */
static int apply(const char *text)
{
	char *line = quoted(text);
	uint64_t before = store_seq(store);
	int err =
		mutation_run_json(store, BYTES_LITERAL("t"), BYTES_LITERAL("r"),
				  bytes_string(line), false, NULL);

	if (err < 0)
		ck_assert_uint_eq(store_seq(store), before);
	free(line);
	return err;
}

/* Appends the cells that scan gives, which are of one row. */
static void print_row(struct scan *scan, bool all_versions, struct buf *out)
{
	enum cursor_step step = all_versions ? CURSOR_VERSION : CURSOR_COLUMN;
	struct printer *p;
	struct cell cell;
	int err;

	ck_assert_int_eq(printer_new(TEXT_JSONL, &p), 0);
	while ((err = scan_next(scan, step, &cell)) > 0)
		ck_assert_int_eq(printer_cell(p, &cell, out), 0);
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(printer_finish(p, out), 0);
	printer_free(p);
}

static void check_row(bool all_versions, const char *text)
{
	const struct scan_range range = { .table = BYTES_LITERAL("t"),
					  .row = BYTES_LITERAL("r") };
	char *want = quoted(text);
	struct buf out = BUF_INIT;
	struct scan *scan;

	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	print_row(scan, all_versions, &out);
	scan_close(scan);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data, want);
	buf_release(&out);
	free(want);
}

static const char first[] =
	"{'set': {'f': {'a': [{'value': '1', 'timestamp': 1}, "
	"{'value': '2', 'timestamp': 2}, {'value': '3', 'timestamp': 3}], "
	"'b': {'value': '4', 'timestamp': 4}}, "
	"'g': {'c': {'value': '5', 'timestamp': 5}}}}";

START_TEST(sets_and_prints)
{
	check_row(true, "");
	ck_assert_int_eq(apply(first), 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'a': "
			"[{'value': '3', 'timestamp': 3}, "
			"{'value': '2', 'timestamp': 2}, "
			"{'value': '1', 'timestamp': 1}], "
			"'b': {'value': '4', 'timestamp': 4}}, "
			"'g': {'c': {'value': '5', 'timestamp': 5}}}}\n");
	check_row(false, "{'row': 'r', 'set': {'f': {'a': "
			 "{'value': '3', 'timestamp': 3}, "
			 "'b': {'value': '4', 'timestamp': 4}}, "
			 "'g': {'c': {'value': '5', 'timestamp': 5}}}}\n");
}
END_TEST

START_TEST(deletes)
{
	ck_assert_int_eq(apply(first), 0);
	ck_assert_int_eq(apply("{'delete': {'f': {'qualifier': 'a', "
			       "'from': 2, 'to': 3}, 'g': true}}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'a': "
			"[{'value': '3', 'timestamp': 3}, "
			"{'value': '1', 'timestamp': 1}], "
			"'b': {'value': '4', 'timestamp': 4}}}}\n");
	ck_assert_int_eq(apply("{'delete': {'f': [{'base64': 'YQ=='}, "
			       "'none']}}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': "
			"{'b': {'value': '4', 'timestamp': 4}}}}\n");
	ck_assert_int_eq(apply("{'set': {'f': {'b': null}}}"), 0);
	check_row(true, "");
}
END_TEST

START_TEST(order)
{
	ck_assert_int_eq(apply(first), 0);
	/* Inside an object deletes go first, however it is written. */
	ck_assert_int_eq(apply("{'set': {'f': {'z': {'value': 6, "
			       "'timestamp': 0}}}, 'delete': true, "
			       "'row': 'r'}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'z': "
			"{'value': '6', 'timestamp': 0}}}}\n");
	ck_assert_int_eq(apply("{'mutations': [{'set': {'f': {'y': '7'}}}, "
			       "{'delete': {'f': true}}, {'set': {'f': {'x': "
			       "{'value': 8, 'timestamp': 0}}}}]}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'x': "
			"{'value': '8', 'timestamp': 0}}}}\n");
}
END_TEST

static const char *const wrong_lines[] = {
	"",
	"{",
	"[]",
	"null",
	"{'row': 'other'}",
	"{'row': 5}",
	"{'row': 'r', 'row': 'r'}",
	"{'set': []}",
	"{'set': {'f': 1}}",
	"{'set': {'f': {'a': {}}}}",
	"{'set': {'f': {'a': [['x']]}}}",
	"{'set': {'f': {'a': [null]}}}",
	/* of two versions at one time one would be lost */
	"{'set': {'f': {'a': []}}}",
	"{'set': {'f': {'a': ['x', 'y']}}}",
	"{'set': {'f': {'a': [{'value': 'x', 'timestamp': 3000}, "
	"{'value': 'y', 'timestamp': 1000}, "
	"{'value': 'z', 'timestamp': 3000}]}}}",
	"{'add': {'sum': {'a': []}}}",
	"{'set': {'f': {'a': 1, 'a': 2}}}",
	"{'set': {'f': {'a': {'value': null}}}}",
	"{'set': {'f': {'a': {'value': 1, 'x': 2}}}}",
	"{'set': {'f': {'a': {'value': 1, 'base64': ''}}}}",
	"{'set': {'f': {'a': {'base64': 'A'}}}}",
	"{'set': {'f': {'a': {'base64': '===='}}}}",
	"{'set': {'f': {'a': {'base64': 'A=AA'}}}}",
	"{'set': {'f': {'a': {'base64': 1}}}}",
	"{'set': {'f': {'base64:*': 1}}}",
	"{'set': {'f': {'a': {'value': 1, 'timestamp': -1}}}}",
	"{'set': {'f': {'a': {'value': 1, 'timestamp': 1.5}}}}",
	"{'set': {'f': {'a': {'value': 1, 'timestamp': true}}}}",
	"{'set': {'f': {'a': '\\ud800x'}}}",
	"{'set': {'f': {'a': '\\udc00'}}}",
	"{'set': {'f': {'a': '\xff'}}}",
	"{'set': {'nofam': {'a': 1}}}",
	"{'delete': false}",
	"{'delete': {'f': false}}",
	"{'delete': {'f': [1]}}",
	"{'delete': {'f': {'from': 1}}}",
	"{'delete': {'f': {'qualifier': 'a', 'to': 0}}}",
	"{'delete': {'f': {'qualifier': 'a', 'from': 2, "
	"'to': 2}}}",
	"{'mutations': {}}",
	"{'mutations': [1]}",
	"{'mutations': [{'row': 'r'}]}",
	"{'mutations': [{'mutations': []}]}",
	"{'mutations': [], 'set': {}}",
	"{'increment': {'f': {'a': 1.5}}}",
	"{'increment': {'f': {'a': '1'}}}",
	"{'increment': {'f': {'a': 9223372036854775808}}}",
	"{'increment': {'f': 1}}",
	"{'append': {'f': {'a': null}}}",
	"{'append': [], 'set': {'f': {'a': 1}}}",
	"{'append': {'nofam': {'a': 1}}}",
	"{'else': {'set': {'f': {'a': 1}}}}",
	"{'if': {'present': true}, 'else': 1}",
	"{'if': {'present': true}, 'else': {'row': 'r'}}",
	"{'if': {'present': true}, 'else': {'if': []}}",
	"{'if': {}, 'set': {'f': {'a': 1}}}",
	"{'if': 1, 'set': {'f': {'a': 1}}}",
	"{'if': {'absent': false}, 'set': {'f': {'a': 1}}}",
	"{'if': {'family': 'f', 'qualifier': 'a'}, 'set': {}}",
	"{'if': {'qualifier': 'a', 'absent': true}, 'set': {}}",
	"{'if': {'family': 'f', 'equals': 'a'}, 'set': {}}",
	"{'if': {'family': 'nofam', 'absent': true}, 'set': {}}",
	"{'if': {'absent': true, 'present': true}, 'set': {}}",
	"{'if': {'absent': true, 'sett': true}, 'set': {}}",
	"{'if': {'family': 'f', 'qualifier': 'a', 'matches': '('}}",
	"{'if': {'absent': true, 'any_version': 1}, 'set': {}}",
	"{'add': {'f': {'a': 1}}}",
	"{'add': {'sum': {'a': '1x'}}}",
	"{'add': {'sum': {'a': 1.5}}}",
	"{'add': {'sum': {'a': null}}}",
	"{'add': {'sum': {'a': {'timestamp': 1}}}}",
	"{'set': {'sum': {'a': 1}}}",
	"{'merge': {'sum': {'a': '1234567'}}}",
	"{'merge': {'f': {'a': '12345678'}}}",
	/* a condition that does not hold */
	"{'if': {'present': true}, 'set': {'f': {'a': 1}}}",
	"{'if': [{'absent': true}, {'family': 'f', 'present': true}], "
	"'set': {'f': {'a': 1}}}",
	"{'sett': {}}",
	"{} {}",
	/* the last mutation is wrong: nothing of it stays */
	"{'set': {'f': {'a': 1}, 'nofam': {'a': 1}}}",
};

START_TEST(refuses)
{
	size_t i;

	for (i = 0; i < sizeof(wrong_lines) / sizeof(*wrong_lines); i++) {
		err_clear();
		ck_assert_msg(apply(wrong_lines[i]) < 0, "taken: %s",
			      wrong_lines[i]);
		ck_assert_msg(err_detail()[0], "no reason: %s", wrong_lines[i]);
	}
	check_row(true, "");
}
END_TEST

START_TEST(ends_are_told)
{
	static const char *const lines[][2] = {
		{ "{'set", "JSON ends inside a string (byte 5)" },
		{ "{'\\n\\ud83d\\ude00': 'b', 'c\\\\': ['d\\ud800x']}",
		  "half a surrogate pair (byte 34)" },
		{ "{'\\\\ud800\\udc00': 1}", "half a surrogate pair (byte 9)" },
		{ "{'set':{'f':{'p':'a\\",
		  "JSON ends inside a string (byte 20)" },
		{ "{'delete':tru",
		  "JSON ends inside a number or word (byte 13)" },
		{ "{'add':{'f':{'p':-",
		  "JSON ends inside a number or word (byte 18)" },
		{ "{'set':{'f':{'p':'a'}", "JSON ends too early" },
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		ck_assert_int_eq(apply(lines[i][0]), -ERR_bad_line);
		ck_assert_str_eq(err_detail(), lines[i][1]);
	}
}
END_TEST

START_TEST(appends_and_increments)
{
	ck_assert_int_eq(apply("{'set': {'f': {'a': {'value': 'x', "
			       "'timestamp': 9000000000000000}}}, "
			       "'append': {'f': {'a': 'y'}}}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'a': {'value': 'xy', "
			"'timestamp': 9000000000000000}}}}\n");
	ck_assert_int_eq(apply("{'mutations': [{'append': {'f': {'a': "
			       "{'base64': '/w=='}}}}, {'delete': true}, "
			       "{'set': {'f': {'a': {'value': '1', "
			       "'timestamp': 9000000000000000}}}}, "
			       "{'append': {'f': {'a': 2}}}]}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'a': {'value': '12', "
			"'timestamp': 9000000000000000}}}}\n");
	ck_assert_int_eq(apply("{'increment': {'f': {'a': 1}}}"),
			 -ERR_not_a_number);
	ck_assert_int_eq(apply("{'set': {'f': {'a': {'base64': "
			       "'AAAAAAAAAAE=', 'timestamp': "
			       "9000000000000000}}}, "
			       "'increment': {'f': {'a': -2}}}"),
			 0);
	check_row(false, "{'row': 'r', 'set': {'f': {'a': {'base64': "
			 "'//////////8=', 'timestamp': 9000000000000000}}}}\n");
}
END_TEST

/* However many operations a column has, the result holds its last version; and
 * no more than some of those before, while it is made. */
START_TEST(a_result_has_the_last)
{
	struct json_result result = JSON_RESULT_INIT;
	struct buf line = BUF_INIT;
	struct cell cell;
	int i;

	buf_add_string(&line, "{\"mutations\": [{\"set\": {\"f\": {\"b\": \"");
	for (i = 0; i < 100000; i++)
		buf_add_byte(&line, 'x');
	buf_add_string(&line, "\"}}}");
	for (i = 0; i < 300; i++)
		buf_add_string(&line,
			       ", {\"increment\": {\"f\": {\"a\": 1}}}"
			       ", {\"append\": {\"f\": {\"b\": \".\"}}}");
	buf_add_string(&line, "]}");
	ck_assert_int_eq(mutation_run_json(store, BYTES_LITERAL("t"),
					   BYTES_LITERAL("r"), buf_bytes(&line),
					   false, &result),
			 0);
	ck_assert_uint_eq(result.count, 2);
	ck_assert_uint_le(result.room, 12);
	json_result_cell(&result, 0, &cell);
	ck_assert(bytes_equal(cell.value, bytes_of("\0\0\0\0\0\0\1\x2c", 8)));
	json_result_cell(&result, 1, &cell);
	ck_assert_uint_eq(cell.value.size, 100300);
	ck_assert_int_eq(cell.value.data[100299], '.');
	json_result_release(&result);
	buf_release(&line);
}
END_TEST

START_TEST(adds_and_merges)
{
	ck_assert_int_eq(apply("{'add': {'sum': {'a': [{'value': 5, "
			       "'timestamp': 1}, 2, {'value': 1, "
			       "'timestamp': 2}, 3]}, 'max': {'a': "
			       "{'value': -1, 'timestamp': 1}}}, "
			       "'set': {'f': {'a': {'value': 'x', "
			       "'timestamp': 1}}}}"),
			 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'a': {'value': 'x', "
			"'timestamp': 1}}}, 'merge': {'max': {'a': {'base64': "
			"'//////////8=', 'timestamp': 1}}, 'sum': {'a': "
			"[{'value': '\\u0000\\u0000\\u0000\\u0000\\u0000"
			"\\u0000\\u0000\\u0004', 'timestamp': 2}, {'value': "
			"'\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
			"\\u0007', 'timestamp': 1}]}}}\n");
	ck_assert_int_eq(
		apply("{'delete': true, 'merge': {'sum': {'a': "
		      "[{'base64': 'AAAAAAAAAAE=', 'timestamp': 3}, "
		      "{'base64': '//////////8=', 'timestamp': 3}]}}}"),
		0);
	check_row(true, "{'row': 'r', 'merge': {'sum': {'a': {'value': "
			"'\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
			"\\u0000\\u0000', 'timestamp': 3}}}}\n");
}
END_TEST

/* Whether the condition holds for the row that first made. */
static bool holds(const char *condition)
{
	char line[512];
	int err;

	snprintf(line, sizeof(line), "{'if': %s, 'set': {'f': {}}}", condition);
	err = apply(line);
	ck_assert_msg(err == 0 || err == -ERR_condition_failed, "%s: %s", line,
		      err_detail());
	return err == 0;
}

START_TEST(conditions)
{
	ck_assert(holds("{'absent': true}"));
	ck_assert(holds("[]"));
	ck_assert_int_eq(apply(first), 0);
	ck_assert(holds("{'present': true}"));
	ck_assert(holds("{'family': 'g', 'present': true}"));
	ck_assert(!holds("{'family': 'g', 'absent': true}"));
	ck_assert(holds("{'family': 'g', 'qualifier': 'a', 'absent': true}"));
	ck_assert(holds("{'family': 'f', 'qualifier': {'base64': 'YQ=='}, "
			"'equals': 3}"));
	ck_assert(!holds("{'family': 'f', 'qualifier': 'a', 'equals': '1'}"));
	ck_assert(holds("{'family': 'f', 'qualifier': 'a', 'equals': '1', "
			"'any_version': true}"));
	ck_assert(holds("{'family': 'f', 'qualifier': 'a', "
			"'matches': '[1-3]'}"));
	ck_assert(!holds("{'family': 'f', 'qualifier': 'a', "
			 "'matches': '[12]'}"));
	ck_assert(holds("{'family': 'f', 'qualifier': 'a', "
			"'matches': '[12]', 'any_version': true}"));
	ck_assert(!holds("{'family': 'f', 'qualifier': 'z', "
			 "'matches': '.*'}"));
	ck_assert(!holds("[{'present': true}, {'family': 'f', "
			 "'qualifier': 'a', 'equals': 4}]"));
}
END_TEST

START_TEST(otherwise)
{
	const char *line = "{'if': {'absent': true}, "
			   "'set': {'f': {'a': {'value': 1, 'timestamp': 0}}}, "
			   "'else': {'mutations': [{'delete': true}, "
			   "{'set': {'g': {'a': {'value': 2, "
			   "'timestamp': 0}}}}]}}";

	ck_assert_int_eq(apply(line), 0);
	check_row(true, "{'row': 'r', 'set': {'f': {'a': {'value': '1', "
			"'timestamp': 0}}}}\n");
	ck_assert_int_eq(apply(line), 0);
	check_row(true, "{'row': 'r', 'set': {'g': {'a': {'value': '2', "
			"'timestamp': 0}}}}\n");
}
END_TEST

/* Nesting and wide objects stay within bounds. */
START_TEST(bounds)
{
	struct buf line = BUF_INIT;
	int i;

	for (i = 0; i < 100000; i++)
		ck_assert_int_eq(buf_add_string(&line, "{\"set\":"), 0);
	ck_assert_int_eq(buf_terminate(&line), 0);
	ck_assert_int_eq(apply((char *)line.data), -ERR_bad_line);
	buf_reset(&line);
	ck_assert_int_eq(buf_add_string(&line, "{\"set\":{\"f\":{\"q\":0"), 0);
	for (i = 0; i < 50000; i++)
		ck_assert_int_eq(buf_printf(&line, ",\"q%d\":%d", i, i), 0);
	ck_assert_int_eq(buf_add_string(&line, ",\"q7\":1}}}"), 0);
	ck_assert_int_eq(buf_terminate(&line), 0);
	ck_assert_int_eq(apply((char *)line.data), -ERR_bad_line);
	ck_assert_str_eq(err_detail(), "key \"q7\" is given twice");
	line.size -= strlen(",\"q7\":1}}}");
	ck_assert_int_eq(buf_add_string(&line, "}}}"), 0);
	ck_assert_int_eq(buf_terminate(&line), 0);
	ck_assert_int_eq(apply((char *)line.data), 0);
	buf_release(&line);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { sets_and_prints,
				 deletes,
				 order,
				 refuses,
				 ends_are_told,
				 bounds,
				 appends_and_increments,
				 conditions,
				 otherwise,
				 a_result_has_the_last,
				 adds_and_merges };

	return run_suite("json", setup, teardown, tests, 11);
}
