#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "store/text/import/import.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Imports that are dropped at any point and go on: what is in at the end is
 * what one run brings in, each record once. */

#define TABLE BYTES_LITERAL("t")

static struct store *open_store(void)
{
	const struct family_spec families[] = {
		{ BYTES_LITERAL("f"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("s"), NULL, FAMILY_INTSUM },
	};
	struct store *s;

	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, TABLE, false, families, 2), 0);
	return s;
}

/* All versions, without their times. */
static void dump(struct store *s, struct buf *out)
{
	struct scan_range range = { .table = TABLE };
	struct scan *scan;
	struct cell c;
	int more;

	buf_reset(out);
	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while ((more = scan_next(scan, CURSOR_VERSION, &c)) > 0)
		ck_assert_int_eq(buf_add_bytes(out, c.row) ||
					 buf_add_bytes(out, c.family) ||
					 buf_add_bytes(out, c.qualifier) ||
					 buf_add_byte(out, '=') ||
					 buf_add_bytes(out, c.value) ||
					 buf_add_byte(out, '\n'),
				 0);
	ck_assert_int_eq(more, 0);
	scan_close(scan);
}

static struct recipe *parse(const char *text)
{
	struct recipe *r;

	ck_assert_int_eq(recipe_new(&r), 0);
	ck_assert_int_eq(recipe_parse(r, bytes_string(text), "r"), 0);
	ck_assert_int_eq(recipe_check(r), 0);
	return r;
}

static struct importer *begin(struct store *s, struct recipe *r,
			      const char *name, bool strict)
{
	struct import_options o = { .table = TABLE,
				    .recipe = r,
				    .strict = strict,
				    .resume = bytes_string(name) };
	struct importer *im;
	int err = importer_new(s, TEXT_CSV, &o, &im);

	ck_assert_msg(err == 0, "%s", err_detail());
	ck_assert_int_eq(
		importer_begin_file(im, BYTES_LITERAL("x"), RECIPE_UNSAID), 0);
	return im;
}

/* Feeds the text up to a size, in pieces of up to max, and drops the import in
 * three of four cases after a random piece. 1 if it came to the end. */
static bool run(struct store *s, struct recipe *r, struct bytes text,
		size_t size, size_t max)
{
	struct importer *im = begin(s, r, "x", false);
	size_t at = 0, end = (size_t)rand() % (size + size / 4 + 1);
	bool whole = end >= size;
	int err = 0;

	while (!err && at < size && (whole || at < end)) {
		size_t n = 1 + (size_t)rand() % max;

		n = n < size - at ? n : size - at;
		err = importer_feed(im, bytes_of(text.data + at, n));
		at += n;
		if (!err && rand() % 5 == 0)
			err = rand() % 2 ? importer_settle(im)
					 : importer_flush(im, rand() % 2);
	}
	if (!err && whole)
		err = importer_finish(im, true);
	ck_assert_msg(err == 0, "%s", err_detail());
	importer_free(im);
	return whole;
}

/* The text grows meanwhile, if it is one that can. */
static void check(const char *recipe, struct bytes text, size_t max, bool grows)
{
	struct recipe *r = parse(recipe);
	struct buf want = BUF_INIT, got = BUF_INIT;
	struct store *s = open_store();
	struct importer *im = begin(s, r, "", false);
	size_t size = grows ? text.size / 4 : text.size;
	bool whole = false;

	ck_assert_int_eq(importer_feed(im, text), 0);
	ck_assert_int_eq(importer_finish(im, true), 0);
	importer_free(im);
	dump(s, &want);
	ck_assert_int_eq(store_close(s), 0);
	s = open_store();
	while (!whole || size < text.size) {
		whole = run(s, r, text, size, max);
		if (grows && rand() % 2)
			size += (size_t)rand() % (text.size / 8);
		size = size < text.size ? size : text.size;
	}
	/* Whatever the last run saw. */
	while (!run(s, r, text, text.size, max))
		;
	dump(s, &got);
	ck_assert_msg(bytes_equal(buf_bytes(&got), buf_bytes(&want)),
		      "%s: other content", recipe);
	ck_assert_int_eq(store_close(s), 0);
	recipe_free(r);
	buf_release(&got);
	buf_release(&want);
}

