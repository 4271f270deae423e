#include "tests/sim/fake_call.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Rows with large values, as ReadRows puts them together: what they hold, and
 * that the memory for them is asked for before it is there, and no more. */
#define TABLE_NAME BYTES_LITERAL("projects/p/instances/i/tables/t")
#define SIZE ((size_t)5 << 20)
#define SLACK ((size_t)64 << 10)

static struct service service;
static struct buf request;
static uint8_t value[2][SIZE];
static struct call c;

static void set(const char *qualifier, struct bytes v)
{
	struct write *w;

	ck_assert_int_eq(write_new(service.store, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("row")),
			 0);
	ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"),
				   bytes_string(qualifier), 1000, v),
			 0);
	ck_assert_int_eq(store_commit(service.store, w, false), 0);
	write_free(w);
}

/* A row of two large values and a small one between, and the request. */
static void setup(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct bytes key = BYTES_LITERAL("row");
	struct proto_row_set rows = { .row_keys = { &key, 1 } };
	struct proto_read_rows q = { .table_name = TABLE_NAME, .rows = &rows };
	size_t i;

	service.store = mem_store(NULL);
	ck_assert_int_eq(store_create_table(service.store, BYTES_LITERAL("t"),
					    true, &family, 1),
			 0);
	for (i = 0; i < SIZE; i++) {
		value[0][i] = (uint8_t)(i * 2654435761u >> 13);
		value[1][i] = (uint8_t)(i >> 10);
	}
	set("a", bytes_of(value[0], SIZE));
	set("b", BYTES_LITERAL("small"));
	set("c", bytes_of(value[1], SIZE - 1));
	buf_reset(&request);
	ck_assert_int_eq(proto_encode(&proto_read_rows_type, &q, &request), 0);
	c = (struct call){ .route = fake_route("ReadRows"),
			   .request = buf_bytes(&request) };
}

static void teardown(void)
{
	fake_release(&c);
	buf_release(&request);
	ck_assert_int_eq(store_close(service.store), 0);
}

static void check_answer(void)
{
	static const struct bytes small = { (const uint8_t *)"small", 5 };
	struct proto_arena arena = { .chunks = NULL };
	struct proto_read_rows_answer *answer;
	void *message;

	ck_assert_int_eq(c.status, CALL_OK);
	ck_assert_uint_eq(c.count, 1);
	ck_assert_int_eq(proto_decode(&proto_read_rows_answer_type,
				      buf_bytes(&c.messages[0]), &arena,
				      &message),
			 0);
	answer = message;
	ck_assert_uint_eq(answer->chunks.count, 3);
	ck_assert(bytes_equal(answer->chunks.at[0].value,
			      bytes_of(value[0], SIZE)));
	ck_assert(bytes_equal(answer->chunks.at[1].value, small));
	ck_assert(bytes_equal(answer->chunks.at[2].value,
			      bytes_of(value[1], SIZE - 1)));
	ck_assert(answer->chunks.at[2].commit_row);
	proto_arena_release(&arena);
}

START_TEST(large_values_are_whole)
{
	fake_run(&c, &service);
	check_answer();
}
END_TEST

/* The row is there once. */
START_TEST(large_values_have_what_they_need)
{
	c.is_short = true;
	fake_run(&c, &service);
	check_answer();
	ck_assert_uint_ge(c.granted, 2 * SIZE);
	ck_assert_uint_le(c.granted, 2 * SIZE + SLACK);
	ck_assert_uint_le(c.messages[0].capacity, 2 * SIZE + SLACK);
}
END_TEST

/* Not by the thread that moves the frames of others. */
START_TEST(large_values_wait_for_a_worker)
{
	c.is_inline = true;
	ck_assert_int_eq(c.route->run(&c, &service), CALL_AGAIN);
	ck_assert_uint_lt(c.kept, SLACK);
	c.is_inline = false;
	fake_run(&c, &service);
	check_answer();
}
END_TEST

int main(void)
{
	const TTest *tests[] = { large_values_are_whole,
				 large_values_have_what_they_need,
				 large_values_wait_for_a_worker };

	return run_suite("read whole", setup, teardown, tests, 3);
}
