#include "tests/unit/read_fixture.h"

/* ReadRows: which rows, in which messages, whatever the peer takes and when. */
START_TEST(names_stand_where_they_change)
{
	struct proto_read_rows q = { .table_name = TABLE_NAME };

	expect_rows(&q, "");
	set("a", "f", "", 1000, str("12"));
	set("a", "f", "", 2000, str("1"));
	set("a", "f", "q", 1000, str(""));
	set("a", "g", "q", 1000, str("123"));
	set("b", "f", "", 1000, str("1234"));
	expect_rows(&q, "a:f::1 a:f::2 a:f:q:0 a:g:q:3;b:f::4;");
	q.rows_limit = 1;
	expect_rows(&q, "a:f::1 a:f::2 a:f:q:0 a:g:q:3;");
	q.reversed = true;
	expect_rows(&q, "b:f::4;");
}
END_TEST

/* Keys and ranges in any order, that overlap, touch and repeat. */
START_TEST(rows_of_a_set)
{
	struct bytes keys[] = { str("e"), str("b"), str("b"), str("zz") };
	struct proto_row_range ranges[] = {
		{ .start_key_case = nr_row_range_start_key_open,
		  .start_key_open = str("c"),
		  .end_key_case = nr_row_range_end_key_open,
		  .end_key_open = str("e") },
		{ .end_key_case = nr_row_range_end_key_closed,
		  .end_key_closed = str("a") },
		{ .start_key_case = nr_row_range_start_key_closed,
		  .start_key_closed = str("g") },
	};
	struct proto_row_set rows = { .row_keys = { keys, 4 },
				      .row_ranges = { ranges, 3 } };
	struct proto_read_rows q = { .table_name = TABLE_NAME, .rows = &rows };
	char row[2] = "a";

	for (; row[0] <= 'h'; row[0]++)
		set(row, "f", "", 1000, str("v"));
	expect_rows(&q, "a:f::1;b:f::1;d:f::1;e:f::1;g:f::1;h:f::1;");
	q.reversed = true;
	expect_rows(&q, "h:f::1;g:f::1;e:f::1;d:f::1;b:f::1;a:f::1;");
	q.rows_limit = 4;
	expect_rows(&q, "h:f::1;g:f::1;e:f::1;d:f::1;");
	rows.row_ranges.count = 0;
	rows.row_keys.count = 1;
	expect_rows(&q, "e:f::1;");
	/* No row has the empty key, beside another or alone. */
	keys[1] = BYTES_NONE;
	rows.row_keys.count = 2;
	expect_rows(&q, "e:f::1;");
	rows.row_keys.at++;
	rows.row_keys.count = 1;
	expect_rows(&q, "");
	/* One that is there but empty is all. */
	rows.row_keys.count = 0;
	q.rows_limit = 1;
	q.reversed = false;
	expect_rows(&q, "a:f::1;");
}
END_TEST

START_TEST(what_is_refused)
{
	struct proto_row_range range = {
		.start_key_case = nr_row_range_start_key_closed,
		.start_key_closed = str("b"),
		.end_key_case = nr_row_range_end_key_open,
		.end_key_open = str("b"),
	};
	struct proto_row_set rows = { .row_ranges = { &range, 1 } };
	struct proto_read_rows q = { .table_name = TABLE_NAME, .rows = &rows };

	expect_error(&q, CALL_INVALID_ARGUMENT);
	/* [b, b] is b. */
	range.end_key_case = nr_row_range_end_key_closed;
	range.end_key_closed = str("b");
	expect_rows(&q, "");
	/* Behind b and before the next key is nothing, but a range. */
	set("b", "f", "", 1000, str("v"));
	expect_rows(&q, "b:f::1;");
	range.start_key_case = nr_row_range_start_key_open;
	range.start_key_open = range.start_key_closed;
	range.start_key_closed = BYTES_NONE;
	expect_error(&q, CALL_INVALID_ARGUMENT);
	range.end_key_case = nr_row_range_end_key_open;
	range.end_key_open = bytes_of((const uint8_t *)"b", 2);
	range.end_key_closed = BYTES_NONE;
	expect_rows(&q, "");
	q.reversed = true;
	expect_rows(&q, "");
	q.rows = NULL;
	q.rows_limit = -1;
	expect_error(&q, CALL_INVALID_ARGUMENT);
	q.rows_limit = 0;
	q.table_name = str("projects/p/instances/i/tables/none");
	expect_error(&q, CALL_NOT_FOUND);
	q.table_name = str("t");
	expect_error(&q, CALL_INVALID_ARGUMENT);
	q.table_name = TABLE_NAME;
	q.authorized_view_name = str("v");
	expect_error(&q, CALL_UNIMPLEMENTED);
}
END_TEST