static void add_csv(struct buf *text, int count)
{
	int i;

	ck_assert_int_eq(buf_add_string(text, "k,v\r\n"), 0);
	for (i = 0; i < count; i++)
		ck_assert_int_eq(buf_printf(text,
					    i % 7 == 0   ? "%d,\"x\ny%d\"\n"
					    : i % 7 == 1 ? "%d,b\"%d\n"
					    : i % 7 == 2 ? "%d,%d,1\r\n"
					    : i % 7 == 3 ? "\n%d,\"%d\"\"\"\r\n"
							 : "%d,%d\n",
					    i, i),
				 0);
}

START_TEST(csv)
{
	static const size_t pieces[] = { 1, 20, 300, 70000 };
	struct buf text = BUF_INIT;
	size_t i;

	add_csv(&text, 300);
	for (i = 0; i < 4; i++)
		check("key {k}\nset f:v {v}\nkey sum\nadd s:n 1",
		      buf_bytes(&text), pieces[i], i % 2);
	buf_release(&text);
}
END_TEST

/* By a bulk load, and beyond what is compared of the beginning. */
START_TEST(loads)
{
	struct buf text = BUF_INIT;

	add_csv(&text, 40000);
	check("key {k}\nset f:v {v}", buf_bytes(&text), 200000, true);
	check("key {k}\nset f:v {v}\nkey sum\nadd s:n 1", buf_bytes(&text),
	      200000, true);
	buf_release(&text);
}
END_TEST

START_TEST(json)
{
	static const char *const recipe =
		"explode {l}\nkey {k}#{l}\nset f:v {l}\nkey sum\nadd s:n 1";
	struct buf lines = BUF_INIT, array = BUF_INIT;
	int i;

	for (i = 0; i < 200; i++) {
		ck_assert_int_eq(
			buf_printf(&lines, "{\"k\":%d,\"l\":[1,2,3]}\n", i), 0);
		ck_assert_int_eq(buf_printf(&array,
					    "%s{\"k\":%d,\n\"l\":[1,2,3]}",
					    i % 3 ? ", "
					    : i   ? ",\n"
						  : "[",
					    i),
				 0);
	}
	ck_assert_int_eq(buf_add_string(&array, "\n]\n"), 0);
	check(recipe, buf_bytes(&lines), 40, true);
	check(recipe, buf_bytes(&lines), 4000, true);
	check(recipe, buf_bytes(&array), 40, false);
	check(recipe, buf_bytes(&array), 4000, false);
	buf_release(&lines);
	buf_release(&array);
}
END_TEST

/* An import that stops at an element has those before it, and goes on there. */
START_TEST(elements)
{
	static const char text[] = "{\"k\":1,\"l\":[1,2,\"\",3]}\n";
	struct recipe *r = parse("explode {l}\nkey {l}\nset f:v x\n"
				 "key sum\nadd s:n 1");
	struct store *s = open_store();
	struct buf first = BUF_INIT, got = BUF_INIT;
	int i;

	for (i = 0; i < 3; i++) {
		struct importer *im = begin(s, r, "x", true);

		ck_assert_int_eq(importer_feed(im, bytes_string(text)),
				 -ERR_bad_line);
		ck_assert_int_eq(importer_position(im)->elements, 2);
		importer_free(im);
		dump(s, i ? &got : &first);
	}
	ck_assert(bytes_equal(buf_bytes(&first), buf_bytes(&got)));
	ck_assert(first.size > 0);
	recipe_free(r);
	ck_assert_int_eq(store_close(s), 0);
	buf_release(&first);
	buf_release(&got);
}
END_TEST

/* A record may have all changes of a batch but that of its position. */
START_TEST(largest)
{
	struct buf text = BUF_INIT;
	struct recipe *r = parse("key {k}\nrest f");
	struct store *s;
	struct importer *im;
	int extra, i;

	for (extra = 0; extra < 2; extra++) {
		buf_reset(&text);
		ck_assert_int_eq(buf_add_string(&text, "{\"k\":\"a\""), 0);
		for (i = 0; i < STORE_MUTATIONS_MAX - 1 + extra; i++)
			ck_assert_int_eq(buf_printf(&text, ",\"%d\":1", i), 0);
		ck_assert_int_eq(buf_add_string(&text, "}\n"), 0);
		s = open_store();
		im = begin(s, r, "x", false);
		ck_assert_int_eq(importer_feed(im, buf_bytes(&text)), 0);
		ck_assert_int_eq(importer_finish(im, true), 0);
		ck_assert_int_eq(importer_result(im)->refused_count, extra);
		importer_free(im);
		ck_assert_int_eq(store_close(s), 0);
	}
	recipe_free(r);
	buf_release(&text);
}
END_TEST

