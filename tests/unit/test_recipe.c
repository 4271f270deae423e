#include <stdio.h>

#include "store/base/err.h"
#include "store/text/recipe/apply.h"
#include "store/text/track/cells_seen.h"
#include "store/text/recipe/row_json.h"
#include "tests/unit/suite.h"

/* Recipes: their texts, and what they make of records. */

#define FIELDS_MAX 10

static struct recipe *parse(const char *text)
{
	struct recipe *r;

	ck_assert_int_eq(recipe_new(&r), 0);
	ck_assert_msg(recipe_parse(r, bytes_string(text), "r") == 0, "%s",
		      err_detail());
	ck_assert_msg(recipe_check(r) == 0, "%s", err_detail());
	return r;
}

/* Cuts "a|b" into fields; ~ is absent. How many there are. */
static size_t cut(const char *text, struct bytes *names,
		  struct record_column *columns)
{
	size_t count = 0;

	for (;; text++) {
		size_t size = strcspn(text, "|");

		ck_assert_int_lt(count, FIELDS_MAX);
		names[count] = bytes_of(text, size);
		columns[count].value = bytes_of(text, size);
		columns[count].absent = size == 1 && *text == '~';
		if (columns[count].absent)
			columns[count].value.size = 0;
		count++;
		text += size;
		if (!*text)
			return count;
	}
}

/* Appends what applier_next gives, until there is no more. */
static void run(struct applier *a, const struct record *record, struct buf *out)
{
	struct recipe_rows rows;
	size_t i;
	int err;

	applier_begin(a, record);
	while ((err = applier_next(a, &rows)) != 0) {
		ck_assert(err == 1 || err == -ERR_bad_line);
		if (err < 0)
			ck_assert_int_eq(
				buf_printf(out, "! %s\n", err_detail()), 0);
		for (i = 0; err == 1 && i < rows.count; i++)
			ck_assert_int_eq(row_json(&rows.rows[i], out), 0);
	}
}

static void check_output(struct buf *out, const char *want, const char *what)
{
	ck_assert_int_eq(buf_terminate(out), 0);
	ck_assert_msg(!strcmp((char *)out->data, want), "%s: got\n%s", what,
		      (char *)out->data);
	buf_release(out);
}

/* What the recipe makes of one record of CSV; a refusal is "! reason". */
static void check_csv(const char *recipe, const char *header,
		      const char *values, const char *want)
{
	struct record_column columns[FIELDS_MAX], unused[FIELDS_MAX];
	struct bytes names[FIELDS_MAX], more[FIELDS_MAX];
	struct record record = { .file = BYTES_LITERAL("f.csv"), .line = 7 };
	struct recipe *r = parse(recipe);
	struct buf out = BUF_INIT;
	struct applier *a;
	size_t count = cut(header, names, unused);

	ck_assert_int_eq(applier_new(r, 1234567, false, &a), 0);
	if (applier_header(a, names, count, true) < 0) {
		ck_assert_int_eq(buf_printf(&out, "!! %s\n", err_detail()), 0);
	} else {
		record.column_count = cut(values, more, columns);
		record.columns = columns;
		run(a, &record, &out);
	}
	check_output(&out, want, recipe);
	applier_free(a);
	recipe_free(r);
}

static void check_json(const char *recipe, const char *text, const char *want)
{
	struct recipe *r = parse(recipe);
	struct json json = { 0 };
	struct record record = { .file = BYTES_LITERAL("f"), .json = &json };
	struct buf out = BUF_INIT;
	struct applier *a;
	int err;

	ck_assert_int_eq(applier_new(r, 1234567, true, &a), 0);
	record.root = json_parse(&json, bytes_string(text), &err);
	ck_assert_msg(record.root, "%s", err_detail());
	if (applier_json(a) < 0)
		ck_assert_int_eq(buf_printf(&out, "!! %s\n", err_detail()), 0);
	else
		run(a, &record, &out);
	check_output(&out, want, recipe);
	applier_free(a);
	recipe_free(r);
	json_release(&json);
}

