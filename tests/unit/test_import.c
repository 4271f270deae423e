#include <stdio.h>
#include <unistd.h>

#include "store/store.h"
#include "store/text/import/import.h"
#include "store/text/import/import_state.h"
#include "store/text/print/print.h"
#include "store/text/value/quote.h"
#include "store/text/value/text_format.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Importers against a store in memory: what they take, what they refuse, and
 * that the pieces in which bytes come make no difference. */

static uint64_t fixed_now(void *context)
{
	(void)context;
	return UINT64_C(1700000000000000);
}

static struct store *open_store(void)
{
	static const struct clock clock = { fixed_now, NULL };
	const struct family_spec families[] = {
		{ BYTES_LITERAL("f"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("g"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("sum"), NULL, FAMILY_INTSUM },
	};
	struct store_options options;
	struct store *s;

	mem_store_options(&options);
	options.clock = &clock;
	s = mem_store(&options);
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, families, 3),
		0);
	return s;
}

/* All cells, a line each; times of the import's own are written now. */
static void dump(struct store *s, struct buf *out)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	struct cell c;
	int more;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while ((more = scan_next(scan, CURSOR_VERSION, &c)) > 0) {
		ck_assert_int_eq(quote_go(c.row, out), 0);
		ck_assert_int_eq(buf_printf(out, " %.*s ", (int)c.family.size,
					    (const char *)c.family.data),
				 0);
		ck_assert_int_eq(quote_go(c.qualifier, out), 0);
		if (c.timestamp_us > UINT64_C(1000000000000))
			ck_assert_int_eq(buf_add_string(out, " now "), 0);
		else
			ck_assert_int_eq(
				buf_printf(out, " %llu ",
					   (unsigned long long)c.timestamp_us),
				0);
		ck_assert_int_eq(quote_go(c.value, out), 0);
		ck_assert_int_eq(buf_add_byte(out, '\n'), 0);
	}
	ck_assert_int_eq(more, 0);
	scan_close(scan);
}

struct expected {
	const char *cells;
	const char *refused;
	uint64_t lines, rows, count;
	const char *error; /* NULL: none */
};

static void check_text(struct buf *got, const char *want, size_t piece)
{
	ck_assert_int_eq(buf_terminate(got), 0);
	ck_assert_msg(!strcmp((char *)got->data, want),
		      "with pieces of %zu: got\n%s\nexpected\n%s", piece,
		      (char *)got->data, want);
}

static void check_import(enum text_format format,
			 const struct import_options *o, struct bytes text,
			 const struct expected *want)
{
	static const size_t pieces[] = { 1, 2, 3, 5, 16, 1000000 };
	size_t i, at;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct buf got = BUF_INIT;
		const struct import_result *result;
		struct store *s = open_store();
		struct importer *im;
		int err = importer_new(s, format, o, &im);

		ck_assert_int_eq(err, 0);
		for (at = 0; !err && at < text.size; at += pieces[i]) {
			size_t left = text.size - at;

			err = importer_feed(
				im,
				bytes_of(text.data + at,
					 left < pieces[i] ? left : pieces[i]));
		}
		if (!err)
			err = importer_finish(im, true);
		if (want->error) {
			ck_assert_int_lt(err, 0);
			ck_assert_str_eq(err_detail(), want->error);
		} else {
			ck_assert_msg(err == 0, "%s", err_detail());
		}
		result = importer_result(im);
		ck_assert_int_eq(buf_set(&got, buf_bytes(&result->refused)), 0);
		check_text(&got, want->refused, pieces[i]);
		ck_assert_uint_eq(result->line_count, want->lines);
		ck_assert_uint_eq(result->row_count, want->rows);
		ck_assert_uint_eq(result->cell_count, want->count);
		importer_free(im);
		buf_reset(&got);
		dump(s, &got);
		check_text(&got, want->cells, pieces[i]);
		buf_release(&got);
		ck_assert_int_eq(store_close(s), 0);
	}
}

static const struct import_options plain = {
	.table = { (const uint8_t *)"t", 1 }, .value_timestamps = true
};