/* A family that is dropped before rows of it are committed ends the import, and
 * what is lost so is not taken for in: by the log, and loaded in bulk. */
START_TEST(changed)
{
	const struct family_spec family = { BYTES_LITERAL("f"), NULL,
					    FAMILY_BYTES };
	struct recipe *r = parse("key {k}\nset f:v x");
	struct buf text = BUF_INIT;
	struct store *s = open_store();
	struct importer *im;
	int i, how;

	ck_assert_int_eq(buf_add_string(&text, "k\n"), 0);
	for (i = 0; text.size < 100000; i++)
		ck_assert_int_eq(buf_printf(&text, "row%d\n", i), 0);
	for (how = 0; how < 4; how++) {
		struct bytes some =
			how % 2 ? buf_bytes(&text) : BYTES_LITERAL("k\nrow0\n");

		im = begin(s, r, "x", false);
		ck_assert_int_eq(importer_feed(im, some), 0);
		ck_assert_int_eq(
			store_drop_family(s, TABLE, BYTES_LITERAL("f")), 0);
		ck_assert_int_eq(
			how / 2 ? importer_feed(im, BYTES_LITERAL("next\n"))
				: importer_finish(im, true),
			-ERR_no_family);
		ck_assert_uint_eq(importer_position(im)->offset, 0);
		ck_assert_uint_eq(importer_result(im)->refused_count, 0);
		importer_free(im);
		ck_assert_int_eq(store_create_family(s, TABLE, &family), 0);
	}
	im = begin(s, r, "x", false);
	ck_assert_int_eq(importer_feed(im, buf_bytes(&text)), 0);
	ck_assert_int_eq(importer_finish(im, true), 0);
	ck_assert_uint_eq(importer_result(im)->row_count, (uint64_t)i);
	importer_free(im);
	recipe_free(r);
	ck_assert_int_eq(store_close(s), 0);
	buf_release(&text);
}
END_TEST

START_TEST(texts)
{
	static const char good[] =
		"version 1\ntable 1\nline 7\noffset 24\nelements 0\ntime 9\n"
		"format 1\nin_array 0\nhead_size 24\nhead_hash 5\n"
		"recipe_hash 18446744073709551615\n";
	struct import_position p;
	struct buf text = BUF_INIT;
	size_t i;

	ck_assert_int_eq(import_position_parse(bytes_string(good), &p), 0);
	ck_assert_uint_eq(p.recipe_hash, UINT64_MAX);
	ck_assert_uint_eq(p.offset, 24);
	ck_assert_int_eq(import_position_print(&p, &text), 0);
	ck_assert(bytes_equal(buf_bytes(&text), bytes_string(good)));
	for (i = 0; i < sizeof(good) - 1; i++)
		ck_assert_int_eq(import_position_parse(bytes_of(good, i), &p),
				 -ERR_bad_argument);
	buf_reset(&text);
	ck_assert_int_eq(buf_add_string(&text, good), 0);
	text.data[text.size - 2] = '6';
	ck_assert_int_eq(import_position_parse(buf_bytes(&text), &p),
			 -ERR_bad_argument);
	text.data[text.size - 2] = '5';
	text.data[8] = '2';
	ck_assert_int_eq(import_position_parse(buf_bytes(&text), &p),
			 -ERR_bad_argument);
	ck_assert_str_eq(err_detail(), "it was written by a newer version");
	buf_release(&text);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { csv,     loads,   json, elements,
				 largest, changed, texts };
	const char *seed = getenv("SEED");

	srand(seed ? (unsigned int)atoi(seed) : 1);
	return run_suite("import_resume", NULL, NULL, tests, 7);
}