START_TEST(statements)
{
	check_csv("key {a}#{b}\nset f:q {c}\n", "a|b|c", "1|2|3",
		  "{\"row\": \"1#2\", \"set\": {\"f\": {\"q\": \"3\"}}}\n");
	check_csv("key {#2}{$line}{$file}\nset f: '{c} it''s {{}}'\n", "a|b|c",
		  "1|2|3",
		  "{\"row\": \"27f.csv\", \"set\": {\"f\": {\"\": \"3 it's "
		  "{}\"}}}\n");
	check_csv("key {\"a b\"}{\"x\"\"|\"}{c.d[0]}\nset f:q {\"\"}",
		  "a b|x\"|c.d[0]|", "1|2|3|4",
		  "!! the header has no field \"x\"|\"; it has "
		  "\"a b\", \"x\"\", \"c.d[0]\", \"\"\n");
	check_csv("key {\"a b\"}{\"x\"\"}\"}{c.d[0]}\nset f:q {\"\"}",
		  "a b|x\"}|c.d[0]|", "1|2|3|4",
		  "{\"row\": \"123\", \"set\": {\"f\": {\"q\": \"4\"}}}\n");
	/* An absent value is no cell, an empty one is. */
	check_csv("key {a}\nset f:x {b}\nset f:y {c}\nset f:z p{b}", "a|b|c",
		  "1|~|",
		  "{\"row\": \"1\", \"set\": {\"f\": {\"y\": \"\"}}}\n");
	check_csv("key {a}\nset f:{b} {c}", "a|b|c", "1|~|3",
		  "! a field of a qualifier of family \"f\" is absent\n");
	check_csv("key {a}\nset f:{b} {c}", "a|b|c", "1|~|~",
		  "{\"row\": \"1\"}\n");
	/* Times: of sets by at, of adds never. */
	check_csv(
		"key {a}\nat {t|time(unix_us)}\nset f:x {a}\nadd g:n 2\n"
		"add g:n {b} at {t|time(unix_us)|floor(1ms)}",
		"a|b|t", "1|-5|12345",
		"{\"row\": \"1\", \"set\": {\"f\": {\"x\": {\"value\": \"1\", "
		"\"timestamp\": 12345}}}, \"add\": {\"g\": {\"n\": "
		"[{\"value\": 2, \"timestamp\": 1234567}, {\"value\": -5, "
		"\"timestamp\": 12000}]}}}\n");
	check_csv("key {a}\nat {t|time(unix_us)}\nset f:x {a}", "a|t", "1|-1",
		  "! the time of \"at\" is before 1970, which no cell can "
		  "have\n");
	check_csv("key {a}\nat {t|time(unix_us)}\nset f:x {a}", "a|t", "1|~",
		  "! the field of \"at\" is absent\n");
	check_csv("key {a}\nadd g:n {b}", "a|b", "1|1.5",
		  "! \"1.5\" is no 64-bit integer that could be added\n");
	check_csv("key {a}\nadd g:n {b}", "a|b", "1|~", "{\"row\": \"1\"}\n");
	/* As a counter's file has it. */
	check_csv("key {a}\nadd g:n {b}", "a|b", "1| 5\t",
		  "{\"row\": \"1\", \"add\": {\"g\": {\"n\": {\"value\": 5, "
		  "\"timestamp\": 1234567}}}}\n");
	check_csv("key {a}\nadd g:n {b}", "a|b", "1|", "{\"row\": \"1\"}\n");
	check_csv("key {a}\nadd g:n {b}", "a|b", "1| ", "{\"row\": \"1\"}\n");
	check_csv("key {a}\nadd g:n {b}", "a|b", "1|5 6",
		  "! \"5 6\" is no 64-bit integer that could be added\n");
	check_csv("key {a}\nset f:{a} 1\nset f:{b} 2", "a|b", "x|x",
		  "! column \"f:x\" is set twice by one record\n");
	check_csv("key {a|unhex}\nset f:{a|unhex} {a|unhex}", "a", "ff",
		  "{\"row\": {\"base64\": \"/w==\"}, \"set\": {\"f\": "
		  "{\"base64:/w==\": {\"base64\": \"/w==\"}}}}\n");
	check_csv("key {a|lower|trim|upper|trim|lower}\nset f:q x", "a", " aB ",
		  "{\"row\": \"ab\", \"set\": {\"f\": {\"q\": \"x\"}}}\n");
}
END_TEST