/* However deep it is, a filter is wrong, and not we. */
START_TEST(filters_too_deep_are_refused)
{
	struct proto_row_filter filters[120], pair[120][2];
	struct proto_filter_chain chains[120];
	struct proto_read_rows q = { .table_name = TABLE_NAME };
	int i;

	filters[0] = (struct proto_row_filter){
		.filter_case = nr_row_filter_pass_all_filter,
		.pass_all_filter = true,
	};
	for (i = 1; i < 120; i++) {
		pair[i][0] = filters[0];
		pair[i][1] = filters[i - 1];
		chains[i] = (struct proto_filter_chain){ .filters = { pair[i],
								      2 } };
		filters[i] = (struct proto_row_filter){
			.filter_case = nr_row_filter_chain,
			.chain = &chains[i],
		};
		q.filter = &filters[i];
		if (i <= FILTER_DEPTH_MAX)
			expect_rows(&q, "");
		else
			expect_error(&q, CALL_INVALID_ARGUMENT);
	}
}
END_TEST

/* Keys are taken apart into more than they were; ranges, while they are. */
START_TEST(what_is_too_much_names_the_limit)
{
	enum { KEYS = 700000, RANGES = 300000 };
	struct bytes *keys = calloc(KEYS, sizeof(*keys));
	struct proto_row_range *ranges = calloc(RANGES, sizeof(*ranges));
	struct proto_row_set rows = { .row_keys = { keys, KEYS } };
	struct proto_read_rows q = { .table_name = TABLE_NAME, .rows = &rows };
	static struct call c;
	size_t i;

	for (i = 0; i < KEYS; i++)
		keys[i] = str("some row");
	for (i = 0; i < RANGES; i++) {
		ranges[i].start_key_case = nr_row_range_start_key_closed;
		ranges[i].start_key_closed = str("some row");
	}
	for (i = 0; i < 2; i++) {
		c = (struct call){ .route = NULL };
		read_with(&c, &q);
		ck_assert_int_eq(c.status, CALL_RESOURCE_EXHAUSTED);
		ck_assert_ptr_nonnull(strstr(c.text, "more than 64 MiB"));
		fake_release(&c);
		rows.row_keys.count = 0;
		rows.row_ranges.at = ranges;
		rows.row_ranges.count = RANGES;
	}
	free(keys);
	free(ranges);
}
END_TEST

/* A chunk that commits is two bytes longer, and its length may be. */
START_TEST(every_length)
{
	struct proto_read_rows q = { .table_name = TABLE_NAME };
	static uint8_t value[20000];
	struct buf want = BUF_INIT;
	size_t size;
	char row[8];

	for (size = 90; size < 140; size++) {
		snprintf(row, sizeof(row), "r%06zu", size);
		set(row, "f", "", 1000, bytes_of(value, size));
		buf_printf(&want, "%s:f::%zu;", row, size);
	}
	for (size = 16340; size < 16400; size++) {
		snprintf(row, sizeof(row), "r%06zu", size);
		set(row, "f", "", 1000, bytes_of(value, size));
		buf_printf(&want, "%s:f::%zu;", row, size);
	}
	ck_assert_int_eq(buf_terminate(&want), 0);
	expect_rows(&q, (char *)want.data);
	buf_release(&want);
}
END_TEST

/* A peer that takes every second message late, so that the scan is closed and
 * opened again; a thread that is asked to give way after each row; memory that
 * is short; all of them. */
START_TEST(in_pieces)
{
	struct proto_read_rows q = { .table_name = TABLE_NAME };
	struct buf whole = BUF_INIT, out = BUF_INIT;
	static uint8_t value[5000];
	static struct call c;
	int i, way;
	char row[8];

	for (i = 0; i < 200; i++) {
		snprintf(row, sizeof(row), "r%03d", i);
		set(row, "f", "a", 2000, bytes_of(value, (size_t)i));
		set(row, "f", "a", 1000, bytes_of(value, sizeof(value)));
		set(row, "g", "b", 1000, str("x"));
	}
	for (way = 0; way < 16; way++) {
		c = (struct call){ .refuses = way & 1,
				   .hurried = way & 2,
				   .is_short = way & 4 };
		q.reversed = way & 8;
		read_with(&c, &q);
		ck_assert_int_eq(c.status, CALL_OK);
		ck_assert_uint_gt(c.count, 10);
		ck_assert((c.rests > 0) == (way & 1));
		ck_assert((c.runs > 100) == ((way & 2) != 0));
		ck_assert((c.granted > 5000) == ((way & 4) != 0));
		print_answer(&c, &out);
		if ((way & 7) == 0)
			ck_assert_int_eq(buf_set(&whole, buf_bytes(&out)), 0);
		ck_assert(bytes_equal(buf_bytes(&whole), buf_bytes(&out)));
		fake_release(&c);
	}
	buf_release(&whole);
	buf_release(&out);
}
END_TEST