START_TEST(csv_fields)
{
	check_import(
		TEXT_CSV, &plain,
		BYTES_LITERAL(",f,,g\r\n,a,\"b,\"\"1\"\"\",c\r\n"
			      "r1,1@1000,\"two, and\r\nmore \"\"x\"\"\",\r\n"
			      "\r\n\n"
			      "r2,,,3@0x10\n"
			      "r3,@7,x@y,#\n"
			      "\"r\"\"4\",,\"\",z\0z\n"
			      "r1,again@1000,,\n"
			      "r5,,,\n"
			      "r6, blank ,\"@8\",last"),
		&(struct expected){
			"\"r\\\"4\" g \"c\" now \"z\\x00z\"\n"
			"\"r1\" f \"a\" 1000 \"again\"\n"
			"\"r1\" f \"b,\\\"1\\\"\" now \"two, and\\nmore "
			"\\\"x\\\"\"\n"
			"\"r2\" g \"c\" 16 \"3\"\n"
			"\"r3\" f \"a\" 7 \"\"\n"
			"\"r3\" f \"b,\\\"1\\\"\" now \"x@y\"\n"
			"\"r3\" g \"c\" now \"#\"\n"
			"\"r6\" f \"a\" now \" blank \"\n"
			"\"r6\" f \"b,\\\"1\\\"\" 8 \"\"\n"
			"\"r6\" g \"c\" now \"last\"\n",
			"", 12, 6, 11, NULL });
}
END_TEST

START_TEST(csv_refuses_lines)
{
	check_import(TEXT_CSV, &plain,
		     BYTES_LITERAL(",f,nofam\n,a,b\n"
				   "r1,1@1,\n"
				   "r2,2@1\n"
				   "r3,3@1,,\n"
				   "r4,4\"4,\n"
				   "r5,\"5\"5,\n"
				   "r6,6@1,no\n"
				   ",7@1,\n"
				   ",,\n"
				   "r8,8@-5,\n"
				   "r9,\"\n\"x,\n"
				   "r10,10@1,\n"
				   "r11,\"11\nends"),
		     &(struct expected){
			     "\"r1\" f \"a\" 1 \"1\"\n"
			     "\"r10\" f \"a\" 1 \"10\"\n",
			     "line 4: wrong number of fields: 2 instead of 3\n"
			     "line 5: wrong number of fields: 4 instead of 3\n"
			     "line 6: column 5: bare \" in non-quoted-field\n"
			     "line 7: column 6: extraneous or missing \" in "
			     "quoted-field\n"
			     "line 8: unknown family \"nofam\"\n"
			     "line 9: RowKey not present\n"
			     "line 11: invalid timestamp -5\n"
			     "line 12: line 13, column 1: extraneous or "
			     "missing \" in quoted-field\n"
			     "line 15: line 16, column 5: extraneous or "
			     "missing \" in quoted-field\n",
			     16, 2, 2, NULL });
}
END_TEST

START_TEST(csv_strict_stops)
{
	struct import_options strict = plain;

	strict.strict = true;
	check_import(TEXT_CSV, &strict,
		     BYTES_LITERAL(",f\n,a\n,skipped\nr1,1@1\nr2,2,2\nr3,3\n"),
		     &(struct expected){ "\"r1\" f \"a\" 1 \"1\"\n", "", 5, 1,
					 1,
					 "record on line 5: wrong number of "
					 "fields" });
	check_import(TEXT_CSV, &strict,
		     BYTES_LITERAL(",f\n,a\nr1,1@1\nr,a\"b@1000\nr3,3\n"),
		     &(struct expected){ "\"r1\" f \"a\" 1 \"1\"\n", "", 3, 1,
					 1,
					 "parse error on line 4, column 4: "
					 "bare \" in non-quoted-field" });
}
END_TEST