/* A time may be joined of several fields. */
START_TEST(joined_times)
{
	check_csv("key {a}\nat {d}T{t|trim}Z\nset f:x 1", "a|d|t",
		  "1|1970-01-01| 00:00:01 ",
		  "{\"row\": \"1\", \"set\": {\"f\": {\"x\": {\"value\": "
		  "\"1\", \"timestamp\": 1000000}}}}\n");
	check_csv("key {a}\nat {d}T{t}:00\nset f:x 1\nadd g:n 1 at '{d} {t}'",
		  "a|d|t", "1|1970-01-01|0:01",
		  "! \"1970-01-01T0:01:00\" is no time of ISO 8601\n");
	check_csv("key {a}\nat {d}T{t}\nset f:x 1", "a|d|t", "1|1970-01-01|~",
		  "! the field of \"at\" is absent\n");
}
END_TEST

START_TEST(rows)
{
	/* What follows a key is of its row. */
	check_csv("set f:0 {a}\nkey {a}\nset f:1 {a}\nkey {b}\nadd g:n 1\n",
		  "a|b", "x|y",
		  "{\"row\": \"x\", \"set\": {\"f\": {\"0\": \"x\", \"1\": "
		  "\"x\"}}}\n{\"row\": \"y\", \"add\": {\"g\": {\"n\": "
		  "{\"value\": 1, \"timestamp\": 1234567}}}}\n");
	/* Keys side by side share it. */
	check_csv("key {a}\nkey {b}\nset f:1 z", "a|b", "x|y",
		  "{\"row\": \"x\", \"set\": {\"f\": {\"1\": \"z\"}}}\n"
		  "{\"row\": \"y\", \"set\": {\"f\": {\"1\": \"z\"}}}\n");
	/* One wrong key refuses both. */
	check_csv("key {a}\nset f:1 z\nkey {b}\nset f:1 z", "a|b", "x|~",
		  "! field \"b\": it is absent, and the row key needs it\n");
}
END_TEST

START_TEST(keys)
{
	check_csv("key {a}#{b}\nset f:q 1", "a|b", "x#y|z",
		  "! field \"a\": it holds \"#\", which parts the row key; "
		  "|any lets it\n");
	check_csv("key {a|any}#{b}\nset f:q 1", "a|b", "x#y|z#z",
		  "{\"row\": \"x#y#z#z\", \"set\": {\"f\": {\"q\": \"1\"}}}\n");
	/* Where the first ends would not be known. */
	check_csv("key {a}##{b}\nset f:q 1", "a|b", "x#|z",
		  "! field \"a\": it holds \"##\", which parts the row key; "
		  "|any lets it\n");
	check_csv("key {a}##{b}\nset f:q 1", "a|b", "x#y|#z",
		  "{\"row\": \"x#y###z\", \"set\": {\"f\": {\"q\": \"1\"}}}\n");
	check_csv("key {a}#\nset f:q 1", "a", "#",
		  "! field \"a\": it holds \"#\", which parts the row key; "
		  "|any lets it\n");
	check_csv("key {a}\nset f:q 1", "a", "~",
		  "! field \"a\": it is absent, and the row key needs it\n");
	check_csv("key {a}\nset f:q 1", "a", "",
		  "! field \"a\": it is empty, and the row key needs it\n");
	check_csv("key {a|trim}\nset f:q 1", "a", "  ",
		  "! field \"a\": it is empty, and the row key needs it\n");
	check_csv("key {a|default(none)}\nset f:q 1", "a", "~",
		  "{\"row\": \"none\", \"set\": {\"f\": {\"q\": \"1\"}}}\n");
	check_csv("key {a|pad(4096)}x\nset f:q 1", "a", "1",
		  "! the row key has 4097 bytes; 4096 are allowed\n");
}
END_TEST

static void check_skip(const char *condition, const char *values, bool skipped)
{
	char text[200];

	snprintf(text, sizeof(text), "key k\nset f:q v\nskip %s", condition);
	check_csv(text, "a|b", values,
		  skipped ? ""
			  : "{\"row\": \"k\", \"set\": {\"f\": {\"q\": "
			    "\"v\"}}}\n");
}