static void make_anew(void)
{
	struct family_spec family = { .name = str("f") };

	ck_assert_int_eq(store_drop_table(service.store, str("t"), false), 0);
	ck_assert_int_eq(
		store_create_table(service.store, str("t"), true, &family, 1),
		0);
	set("zzz", "f", "a", 1000, str("another's"));
}

/* While a reader rests its table goes, and another takes the name. */
START_TEST(in_one_table_only)
{
	struct proto_read_rows q = { .table_name = TABLE_NAME };
	static uint8_t value[5000];
	static struct call c;
	char row[8];
	int i;

	for (i = 0; i < 200; i++) {
		snprintf(row, sizeof(row), "r%03d", i);
		set(row, "f", "a", 1000, bytes_of(value, sizeof(value)));
	}
	c = (struct call){ .refuses = true, .at_rest = make_anew };
	read_with(&c, &q);
	ck_assert_uint_eq(c.rests, 1);
	ck_assert_int_eq(c.status, CALL_NOT_FOUND);
	fake_release(&c);
}
END_TEST

/* While others wait only a small row is read, and a scan is not even begun. */
START_TEST(while_others_wait)
{
	static uint8_t value[5000];
	struct bytes key = str("r");
	struct proto_row_set rows = { .row_keys = { &key, 1 } };
	struct proto_read_rows q = { .table_name = TABLE_NAME, .rows = &rows };
	static struct call c;
	char qualifier[8];
	int i;

	set("r", "f", "a", 1000, str("x"));
	c = (struct call){ .is_inline = true };
	read_with(&c, &q);
	ck_assert_uint_eq(c.runs, 1);
	ck_assert_uint_eq(c.count, 1);
	fake_release(&c);
	for (i = 0; i < 20; i++) {
		snprintf(qualifier, sizeof(qualifier), "%d", i);
		set("r", "g", qualifier, 1000, bytes_of(value, sizeof(value)));
	}
	c = (struct call){ .is_inline = true };
	read_with(&c, &q);
	ck_assert_uint_eq(c.runs, 2);
	ck_assert_uint_eq(c.count, 1);
	/* Of what was given up nothing is sent. */
	ck_assert_uint_gt(c.messages[0].size, 100000);
	ck_assert_uint_lt(c.messages[0].size, 102000);
	fake_release(&c);
	q.rows = NULL;
	c = (struct call){ .is_inline = true };
	read_with(&c, &q);
	ck_assert_uint_eq(c.runs, 2);
	fake_release(&c);
}
END_TEST

START_TEST(stats_are_told)
{
	struct proto_read_rows q = { .table_name = TABLE_NAME,
				     .request_stats_view = 2 };
	struct proto_read_rows_answer *answer;
	struct proto_read_iteration_stats *stats;
	static struct call c;
	void *message;

	set("a", "f", "", 1000, str("12"));
	set("b", "f", "", 1000, str("12"));
	set("b", "f", "", 2000, str("12"));
	c = (struct call){ .route = NULL };
	read_with(&c, &q);
	ck_assert_uint_eq(c.count, 1);
	ck_assert_int_eq(proto_decode(&proto_read_rows_answer_type,
				      buf_bytes(&c.messages[0]), &arena,
				      &message),
			 0);
	answer = message;
	stats = answer->request_stats->full_read_stats_view
			->read_iteration_stats;
	ck_assert_int_eq(stats->rows_returned_count, 2);
	ck_assert_int_eq(stats->cells_returned_count, 3);
	fake_release(&c);
}
END_TEST

START_TEST(cancelled_calls_end)
{
	struct proto_read_rows q = { .table_name = TABLE_NAME };
	static struct call c;
	char row[8];
	int i;

	for (i = 0; i < 3000; i++) {
		snprintf(row, sizeof(row), "r%04d", i);
		set(row, "f", "a", 1000, str("x"));
	}
	c = (struct call){ .cancelled = true };
	read_with(&c, &q);
	ck_assert_int_eq(c.status, CALL_CANCELLED);
	fake_release(&c);
}
END_TEST

/* 1,500 rows of 100 cells, of which three pass a filter for "rare". */
static void fill_long_ways(void)
{
	struct write *w = NULL;
	unsigned int i, j;
	char name[16];

	for (i = 0; i < 1500; i++) {
		if (i % 500 == 0)
			ck_assert_int_eq(write_new(service.store, &w), 0);
		snprintf(name, sizeof(name), "r%04u", i);
		ck_assert_int_eq(write_row(w, str("t"), str(name)), 0);
		for (j = 0; j < 100; j++) {
			snprintf(name, sizeof(name), "%u", j);
			ck_assert_int_eq(
				write_set(w, str("f"), str(name), 1000,
					  str(i % 700 || j ? "x" : "rare")),
				0);
		}
		if (i % 500 == 499) {
			ck_assert_int_eq(store_commit(service.store, w, false),
					 0);
			write_free(w);
		}
	}
}