START_TEST(csv_headers)
{
	static const char first[] = "error parsing headers: the first column "
				    "must be empty for column-family and "
				    "column name rows; of a file with one "
				    "header say key=, as key='{id}' "
				    "rest=FAMILY";
	static const char second[] =
		"error parsing headers: the second column (first data column) "
		"must have values for column family and column name rows if "
		"present";
	struct import_options one = plain;

	check_import(TEXT_CSV, &plain, BYTES_LITERAL(""),
		     &(struct expected){ "", "", 0, 0, 0,
					 "error parsing headers: family header "
					 "reader error:EOF" });
	check_import(TEXT_CSV, &plain, BYTES_LITERAL(",f\n"),
		     &(struct expected){ "", "", 1, 0, 0,
					 "error parsing headers: columns "
					 "header reader error:EOF" });
	check_import(TEXT_CSV, &plain, BYTES_LITERAL("x,f\n,c\nr,v\n"),
		     &(struct expected){ "", "", 1, 0, 0, first });
	check_import(TEXT_CSV, &plain, BYTES_LITERAL(",,f\n,c,d\n"),
		     &(struct expected){ "", "", 1, 0, 0, second });
	check_import(TEXT_CSV, &plain, BYTES_LITERAL(",f\n,c,d\n"),
		     &(struct expected){ "", "", 2, 0, 0,
					 "error parsing headers: columns "
					 "header reader error:record on line "
					 "2: wrong number of fields" });
	one.family = BYTES_LITERAL("g");
	check_import(TEXT_CSV, &one, BYTES_LITERAL(",a,b\nr,1@1,2@1\n"),
		     &(struct expected){ "\"r\" g \"a\" 1 \"1\"\n"
					 "\"r\" g \"b\" 1 \"2\"\n",
					 "", 2, 1, 2, NULL });
}
END_TEST

START_TEST(values_keep_their_signs)
{
	struct import_options now = plain;

	now.value_timestamps = false;
	check_import(TEXT_CSV, &now, BYTES_LITERAL(",f\n,a\nr,x@1000\n"),
		     &(struct expected){ "\"r\" f \"a\" now \"x@1000\"\n", "",
					 3, 1, 1, NULL });
}
END_TEST

START_TEST(tsv_fields)
{
	check_import(TEXT_TSV, &plain,
		     BYTES_LITERAL("\tf\t\r\n\ta\tb\\tc\r\n"
				   "r\\n1\t1@7\t\\\\x\\r\r\n"
				   "\n"
				   "bad\t\\z\t1\n"
				   "short\n"
				   "r2\t\t\"q,\"@9"),
		     &(struct expected){
			     "\"r\\n1\" f \"a\" 7 \"1\"\n"
			     "\"r\\n1\" f \"b\\tc\" now \"\\\\x\\r\"\n"
			     "\"r2\" f \"b\\tc\" 9 \"\\\"q,\\\"\"\n",
			     "line 5: a backslash is not followed by t, n, r "
			     "or \\\n"
			     "line 6: wrong number of fields: 1 instead of "
			     "3\n",
			     7, 2, 3, NULL });
}
END_TEST

START_TEST(json_lines)
{
	check_import(
		TEXT_JSONL, &plain,
		BYTES_LITERAL(
			"{\"row\":\"a\",\"set\":{\"f\":{\"n\":1.10,\"t\":true,"
			"\"s\":\"\\u00e9\\u0000\"}}}\n"
			" \n"
			"{\"row\":\"b\",\"set\":{\"f\":{\"q\":"
			"[{\"value\":\"x\","
			"\"timestamp\":5},{\"base64\":\"AP8=\","
			"\"timestamp\":6}]}}}\r\n"
			"{\"row\":{\"base64\":\"/wA=\"},\"set\":{\"g\":"
			"{\"base64:/w==\":{\"value\":1,\"timestamp\":"
			"\"1970-01-01T00:00:01Z\"}}}}\n"
			"{\"row\":\"b\",\"set\":{\"nofam\":{\"q\":1}}}\n"
			"{\"row\":\"b\",\"delete\":true,\"set\":{\"f\":{\"q\":1"
			"},\"sum\":{\"q\":1}}}\n"
			"nonsense\n"
			"{\"row\":\"c\",\"set\":{\"g\":{\"q\":{\"value\":\"z\","
			"\"timestamp\":1}}}}"),
		&(struct expected){
			"\"a\" f \"n\" now \"1.10\"\n"
			"\"a\" f \"s\" now \"\xc3\xa9\\x00\"\n"
			"\"a\" f \"t\" now \"true\"\n"
			"\"b\" f \"q\" 6 \"\\x00\\xff\"\n"
			"\"b\" f \"q\" 5 \"x\"\n"
			"\"c\" g \"q\" 1 \"z\"\n"
			"\"\\xff\\x00\" g \"\\xff\" 1000000 \"1\"\n",
			"line 5: unknown family \"nofam\"\n"
			"line 6: family \"sum\" holds aggregates, which are "
			"added to, not set\n"
			"line 7: lexical error: invalid string in json text. "
			"(byte 1)\n",
			8, 4, 7, NULL });
}
END_TEST