START_TEST(conditions)
{
	check_skip("{a} = x", "x|", true);
	check_skip("{a} = x", "y|", false);
	check_skip("{a} = x", "~|", false);
	check_skip("{a} = ''", "|", true);
	check_skip("{a} != x", "x|", false);
	check_skip("{a} != x", "~|", true);
	check_skip("{a} = {b}", "p|p", true);
	check_skip("{a} < 10", "9|", true);
	check_skip("{a} < 10", "10|", false);
	check_skip("{a} > 1.5", "1e1|", true);
	check_skip("{a} > 9007199254740992", "9007199254740993|", true);
	check_skip("{a} < b", "a|", true);
	check_skip("{a} > 10", "~|", false);
	check_skip("{a} < 10", "~|", false);
	check_skip("{a} ~ 'a.*z'", "abz|", true);
	check_skip("{a} ~ b", "abz|", false);
	check_skip("{a} ~ 'b{{2}}'", "bb|", true);
	check_skip("{a} exists", "|", true);
	check_skip("{a} exists", "~|", false);
	check_skip("{a} empty", "|", true);
	check_skip("{a} empty", "~|", true);
	check_skip("{a} empty", "x|", false);
	check_skip("{a|trim} empty", " |", true);
	/* A column that is not there is absent, where that is asked. */
	check_skip("{nope} exists", "x|", false);
	check_csv("key k\nset f:q v\nskip {nope} = x", "a", "x",
		  "!! the header has no field \"nope\"; it is one field: is it "
		  "CSV, and the delimiter right?\n");
}
END_TEST

START_TEST(headers)
{
	check_csv("key {a}\nrest f", "a|b|c", "1|2|~",
		  "{\"row\": \"1\", \"set\": {\"f\": {\"b\": \"2\"}}}\n");
	check_csv("key {a}\nrest f", "a|b|b", "1|2|3",
		  "!! the header has twice, for rest, the field \"b\"\n");
	check_csv("key {a}\nset f:q {a}", "a|a", "1|2",
		  "!! the header has twice the field \"a\"\n");
	check_csv("key {a}\nset f:q {#4}", "a|b", "1|2",
		  "!! the header has no field \"#4\"; it has \"a\", "
		  "\"b\"\n");
	check_csv("key {x}\nset f:q 1",
		  "1|2|3|4|5|6|7|twenty-three bytes ... \xc3\xa4|9", "1",
		  "!! the header has no field \"x\"; it has \"1\", \"2\", "
		  "\"3\", \"4\", \"5\", \"6\", \"7\", \"twenty-three bytes "
		  "... ...\", ...\n");
	check_csv("key {a}\nset f:q {#1}", "b", "1",
		  "!! the header has no field \"a\"; it is one field: is it "
		  "CSV, and the delimiter right?\n");
	check_csv("key {a}\nset f:q {#1}", "# a table|b", "1|2",
		  "!! the header has no field \"a\"; it begins with #: "
		  "comment='#' passes over such lines\n");
	check_csv("key {a}\nset f:q {b|default(x)}", "a", "1",
		  "{\"row\": \"1\", \"set\": {\"f\": {\"q\": \"x\"}}}\n");
	check_csv("key {a}\nset f:q 1\nexplode {a}", "a", "1",
		  "!! explode is of JSON, whose records have arrays and "
		  "objects\n");
	/* A statement that was replaced asks for nothing. */
	check_csv(
		"at {gone|time}\nkey {a}\nset f:q 1\nat {t|time(unix_s)}",
		"a|t", "1|2",
		"{\"row\": \"1\", \"set\": {\"f\": {\"q\": {\"value\": \"1\", "
		"\"timestamp\": 2000000}}}}\n");
}
END_TEST

