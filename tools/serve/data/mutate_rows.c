#include <stdlib.h>

#include "tools/serve/data/mutate_rows.h"
#include "tools/serve/data/repeats.h"
#include "tools/serve/data/wire_mutation.h"
#include "tools/serve/method/resource.h"

/* What a commit has at least, but for the last one of a request: others wait
 * for it. */
#define COMMIT_SIZE ((size_t)1 << 20)

/* One call, from run to run. */
struct batch_call {
	struct service *service;
	struct proto_arena arena;
	const struct proto_mutate_rows *request;
	struct bytes table;
	struct write *w;
	size_t next;             /* entry */
	size_t committed;        /* entries before this one are settled */
	const uint32_t *repeats; /* of the next entry's mutations; NULL: nothing
				    is set twice */
	struct proto_mutate_entry_answer *answers;
	struct proto_status *statuses;
};

void mutate_rows_release(void *state)
{
	struct batch_call *b = state;

	write_free(b->w);
	proto_arena_release(&b->arena);
	free(b);
}

/* The text is the arena's. */
static int set_status(struct batch_call *b, size_t entry, int error)
{
	struct bytes text = bytes_string(method_text(error));
	int err = 0;
	uint8_t *copy = proto_alloc(&b->arena, text.size + 1, &err);

	if (!copy)
		return err;
	memcpy(copy, text.data, text.size);
	b->statuses[entry].code = (int32_t)method_status(error);
	b->statuses[entry].message = bytes_of(copy, text.size);
	return 0;
}

/* Takes the request apart. The arrays have one element more, as none is
 * nothing. */
static int begin(struct batch_call *b)
{
	const struct proto_mutate_rows *q = b->request;
	size_t count = q->entries.count, mutations = 0, i;
	int err;

	if (q->authorized_view_name.size > 0)
		return fail(EOPNOTSUPP, "authorized views are not implemented");
	err = resource_table(b->service->store, &b->arena, "table_name",
			     q->table_name, &b->table);
	if (err < 0)
		return err;
	if (count == 0)
		return fail(ERR_bad_argument, "No entries provided");
	for (i = 0; i < count; i++)
		mutations += q->entries.at[i].mutations.count;
	if (mutations > STORE_MUTATIONS_MAX)
		return fail(ERR_bad_argument,
			    "%zu mutations are in the request, more than %d",
			    mutations, STORE_MUTATIONS_MAX);
	err = repeats_count(q->entries.at, count, &b->arena, &b->repeats);
	if (err < 0)
		return err;
	b->answers = proto_alloc(&b->arena, count * sizeof(*b->answers), &err);
	b->statuses =
		proto_alloc(&b->arena, count * sizeof(*b->statuses), &err);
	if (!b->answers || !b->statuses)
		return err;
	for (i = 0; i < count; i++) {
		b->answers[i].index = (int64_t)i;
		b->answers[i].status = &b->statuses[i];
	}
	return write_new(b->service->store, &b->w);
}

/* Adds an entry to what is committed next, or nothing of it. A table that is
 * not there fails the request, and nothing has been written. */
static int add_entry(struct batch_call *b, size_t i)
{
	const struct proto_mutate_entry *entry = &b->request->entries.at[i];
	struct write_mark mark = write_mark(b->w);
	int err = write_row(b->w, b->table, entry->row_key);

	if (!err)
		err = wire_mutations(b->w, entry->mutations.at,
				     entry->mutations.count, b->repeats);
	if (b->repeats)
		b->repeats += entry->mutations.count;
	if (!err)
		return 0;
	write_rewind(b->w, mark);
	if (err == -ERR_no_table && b->committed == 0)
		return err;
	return set_status(b, i, err);
}

/* Commits what has been added. If that fails, so has each entry of it. 0, 1 as
 * method_await, or an error. */
static int commit(struct call *c, struct batch_call *b)
{
	int error = 0, err = 0;
	size_t i;

	if (method_await(c, b->w) > 0)
		return 1;
	if (write_count(b->w) > 0) {
		error = store_commit(b->service->store, b->w, b->service->sync);
		method_changed(c, b->service, error);
	}
	for (i = b->committed; error < 0 && !err && i < b->next; i++)
		if (b->statuses[i].code == CALL_OK)
			err = set_status(b, i, error);
	b->committed = b->next;
	return err;
}

static void answer(struct call *c, struct batch_call *b)
{
	struct proto_mutate_rows_answer answer = {
		.entries = { b->answers, b->request->entries.count },
	};

	method_answer(c, &proto_mutate_rows_answer_type, &answer);
}

/* Until all is committed or others want to run. A cancelled call ends between
 * two commits. */
static int go_on(struct call *c, struct batch_call *b)
{
	int err = 0;

	while (!err && b->next < b->request->entries.count) {
		err = add_entry(b, b->next);
		b->next++;
		if (!err && write_size(b->w) >= COMMIT_SIZE) {
			err = commit(c, b);
			if (!err && call_cancelled(c))
				err = fail(ECANCELED, "the call was cancelled");
			if (!err && call_out_of_time(c))
				return 0;
		}
	}
	return err ? err : commit(c, b);
}

enum call_result mutate_rows(struct call *c, void *context)
{
	struct service *s = context;
	struct batch_call *b = call_state(c);
	int err = 0;

	if (store_commit_waits(s->store, s->sync) && call_is_inline(c))
		return CALL_AGAIN;
	if (!b) {
		b = calloc(1, sizeof(*b));
		if (!b)
			return method_failed(c, -ENOMEM);
		call_set_state(c, b);
		b->service = s;
		b->request =
			method_request(c, &proto_mutate_rows_type, &b->arena);
		if (!b->request)
			return CALL_DONE;
		err = begin(b);
	}
	if (!err)
		err = go_on(c, b);
	if (err < 0)
		return method_failed(c, err);
	if (b->committed < b->request->entries.count)
		return CALL_AGAIN;
	answer(c, b);
	return CALL_DONE;
}