/* Spreadsheets write one in front; what is cut off in the middle of one is as
 * it stands. */
START_TEST(byte_order_marks)
{
	static const char wrong[] = "lexical error: invalid char in json text. "
				    "(byte 1)\n";
	const struct expected cell = {
		"\"r\" f \"q\" 7 \"1\"\n", "", 3, 1, 1, NULL
	};
	char line[80];

	check_import(TEXT_CSV, &plain,
		     BYTES_LITERAL("\xef\xbb\xbf,f\n,q\nr,1@7\n"),
		     &(struct expected){
			     "", "", 1, 0, 0,
			     "error parsing headers: the first column must be "
			     "empty for column-family and column name rows; of "
			     "a file with one header say key=, as key='{id}' "
			     "rest=FAMILY" });
	check_import(TEXT_TSV, &plain,
		     BYTES_LITERAL("\xef\xbb\xbf\tf\n\tq\nr\t1@7\n"), &cell);
	snprintf(line, sizeof(line), "line 2: %s", wrong);
	check_import(TEXT_JSONL, &plain,
		     BYTES_LITERAL("\xef\xbb\xbf{\"row\":\"r\",\"set\":{\"f\":"
				   "{\"q\":1}}}\n\xef\xbb\xbf{}\n"),
		     &(struct expected){ "\"r\" f \"q\" now \"1\"\n", line, 2,
					 1, 1, NULL });
	snprintf(line, sizeof(line), "line 1: %s", wrong);
	check_import(TEXT_JSONL, &plain, BYTES_LITERAL("\xef\xbb"),
		     &(struct expected){ "", line, 1, 0, 0, NULL });
	check_import(TEXT_JSONL, &plain, BYTES_LITERAL("\xef\xbb\xbf"),
		     &(struct expected){ "", "", 0, 0, 0, NULL });
	check_import(TEXT_CSV, &plain, BYTES_LITERAL("\xff\xfe,\0f\0\n\0"),
		     &(struct expected){ "", "", 0, 0, 0,
					 "it is UTF-16; iconv -f UTF-16 -t "
					 "UTF-8 makes UTF-8 of it" });
}
END_TEST

/* Lines that depend on those before them, also on ones not yet committed. */
START_TEST(json_updates)
{
	check_import(
		TEXT_JSONL, &plain,
		BYTES_LITERAL(
			"{\"row\":\"a\",\"set\":{\"f\":{\"q\":{\"value\":\"x\","
			"\"timestamp\":9000000000000000}}}}\n"
			"{\"row\":\"a\",\"append\":{\"f\":{\"q\":\"y\"}}}\n"
			"{\"row\":\"a\",\"if\":{\"absent\":true},"
			"\"delete\":true}\n"
			"{\"row\":\"a\",\"increment\":{\"f\":{\"q\":1}}}\n"
			"{\"row\":\"b\",\"if\":{\"absent\":true},"
			"\"set\":{\"f\":{\"q\":{\"value\":\"new\","
			"\"timestamp\":1}}}}"),
		&(struct expected){
			"\"a\" f \"q\" now \"xy\"\n"
			"\"b\" f \"q\" 1 \"new\"\n",
			"line 3: the condition does not hold\n"
			"line 4: increment on non-64-bit value: it has 2 "
			"bytes\n",
			5, 3, 3, NULL });
}
END_TEST