START_TEST(json_records)
{
	check_json("key {a.b[1]}{\"c.d\"}{\"c.d\".e}\nset f:q {a}",
		   "{\"a\": {\"b\": [1, \"x\"]}, \"c.d\": \"y\"}",
		   "! field \"c.d.e\": it is absent, and the row key needs "
		   "it\n");
	check_json("key {a.b[1]}{\"c.d\"}\nset f:q {a}\nset f:r {a.b[0]|json}\n"
		   "set f:s {\"c.d\"|json}\nset f:t {n}\nset f:u {e}",
		   "{\"a\": {\"b\": [1, \"x\"]}, \"c.d\": \"y\", \"n\": null, "
		   "\"e\": \"\"}",
		   "{\"row\": \"xy\", \"set\": {\"f\": {\"q\": "
		   "\"{\\\"b\\\":[1,\\\"x\\\"]}\", \"r\": \"1\", \"s\": "
		   "\"\\\"y\\\"\", \"u\": \"\"}}}\n");
	/* What explode has taken out is told, or else what there is. */
	check_json("key {x}\nexplode {a.b}\nset f:q 1",
		   "{\"a\": {\"b\": [{\"x\": 1}, {\"y\": 2}]}}",
		   "! field \"x\": it is absent, and the row key needs it; "
		   "{a.b.x} is there\n! field \"x\": it is absent, and the row "
		   "key needs it; the record has \"a\"\n");
	check_json("key {x}\nset f:q 1", "{}",
		   "! field \"x\": it is absent, and the row key needs it; the "
		   "record has none\n");
	/* Under rest objects are flat, arrays are text; what is named, and what
	 * lies in it, is left out. */
	check_json("key {k.id}\nset g:q {m}\nrest f",
		   "{\"k\": {\"id\": 1, \"x\": true}, \"m\": {\"y\": 1}, "
		   "\"l\": [{}], \"o\": {}, \"z\": null}",
		   "{\"row\": \"1\", \"set\": {\"f\": {\"k.x\": \"true\", "
		   "\"l\": \"[{}]\"}, \"g\": {\"q\": \"{\\\"y\\\":1}\"}}}\n");
	check_json("key k\nrest f", "{\"a.b\": 1, \"a\": {\"b\": 2}}",
		   "! column \"f:a.b\" is set twice by one record\n");
	check_json("key {#1}\nrest f", "{}",
		   "!! {#1} is a position, which only CSV and TSV have\n");
}
END_TEST

START_TEST(exploded_records)
{
	check_json(
		"key {i}#{a.x}\nexplode {a}\nrest f",
		"{\"i\": 1, \"p\": 2, \"a\": [{\"x\": 1, \"y\": 2}, {\"y\": "
		"3}, {\"x\": 4}]}",
		"{\"row\": \"1#1\", \"set\": {\"f\": {\"a.y\": \"2\", \"p\": "
		"\"2\"}}}\n! field \"a.x\": it is absent, and the row key "
		"needs it\n{\"row\": \"1#4\", \"set\": {\"f\": {\"p\": "
		"\"2\"}}}\n");
	check_json("key {a}\nexplode {a}\nset f:q 1", "{\"a\": [\"x\", \"y\"]}",
		   "{\"row\": \"x\", \"set\": {\"f\": {\"q\": \"1\"}}}\n"
		   "{\"row\": \"y\", \"set\": {\"f\": {\"q\": \"1\"}}}\n");
	check_json("key {a}\nexplode {a}\nset f:q 1", "{}", "");
	check_json("key {a}\nexplode {a}\nset f:q 1", "{\"a\": 1}",
		   "! field \"a\" is no array or object\n");
	/* Of an object the members are elements, and their keys are names. */
	check_json("key {i}#{$name|any}\nexplode {a}\nset f:{$name} {a.x}\n"
		   "rest f",
		   "{\"i\": 1, \"p\": 2, \"a\": {\"b#c\": {\"x\": 3, \"y\": "
		   "4}, \"\": {}, \"d\": 5}}",
		   "{\"row\": \"1#b#c\", \"set\": {\"f\": {\"a.y\": \"4\", "
		   "\"b#c\": \"3\", \"p\": \"2\"}}}\n"
		   "! field \"$name\": it is empty, and the row key needs it\n"
		   "{\"row\": \"1#d\", \"set\": {\"f\": {\"a\": \"5\", "
		   "\"p\": \"2\"}}}\n");
	check_json("key {$name|default(root)}\nexplode {a}\nset f:q {a}",
		   "{\"a\": {\"\": 1}}",
		   "{\"row\": \"root\", \"set\": {\"f\": {\"q\": \"1\"}}}\n");
	check_json("key {$name}\nexplode {a}\nset f:q {a}", "{\"a\": {}}", "");
	check_json("key {$name}\nexplode {a}\nset f:q {a}",
		   "{\"a\": [\"x\", \"y\"]}",
		   "{\"row\": \"0\", \"set\": {\"f\": {\"q\": \"x\"}}}\n"
		   "{\"row\": \"1\", \"set\": {\"f\": {\"q\": \"y\"}}}\n");
	/* A record whose members are the records. */
	check_json("key {$name}#{i}\nexplode .\nset f:q {a.x}\nrest f",
		   "{\"p\": {\"i\": 1, \"a\": {\"x\": 2, \"y\": 3}}, "
		   "\"q\": {\"j\": 1}, \"r\": 1}",
		   "{\"row\": \"p#1\", \"set\": {\"f\": {\"a.y\": \"3\", "
		   "\"q\": \"2\"}}}\n! field \"i\": it is absent, and the row "
		   "key needs it; the record has \"j\"\n! member \"r\": a "
		   "record is a JSON object\n");
	/* A table of milliseconds. */
	check_json("key {a}\nat {a|time(unix_us)}\nset f:q 1\nadd g:n 1",
		   "{\"a\": 1999}",
		   "{\"row\": \"1999\", \"set\": {\"f\": {\"q\": {\"value\": "
		   "\"1\", \"timestamp\": 1000}}}, \"add\": {\"g\": {\"n\": "
		   "{\"value\": 1, \"timestamp\": 1234000}}}}\n");
}
END_TEST