/* Of an answer of single cells: each message leads further, by its row or by
 * its place, of which it counts the latter. */
static size_t count_places(const struct call *c, bool reversed)
{
	struct proto_read_rows_answer *answer;
	struct bytes last = BYTES_NONE, now;
	size_t i, places = 0;
	void *message;

	for (i = 0; i < c->count; i++) {
		ck_assert_int_eq(proto_decode(&proto_read_rows_answer_type,
					      buf_bytes(&c->messages[i]),
					      &arena, &message),
				 0);
		answer = message;
		now = answer->last_scanned_row_key;
		ck_assert((now.size == 0) == (answer->chunks.count == 1));
		places += now.size > 0;
		if (now.size == 0)
			now = answer->chunks.at[0].row_key;
		ck_assert(i == 0 ||
			  (bytes_compare(now, last) > 0) == !reversed);
		last = now;
	}
	return places;
}

/* A run does not go on for as long as a filter looks at cells, or a row has
 * values, least of all while others wait; and the client hears how far it
 * came. */
START_TEST(slow_ways)
{
	static uint8_t value[30000];
	struct bytes key = str("large");
	struct proto_row_set rows = { .row_keys = { &key, 1 } };
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = str("(y?){140}"),
	};
	struct proto_read_rows q = { .table_name = TABLE_NAME,
				     .filter = &filter };
	static struct call c;
	char name[8];
	int i;

	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "r%03d", i);
		set(name, "f", "a", 1000, str("x"));
	}
	c = (struct call){ .hurried = true };
	read_with(&c, &q);
	ck_assert_int_eq(c.status, CALL_OK);
	ck_assert_uint_ge(c.runs, 200);
	ck_assert_uint_ge(count_places(&c, false), 3);
	fake_release(&c);
	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "%d", i);
		set("large", "g", name, 1000, bytes_of(value, sizeof(value)));
	}
	q.rows = &rows;
	filter.value_regex_filter = str("(\\C?){140}");
	c = (struct call){ .hurried = true, .is_inline = true };
	read_with(&c, &q);
	ck_assert_uint_ge(c.runs, 50);
	ck_assert_uint_eq(c.count, 0);
	fake_release(&c);
	q.filter = NULL;
	c = (struct call){ .hurried = true };
	read_with(&c, &q);
	ck_assert_uint_ge(c.runs, 50 * sizeof(value) / 100000);
	ck_assert_uint_eq(c.count, 1);
	ck_assert_uint_gt(c.messages[0].size, 50 * sizeof(value));
	fake_release(&c);
}
END_TEST

/* What a filter drops is passed in many runs, in which the client hears how far
 * they came; what passes is the same, and comes before the next is found. */
START_TEST(long_ways)
{
	static const char *const wants[] = {
		"r0000:f:0:4;r0700:f:0:4;r1400:f:0:4;",
		"r1400:f:0:4;r0700:f:0:4;r0000:f:0:4;",
		"r0000:f:0:4;r0700:f:0:4;",
		"r1400:f:0:4;r0700:f:0:4;",
	};
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = str("rare"),
	};
	struct proto_read_rows q = { .table_name = TABLE_NAME,
				     .filter = &filter };
	struct buf out = BUF_INIT;
	static struct call c;
	unsigned int way;

	fill_long_ways();
	for (way = 0; way < 4; way++) {
		c = (struct call){ .hurried = true };
		q.reversed = way & 1;
		q.rows_limit = way & 2 ? 2 : 0;
		read_with(&c, &q);
		ck_assert_msg(c.status == CALL_OK, "%s", c.text);
		ck_assert_uint_gt(c.runs, 40);
		print_answer(&c, &out);
		ck_assert_str_eq((char *)out.data, wants[way]);
		ck_assert_uint_gt(count_places(&c, q.reversed), 0);
		fake_release(&c);
	}
	buf_release(&out);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { names_stand_where_they_change,
				 rows_of_a_set,
				 what_is_refused,
				 filters_too_deep_are_refused,
				 what_is_too_much_names_the_limit,
				 every_length,
				 in_pieces,
				 in_one_table_only,
				 while_others_wait,
				 stats_are_told,
				 cancelled_calls_end,
				 long_ways,
				 slow_ways };

	return run_suite("read_rows", setup, teardown, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
