#include "store/base/watch/cost.h"
#include "tests/unit/read_fixture.h"

/* Large values that are read, or that a filter looks at: whose memory they are,
 * and who waits for them. */
/* Runs it once; whatever it ends with but the end of the call. */
static enum call_result run_once(struct call *c)
{
	fake_grant(c);
	return c->route->run(c, &service);
}

/* Runs in which the call had a value, until it ended. */
static unsigned int runs_with_value(struct call *c, unsigned int *shorts)
{
	unsigned int runs = 0;

	for (*shorts = 0;;) {
		enum call_result result = run_once(c);

		if (c->ended)
			return runs;
		/* Before it was decoded it has no place to keep. */
		if (result == CALL_DONE)
			fake_end_state(c);
		ck_assert(result == CALL_AGAIN || c->lacked);
		runs += c->kept >= 5 << 20;
		*shorts += c->lacked;
		ck_assert_uint_lt(c->kept, 28 << 20);
		/* For what is decoded, three values, and what passes. */
		ck_assert_uint_le(*shorts, 12);
	}
}

/* A filter that pauses over a large value has one copy of it, for which the
 * call asks before there is one, and which it keeps meanwhile: what passes is
 * read once more, into the message, and nothing else twice. Who gets none stays
 * where it is, but for a row that is begun. */
START_TEST(values_in_filters_are_counted)
{
	static uint8_t value[7 << 20];
	struct proto_row_filter parts[3];
	struct proto_filter_chain chain = { .filters = { parts, 3 } };
	struct proto_row_filter filter = { .filter_case = nr_row_filter_chain,
					   .chain = &chain };
	struct proto_read_rows q = { .table_name = TABLE_NAME,
				     .filter = &filter };
	struct buf request = BUF_INIT, out = BUF_INIT;
	unsigned int i, shorts, runs[2];
	static struct call c;
	struct cost before;

	for (i = 0; i < 3; i++)
		parts[i] = (struct proto_row_filter){
			.filter_case = nr_row_filter_value_regex_filter,
			.value_regex_filter = str(i < 2 ? "\\C*" : "\\C*!"),
		};
	set("r", "f", "a", 1000, bytes_of(value, 5 << 20));
	set("r", "f", "b", 1000, bytes_of(value, 6 << 20));
	value[sizeof(value) - 1] = '!';
	set("r", "f", "c", 1000, bytes_of(value, sizeof(value)));
	set("r", "f", "d", 1000, str("!"));
	ck_assert_int_eq(proto_encode(&proto_read_rows_type, &q, &request), 0);
	for (i = 0; i < 2; i++) {
		c = (struct call){ .route = fake_route("ReadRows"),
				   .request = buf_bytes(&request),
				   .hurried = true,
				   .is_short = i,
				   .is_hard = i };
		before = thread_cost;
		runs[i] = runs_with_value(&c, &shorts);
		if (i == 0)
			ck_assert_uint_lt(cost_since(&before).bytes_read,
					  26 << 20);
		ck_assert_int_eq(c.status, CALL_OK);
		ck_assert_uint_gt(runs[i], 10);
		print_answer(&c, &out);
		ck_assert_str_eq((char *)out.data, "r:f:c:7340032 r:f:d:1;");
		fake_end_state(&c);
		fake_release(&c);
	}
	ck_assert_uint_lt(runs[1] * 2, runs[0] * 5);
	buf_release(&out);
	buf_release(&request);
}
END_TEST

/* A large value is not read while others wait, for a filter neither. */
START_TEST(large_values_hold_nobody_up)
{
	struct proto_row_filter any = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = str("\\C*"),
	};
	static uint8_t value[1 << 20];
	struct bytes key = str("r");
	struct proto_row_set rows = { .row_keys = { &key, 1 } };
	struct proto_read_rows q = { .table_name = TABLE_NAME, .rows = &rows };
	struct buf request = BUF_INIT;
	static struct call c;
	int i;

	set("r", "f", "a", 1000, bytes_of(value, sizeof(value)));
	for (i = 0; i < 2; i++) {
		q.filter = i ? &any : NULL;
		buf_reset(&request);
		ck_assert_int_eq(
			proto_encode(&proto_read_rows_type, &q, &request), 0);
		c = (struct call){ .route = fake_route("ReadRows"),
				   .request = buf_bytes(&request),
				   .is_inline = true };
		ck_assert_int_eq(run_once(&c), CALL_AGAIN);
		ck_assert_uint_lt(c.kept, sizeof(value));
		c.is_inline = false;
		ck_assert_int_eq(run_once(&c), CALL_DONE);
		ck_assert_uint_eq(c.count, 1);
		ck_assert_uint_gt(c.messages[0].size, sizeof(value));
		fake_end_state(&c);
		fake_release(&c);
	}
	buf_release(&request);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { values_in_filters_are_counted,
				 large_values_hold_nobody_up };

	return run_suite("read_large", setup, teardown, tests, 2);
}