/* What a printer writes as JSON lines, import takes back unchanged. */
START_TEST(json_round_trip)
{
	static const char csv[] = ",f,,g\n,a,base64:,\"q\"\"\n\"\n"
				  "r1,1@1,\"\t\\\"\"@2\",x@3\n"
				  "r1,1@5,\"\r\n@6\",\xff@4\n"
				  "\xff,\x01,,\xe2\x82\xac@4\n";
	struct store *from = open_store(), *to = open_store();
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct buf text = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
	struct importer *im;
	struct printer *p;
	struct scan *scan;
	struct cell c;

	ck_assert_int_eq(importer_new(from, TEXT_CSV, &plain, &im), 0);
	ck_assert_int_eq(importer_feed(im, BYTES_LITERAL(csv)), 0);
	ck_assert_int_eq(importer_finish(im, false), 0);
	importer_free(im);

	ck_assert_int_eq(printer_new(TEXT_JSONL, &p), 0);
	ck_assert_int_eq(scan_open(from, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &c) > 0)
		ck_assert_int_eq(printer_cell(p, &c, &text), 0);
	ck_assert_int_eq(printer_finish(p, &text), 0);
	scan_close(scan);
	printer_free(p);

	ck_assert_int_eq(importer_new(to, TEXT_JSONL, &plain, &im), 0);
	ck_assert_int_eq(importer_feed(im, buf_bytes(&text)), 0);
	ck_assert_int_eq(importer_finish(im, false), 0);
	ck_assert_uint_eq(importer_result(im)->refused_count, 0);
	importer_free(im);
	dump(from, &want);
	dump(to, &got);
	ck_assert_int_eq(buf_terminate(&want), 0);
	check_text(&got, (char *)want.data, 0);
	ck_assert_uint_gt(want.size, 100);
	buf_release(&text);
	buf_release(&want);
	buf_release(&got);
	ck_assert_int_eq(store_close(from), 0);
	ck_assert_int_eq(store_close(to), 0);
}
END_TEST

/* Imports text into an empty table in pieces; what came of it as text. */
static void import_pieces(enum text_format format, struct bytes text,
			  size_t piece, bool strict, struct buf *out)
{
	struct import_options o = plain;
	const struct import_result *result;
	struct store *s = open_store();
	struct importer *im;
	size_t at;
	int err;

	o.strict = strict;
	ck_assert_int_eq(importer_new(s, format, &o, &im), 0);
	err = 0;
	for (at = 0; !err && at < text.size; at += piece)
		err = importer_feed(
			im, bytes_of(text.data + at, text.size - at < piece
							     ? text.size - at
							     : piece));
	if (!err)
		err = importer_finish(im, false);
	result = importer_result(im);
	buf_reset(out);
	ck_assert_int_eq(buf_printf(out, "%d %s\n%llu refused of %llu\n", err,
				    err ? err_detail() : "",
				    (unsigned long long)result->refused_count,
				    (unsigned long long)result->line_count),
			 0);
	ck_assert_int_eq(buf_add_bytes(out, buf_bytes(&result->refused)), 0);
	importer_free(im);
	dump(s, out);
	ck_assert_int_eq(buf_terminate(out), 0);
	ck_assert_int_eq(store_close(s), 0);
}

/* Random input, most of it nearly right: nothing crashes, and no cut between
 * pieces shows. */
START_TEST(random_input)
{
	static const char *const tokens[] = {
		",",
		"\n",
		"\r\n",
		"\"",
		"\"\"",
		"a",
		"b@1",
		"@",
		"\r",
		"x y",
		"\\",
		"\t",
		"\\t",
		"\xff",
		"1@0x10",
		"@-5",
		"1,2\n",
		"r,v\n",
		"\"q\n\"",
		"r\tv\n",
		",f\n,c\n",
		"\tf\n\tc\n",
		"{\"row\":\"r\",\"set\":{\"f\":{\"q\":1}}}\n",
		"{\"row\":",
		"\"set\"",
		"}",
		"[",
		":",
		"null",
	};
	const size_t count = sizeof(tokens) / sizeof(tokens[0]);
	static const char *const heads[] = { ",f,\n,c,d\n", "\tf\n\tc\n", "" };
	struct buf text = BUF_INIT, whole = BUF_INIT, cut = BUF_INIT;
	uint64_t random = 20261121;
	int i, j;

	for (i = 0; i < 300; i++) {
		enum text_format format = (enum text_format)(i % 3);
		bool strict = i % 5 == 0;

		buf_reset(&text);
		ck_assert_int_eq(buf_add_string(&text, heads[format]), 0);
		for (j = 0; j < 30; j++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			ck_assert_int_eq(
				buf_add_string(&text,
					       tokens[(random >> 33) % count]),
				0);
		}
		import_pieces(format, buf_bytes(&text), SIZE_MAX / 2, strict,
			      &whole);
		import_pieces(format, buf_bytes(&text),
			      (size_t)(random >> 40) % 5 + 1, strict, &cut);
		ck_assert_str_eq((char *)cut.data, (char *)whole.data);
	}
	buf_release(&text);
	buf_release(&whole);
	buf_release(&cut);
}
END_TEST

