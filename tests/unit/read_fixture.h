#ifndef TESTS_UNIT_READ_FIXTURE_H
#define TESTS_UNIT_READ_FIXTURE_H

#include "tests/sim/fake_call.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* ReadRows of a table t, run as a call without a network. What is answered is
 * decoded and compared as text. */
static struct service service;
static struct proto_arena arena;

#define TABLE_NAME BYTES_LITERAL("projects/p/instances/i/tables/t")

static inline struct bytes str(const char *text)
{
	return bytes_string(text);
}

static inline void setup(void)
{
	struct family_spec families[] = { { .name = str("f") },
					  { .name = str("g") } };

	service.store = mem_store(NULL);
	ck_assert_int_eq(
		store_create_table(service.store, str("t"), true, families, 2),
		0);
}

static inline void teardown(void)
{
	proto_arena_release(&arena);
	ck_assert_int_eq(store_close(service.store), 0);
}

static inline void set(const char *row, const char *family,
		       const char *qualifier, uint64_t us, struct bytes value)
{
	struct write *w;

	ck_assert_int_eq(write_new(service.store, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
	ck_assert_int_eq(write_set(w, str(family), str(qualifier), us, value),
			 0);
	ck_assert_int_eq(store_commit(service.store, w, false), 0);
	write_free(w);
}

/* Reads, with what the call is set to. */
static inline void read_with(struct call *c, const struct proto_read_rows *q)
{
	struct buf request = BUF_INIT;

	ck_assert_int_eq(proto_encode(&proto_read_rows_type, q, &request), 0);
	c->route = fake_route("ReadRows");
	c->request = buf_bytes(&request);
	fake_run(c, &service);
	buf_release(&request);
}

/* The answer as "row:family:qualifier:size ..."; a message must end with a
 * whole row. */
static inline void print_answer(const struct call *c, struct buf *out)
{
	struct proto_read_rows_answer *answer;
	struct bytes row = BYTES_NONE, family = BYTES_NONE,
		     qualifier = BYTES_NONE;
	void *message;
	size_t i, j;

	buf_reset(out);
	for (i = 0; i < c->count; i++) {
		ck_assert_int_eq(proto_decode(&proto_read_rows_answer_type,
					      buf_bytes(&c->messages[i]),
					      &arena, &message),
				 0);
		answer = message;
		for (j = 0; j < answer->chunks.count; j++) {
			struct proto_cell_chunk *chunk = &answer->chunks.at[j];

			if (chunk->row_key.size > 0)
				row = chunk->row_key;
			if (chunk->family_name)
				family = chunk->family_name->value;
			if (chunk->qualifier)
				qualifier = chunk->qualifier->value;
			buf_printf(out, "%.*s:%.*s:%.*s:%zu%s", (int)row.size,
				   row.data, (int)family.size, family.data,
				   (int)qualifier.size, qualifier.data,
				   chunk->value.size,
				   chunk->commit_row ? ";" : " ");
		}
		ck_assert(answer->chunks.count == 0 ||
			  answer->chunks.at[j - 1].commit_row);
	}
	ck_assert_int_eq(buf_terminate(out), 0);
}

static inline void expect_rows(const struct proto_read_rows *q,
			       const char *text)
{
	static struct call c;
	struct buf out = BUF_INIT;

	c = (struct call){ .route = NULL };
	read_with(&c, q);
	ck_assert_msg(c.status == CALL_OK, "%s", c.text);
	print_answer(&c, &out);
	ck_assert_str_eq(out.data ? (char *)out.data : "", text);
	buf_release(&out);
	fake_release(&c);
}

static inline void expect_error(const struct proto_read_rows *q,
				enum call_status status)
{
	static struct call c;

	c = (struct call){ .route = NULL };
	read_with(&c, q);
	ck_assert_int_eq(c.status, status);
	ck_assert(c.text[0]);
	fake_release(&c);
}

#endif
