#include <stdlib.h>
#include <time.h>

#include "store/store.h"
#include "store/text/print/print.h"
#include "store/text/value/text_format.h"
#include "tests/unit/suite.h"

#define B(s)                                        \
	{                                           \
		(const uint8_t *)(s), sizeof(s) - 1 \
	}

static const struct cell cells[] = {
	{ B("a"), B("cf"), B("one"), 2000, 0, B("0"), B(""), AGGREGATE_NONE },
	{ B("a"), B("cf"), B("one"), 1000, 0, B("x,\"\n\t\\"), B(""),
	  AGGREGATE_NONE },
	{ B("a"), B("cf"), B("two"), 1000, 0, B(""), B(""), AGGREGATE_NONE },
	{ B("a"), B("st"), B("\xe6\x97\xa5"), 3000, 0, B("\xff"), B(""),
	  AGGREGATE_NONE },
	{ B("b\xff"), B("st"), B("base64:"), 5, 0, B("v"), B(""),
	  AGGREGATE_NONE },
};

static void check_format(enum text_format format, size_t count,
			 const char *want)
{
	struct buf out = BUF_INIT;
	struct printer *p;
	size_t i;

	ck_assert_int_eq(printer_new(format, &p), 0);
	for (i = 0; i < count; i++)
		ck_assert_int_eq(printer_cell(p, &cells[i], &out), 0);
	ck_assert_int_eq(printer_finish(p, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data, want);
	buf_release(&out);
	printer_free(p);
}

#define DASHES "----------------------------------------\n"

/* Only of the cell that it is given for. */
START_TEST(labels)
{
	static const struct {
		enum text_format format;
		const char *want;
	} cases[] = {
		{ TEXT_CBT,
		  DASHES "a\n"
			 "  cf:one                                   "
			 "@ 1970/01/01-00:00:00.002000 [l-1]\n    \"0\"\n"
			 "  cf:one                                   "
			 "@ 1970/01/01-00:00:00.001000\n"
			 "    \"x,\\\"\\n\\t\\\\\"\n\n" },
		{ TEXT_JSONL,
		  "{\"row\": \"a\", \"set\": {\"cf\": {\"one\": [{\"value\": "
		  "\"0\", \"timestamp\": 2000, \"label\": \"l-1\"}, "
		  "{\"value\": \"x,\\\"\\n\\t\\\\\", \"timestamp\": 1000}]}}}"
		  "\n" },
	};
	struct buf out = BUF_INIT;
	struct printer *p;
	size_t i, j;

	for (i = 0; i < 2; i++) {
		buf_reset(&out);
		ck_assert_int_eq(printer_new(cases[i].format, &p), 0);
		printer_label(p, BYTES_LITERAL("l-1"));
		for (j = 0; j < 2; j++)
			ck_assert_int_eq(printer_cell(p, &cells[j], &out), 0);
		ck_assert_int_eq(printer_finish(p, &out), 0);
		ck_assert_int_eq(buf_terminate(&out), 0);
		ck_assert_str_eq((char *)out.data, cases[i].want);
		printer_free(p);
	}
	buf_release(&out);
}
END_TEST

START_TEST(cbt_layout)
{
	check_format(TEXT_CBT, 0, "");
	check_format(TEXT_CBT, 5,
		     DASHES
		     "a\n"
		     "  cf:one                                   "
		     "@ 1970/01/01-00:00:00.002000\n    \"0\"\n"
		     "  cf:one                                   "
		     "@ 1970/01/01-00:00:00.001000\n    \"x,\\\"\\n\\t\\\\\"\n"
		     "  cf:two                                   "
		     "@ 1970/01/01-00:00:00.001000\n    \"\"\n"
		     "  st:\xe6\x97\xa5                                     "
		     "@ 1970/01/01-00:00:00.003000\n    \"\\xff\"\n"
		     "\n" DASHES "b\xff\n"
		     "  st:base64:                               "
		     "@ 1970/01/01-00:00:00.000005\n    \"v\"\n\n");
}
END_TEST

START_TEST(cbt_time_is_local)
{
	static const struct cell late = { B("r"), B("f"),
					  B("q"), UINT64_C(9223372036854775000),
					  0,      B(""),
					  B(""),  AGGREGATE_NONE };
	struct buf out = BUF_INIT;
	struct printer *p;

	ck_assert_int_eq(setenv("TZ", "CET-2", 1), 0);
	tzset();
	ck_assert_int_eq(printer_new(TEXT_CBT, &p), 0);
	ck_assert_int_eq(printer_cell(p, &late, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_ptr_nonnull(
		strstr((char *)out.data, "@ 294247/01/10-06:00:54.775000\n"));
	buf_release(&out);
	printer_free(p);
}
END_TEST

START_TEST(csv_layout)
{
	check_format(TEXT_CSV, 0, "row,family,qualifier,timestamp,value\n");
	check_format(TEXT_CSV, 5,
		     "row,family,qualifier,timestamp,value\n"
		     "a,cf,one,2000,0\n"
		     "a,cf,one,1000,\"x,\"\"\n\t\\\"\n"
		     "a,cf,two,1000,\"\"\n"
		     "a,st,\xe6\x97\xa5,3000,\xff\n"
		     "b\xff,st,base64:,5,v\n");
}
END_TEST

START_TEST(tsv_layout)
{
	check_format(TEXT_TSV, 2,
		     "row\tfamily\tqualifier\ttimestamp\tvalue\n"
		     "a\tcf\tone\t2000\t0\n"
		     "a\tcf\tone\t1000\tx,\"\\n\\t\\\\\n");
}
END_TEST

START_TEST(jsonl_layout)
{
	check_format(TEXT_JSONL, 0, "");
	check_format(TEXT_JSONL, 5,
		     "{\"row\": \"a\", \"set\": {\"cf\": {\"one\": "
		     "[{\"value\": \"0\", \"timestamp\": 2000}, "
		     "{\"value\": \"x,\\\"\\n\\t\\\\\", \"timestamp\": 1000}], "
		     "\"two\": {\"value\": \"\", \"timestamp\": 1000}}, "
		     "\"st\": {\"\xe6\x97\xa5\": "
		     "{\"base64\": \"/w==\", \"timestamp\": 3000}}}}\n"
		     "{\"row\": {\"base64\": \"Yv8=\"}, \"set\": {\"st\": "
		     "{\"base64:YmFzZTY0Og==\": "
		     "{\"value\": \"v\", \"timestamp\": 5}}}}\n");
}
END_TEST

int main(void)
{
	const TTest *tests[] = { cbt_layout, cbt_time_is_local, csv_layout,
				 tsv_layout, jsonl_layout,      labels };

	setenv("TZ", "UTC", 1);
	return run_suite("printer", NULL, NULL, tests, 6);
}