/* More rows than a batch, a row as large as one, and a field over many pieces:
 * all of it comes in. */
START_TEST(batches)
{
	struct store *s = open_store();
	struct buf piece = BUF_INIT;
	struct importer *im;
	size_t i;

	ck_assert_int_eq(importer_new(s, TEXT_CSV, &plain, &im), 0);
	ck_assert_int_eq(importer_feed(im, BYTES_LITERAL(",f,\n,a,b\n")), 0);
	for (i = 0; i < 25000; i++) {
		buf_reset(&piece);
		ck_assert_int_eq(buf_printf(&piece, "row%05zu,v,w\n", i), 0);
		ck_assert_int_eq(importer_feed(im, buf_bytes(&piece)), 0);
	}
	ck_assert_int_eq(importer_feed(im, BYTES_LITERAL("large,\"")), 0);
	buf_reset(&piece);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(buf_add_string(&piece, "\"\",\n0123"), 0);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(importer_feed(im, buf_bytes(&piece)), 0);
	ck_assert_int_eq(importer_feed(im, BYTES_LITERAL("\",\nnext,1,2\n")),
			 0);
	ck_assert_int_eq(importer_flush(im, false), 0);
	ck_assert_uint_eq(importer_result(im)->row_count, 25002);
	ck_assert_uint_eq(importer_result(im)->cell_count, 50003);
	ck_assert_uint_eq(importer_result(im)->refused_count, 0);
	ck_assert_uint_eq(importer_result(im)->line_count, 1025004);
	ck_assert_uint_eq(importer_result(im)->committed_line, 1025004);
	ck_assert_int_eq(importer_finish(im, true), 0);
	importer_free(im);
	buf_release(&piece);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* A long record waits in a file, and what its disk does not give back there
 * is no value, not even of a record that is a batch by itself. */
START_TEST(unreadable)
{
	struct store *s = open_store();
	struct buf text = BUF_INIT;
	struct importer *im;
	int i;

	ck_assert_int_eq(importer_new(s, TEXT_CSV, &plain, &im), 0);
	im->log_only = true;
	ck_assert_int_eq(buf_add_string(&text, ",f"), 0);
	for (i = 1; i < 10000; i++)
		ck_assert_int_eq(buf_add_byte(&text, ','), 0);
	ck_assert_int_eq(buf_add_byte(&text, '\n'), 0);
	for (i = 0; i < 10000; i++)
		ck_assert_int_eq(buf_printf(&text, ",%d", i), 0);
	ck_assert_int_eq(buf_add_string(&text, "\nlong"), 0);
	ck_assert_int_eq(importer_feed(im, buf_bytes(&text)), 0);
	for (i = 0; i < 10000; i++) {
		buf_reset(&text);
		ck_assert_int_eq(buf_printf(&text, ",%0300d", i), 0);
		ck_assert_int_eq(importer_feed(im, buf_bytes(&text)), 0);
	}
	ck_assert_int_ge(im->spill.fd, 0);
	ck_assert_int_eq(ftruncate(im->spill.fd, 3000000), 0);
	ck_assert_int_eq(importer_finish(im, true), -EIO);
	importer_free(im);
	buf_reset(&text);
	dump(s, &text);
	ck_assert_uint_eq(text.size, 0);
	buf_release(&text);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

START_TEST(unknown_table)
{
	struct import_options o = plain;
	struct store *s = open_store();
	struct importer *im;

	o.table = BYTES_LITERAL("nope");
	ck_assert_int_eq(importer_new(s, TEXT_CSV, &o, &im), -ERR_no_table);
	ck_assert_ptr_null(im);
	ck_assert_int_eq(importer_new(s, TEXT_CBT, &plain, &im),
			 -ERR_bad_argument);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { csv_fields,
				 csv_refuses_lines,
				 csv_strict_stops,
				 csv_headers,
				 values_keep_their_signs,
				 tsv_fields,
				 json_lines,
				 byte_order_marks,
				 json_updates,
				 json_round_trip,
				 random_input,
				 batches,
				 unreadable,
				 unknown_table };

	return run_suite("import", NULL, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