START_TEST(wrong_recipes)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "key", "r:1:4: " },
		{ "key {a} b", "r:1:9: " },
		{ "key ''", "r:1:7: " },
		{ "key {}", "r:1:6: " },
		{ "key {a b}", "r:1:7: " },
		{ "key {\"a}", "r:1:6: " },
		{ "key {#0}", "r:1:6: " },
		{ "key {$x}", "r:1:6: " },
		{ "key {a|trim(}", "r:1:14: " },
		{ "key {a|part(1,2,3)}", "r:1:17: " },
		{ "key {a|part(1,\"/)}", "r:1:15: " },
		{ "key {a|time|trim}", "r:1:17: " },
		{ "key {a|floor(1h)}", "r:1:17: " },
		{ "at x{a|time}", "r:1:4: " },
		{ "at '' # none", "r:1:6: " },
		{ "set f:q", "r:1:8: " },
		{ "set q x", "r:1:5: " },
		{ "set :q x", "r:1:5: " },
		{ "set {f}:q x", "r:1:5: " },
		{ "rest f:q", "r:1:6: " },
		{ "rest", "r:1:5: " },
		{ "add f:q 1 on {t|time}", "r:1:11: " },
		{ "add f:q 1 at", "r:1:13: " },
		{ "skip {a} <", "r:1:11: " },
		{ "skip {a} exists x", "r:1:17: " },
		{ "skip {a} ~ {b}", "r:1:12: " },
		{ "explode {a|trim}", "r:1:9: " },
		{ "explode x", "r:1:9: " },
		{ "explode {a}\nexplode .", "r:2:1: a recipe explodes once" },
		{ "format xml", "r:1:8: " },
		{ "header maybe", "r:1:8: " },
		{ "header names:", "r:1:14: " },
		{ "delimiter ab", "r:1:11: " },
		{ "bytes hex", "r:1:7: " },
		{ "zone +25:00", "r:1:6: " },
		{ "\n\n \tnope", "r:3:3: " },
		{ "key 'a''b", "r:1:5: " },
	};
	struct recipe *r;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(recipe_new(&r), 0);
		ck_assert_msg(recipe_parse(r, bytes_string(cases[i].text),
					   "r") == -ERR_bad_argument,
			      "%s", cases[i].text);
		ck_assert_msg(!strncmp(err_detail(), cases[i].want,
				       strlen(cases[i].want)),
			      "%s: %s", cases[i].text, err_detail());
		recipe_free(r);
	}
}
END_TEST

START_TEST(incomplete_recipes)
{
	struct recipe *r;

	ck_assert_int_eq(recipe_new(&r), 0);
	ck_assert_int_eq(recipe_add_word(r, "set=f:q {a}"), 0);
	ck_assert(!recipe_has_key(r));
	ck_assert_int_eq(recipe_check(r), -ERR_bad_argument);
	ck_assert_int_eq(recipe_add_word(r, "key={a}"), 0);
	ck_assert_int_eq(recipe_check(r), 0);
	ck_assert_int_eq(recipe_add_word(r, "set=f:q {a}"), 0);
	ck_assert_int_eq(recipe_add_word(r, "key={b}"), 0);
	ck_assert_int_eq(recipe_check(r), -ERR_bad_argument);
	/* The same column of two rows, and twice of one. */
	ck_assert_int_eq(recipe_add_word(r, "set=f:r 1"), 0);
	ck_assert_int_eq(recipe_add_word(r, "key={c}"), 0);
	ck_assert_int_eq(recipe_add_word(r, "set=f:r 1"), 0);
	ck_assert_int_eq(recipe_check(r), 0);
	ck_assert_int_eq(recipe_add_word(r, "set=f:r 2"), 0);
	ck_assert_int_eq(recipe_check(r), -ERR_bad_argument);
	ck_assert_str_eq(err_detail(), "the recipe sets a column twice: \"set "
				       "f:r 1\" and \"set f:r 2\"");
	recipe_free(r);
}
END_TEST

