#ifndef TESTS_UNIT_WIRE_FIXTURE_H
#define TESTS_UNIT_WIRE_FIXTURE_H

#include "store/base/clock.h"
#include "store/base/coding.h"
#include "tests/sim/fake_call.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Requests to a store with the table t, run as calls without a network, and
 * what they leave in it. */
static struct service service;
static struct proto_arena arena;
static struct call last; /* the call before */

#define INSTANCE BYTES_LITERAL("projects/p/instances/i")
#define TABLE_NAME BYTES_LITERAL("projects/p/instances/i/tables/t")
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline struct bytes str(const char *text)
{
	return bytes_string(text);
}

static inline void setup(void)
{
	struct family_spec families[] = {
		{ .name = str("f") },
		{ .name = str("sum"), .type = FAMILY_INTSUM },
	};

	service.store = mem_store(NULL);
	ck_assert_int_eq(
		store_create_table(service.store, str("t"), true, families, 2),
		0);
}

static inline void teardown(void)
{
	fake_release(&last);
	proto_arena_release(&arena);
	ck_assert_int_eq(store_close(service.store), 0);
}

/* What changes the store says so, and before it is answered: a fake call that
 * sends is told of no change after it. */
static unsigned int tellings;

static inline void note_change(void *context)
{
	ck_assert_ptr_eq(context, &tellings);
	ck_assert(!last.ended && last.count == 0);
	tellings++;
}

static inline uint64_t count_commits(void)
{
	struct schema *schema = store_schema(service.store);
	uint64_t count = schema->seq;

	schema_put(schema);
	return count + store_seq(service.store);
}

static inline enum call_status run_bytes(const char *method,
					 struct bytes request)
{
	uint64_t before = count_commits();
	unsigned int told = tellings;

	fake_release(&last);
	last = (struct call){ .route = fake_route(method), .request = request };
	service.changed = note_change;
	service.changed_context = &tellings;
	fake_run(&last, &service);
	ck_assert(count_commits() == before || tellings > told);
	/* A failure says why, and sends nothing. */
	ck_assert(last.status == CALL_OK || last.text[0]);
	return last.status;
}

#define RUN(method, type, request) \
	run_message(method, &proto_##type##_type, request)

static inline enum call_status run_message(const char *method,
					   const struct proto_type *type,
					   const void *message)
{
	struct buf request = BUF_INIT;
	enum call_status status;

	ck_assert_int_eq(proto_encode(type, message, &request), 0);
	status = run_bytes(method, buf_bytes(&request));
	buf_release(&request);
	return status;
}

/* The only message of the answer. */
#define ANSWER(type) ((struct proto_##type *)answer(&proto_##type##_type))

static inline void *answer(const struct proto_type *type)
{
	void *out;

	ck_assert_uint_eq(last.count, 1);
	ck_assert_int_eq(
		proto_decode(type, buf_bytes(&last.messages[0]), &arena, &out),
		0);
	return out;
}

/* All cells of the table as "row:family:qualifier:value@time;". */
static inline const char *dump(void)
{
	static struct buf out;
	struct scan_range range = { .table = str("t") };
	struct scan *scan;
	struct cell c;

	buf_reset(&out);
	ck_assert_int_eq(scan_open(service.store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &c) == 1) {
		bool is_sum = c.aggregate == AGGREGATE_SUM;

		buf_printf(&out, "%.*s:%.*s:%.*s:", (int)c.row.size, c.row.data,
			   (int)c.family.size, c.family.data,
			   (int)c.qualifier.size, c.qualifier.data);
		if (is_sum)
			buf_printf(&out, "%lld",
				   (long long)get_u64be(c.value.data));
		else
			buf_printf(&out, "%.*s", (int)c.value.size,
				   c.value.data);
		buf_printf(&out, "@%llu;", (unsigned long long)c.timestamp_us);
	}
	scan_close(scan);
	ck_assert_int_eq(buf_terminate(&out), 0);
	return (const char *)out.data;
}

static inline struct proto_mutation set_of(struct proto_set_cell *set)
{
	return (struct proto_mutation){
		.mutation_case = nr_mutation_set_cell,
		.set_cell = set,
	};
}

#endif