/* Words behind a text: some add, others replace, in their place. What is
 * printed reads as the same. */
START_TEST(words_and_text)
{
	static const char want[] = "key {a}\nzone +02:00\nset f:q x # y\n"
				   "rest g\nkey {b}\nset f:r 'x = y'\n"
				   "delimiter ';'\nquote ''''\ncomment '#'\n";
	struct recipe *r, *again;
	struct buf text = BUF_INIT, second = BUF_INIT;

	ck_assert_int_eq(recipe_new(&r), 0);
	ck_assert_int_eq(
		recipe_parse(r,
			     BYTES_LITERAL("\xef\xbb\xbfkey {a}\r\n# none\n"
					   "zone Z\nset f:q x # y\nrest f\n"),
			     "r"),
		0);
	ck_assert_int_eq(recipe_add_word(r, "key={b}"), 0);
	ck_assert_int_eq(recipe_add_word(r, "set=f:r 'x = y'"), 0);
	ck_assert_int_eq(recipe_add_word(r, "zone=+02:00"), 0);
	ck_assert_int_eq(recipe_add_word(r, "rest=g"), 0);
	ck_assert_int_eq(recipe_add_word(r, "delimiter=;"), 0);
	ck_assert_int_eq(recipe_add_word(r, "quote='"), 0);
	ck_assert_int_eq(recipe_add_word(r, "comment=#"), 0);
	ck_assert_int_eq(recipe_check(r), 0);
	ck_assert_int_eq(recipe_source(r)->zone_s, 7200);
	ck_assert_int_eq(recipe_source(r)->delimiter, ';');
	ck_assert_int_eq(recipe_source(r)->quote, '\'');
	ck_assert_int_eq(recipe_source(r)->comment, '#');
	ck_assert_int_eq(recipe_print(r, &text), 0);
	ck_assert_int_eq(recipe_new(&again), 0);
	ck_assert_int_eq(recipe_parse(again, buf_bytes(&text), "again"), 0);
	ck_assert_int_eq(recipe_print(again, &second), 0);
	ck_assert(bytes_equal(buf_bytes(&text), buf_bytes(&second)));
	check_output(&text, want, "printed");
	buf_release(&second);
	recipe_free(r);
	recipe_free(again);
}
END_TEST

START_TEST(cells_are_seen)
{
	struct bytes a = BYTES_LITERAL("a"), ab = BYTES_LITERAL("ab");
	struct bytes b = BYTES_LITERAL("b"), none = BYTES_NONE;
	uint64_t hash = cells_seen_hash(a, b, none, 1), i;
	struct cells_seen seen;

	ck_assert(hash != cells_seen_hash(ab, none, none, 1));
	ck_assert(hash != cells_seen_hash(a, none, b, 1));
	ck_assert(hash != cells_seen_hash(a, b, none, 2));
	cells_seen_init(&seen, 4096 * sizeof(uint64_t));
	ck_assert(!cells_seen_has(&seen, hash));
	for (i = 0; i < 3000; i++)
		ck_assert_int_eq(cells_seen_add(&seen, hash + i), 0);
	ck_assert(!seen.full);
	for (i = 0; i < 3000; i++)
		ck_assert(cells_seen_has(&seen, hash + i));
	ck_assert(!cells_seen_has(&seen, hash + i));
	for (; i < 4096; i++)
		ck_assert_int_eq(cells_seen_add(&seen, hash + i), 0);
	ck_assert(seen.full);
	cells_seen_release(&seen);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { statements,     joined_times,
				 rows,           keys,
				 conditions,     headers,
				 json_records,   exploded_records,
				 wrong_recipes,  incomplete_recipes,
				 words_and_text, cells_are_seen };

	return run_suite("recipes", NULL, NULL, tests, 12);
}
