#include <assert.h>
#include <stdlib.h>

#include "tools/serve/data/mutate.h"
#include "tools/serve/data/wire_filter.h"
#include "tools/serve/data/wire_mutation.h"
#include "tools/serve/data/wire_row.h"
#include "tools/serve/method/resource.h"

/* The table of a request that may name a view instead. */
static int table_of(const struct service *s, struct proto_arena *arena,
		    struct bytes name, struct bytes view, struct bytes *table)
{
	if (view.size > 0)
		return fail(EOPNOTSUPP, "authorized views are not implemented");
	return resource_table(s->store, arena, "table_name", name, table);
}

/* Commits the mutations of one row: 0, 1 as method_await, or an error. */
static int mutate_one(struct call *c, const struct service *s,
		      struct bytes table, struct bytes row,
		      const struct proto_mutation *mutations, size_t count)
{
	struct write *w;
	int err = write_new(s->store, &w);

	if (err < 0)
		return err;
	err = write_row(w, table, row);
	if (!err)
		err = wire_mutations(w, mutations, count, NULL);
	if (!err)
		err = method_await(c, w);
	if (!err) {
		err = store_commit(s->store, w, s->sync);
		method_changed(c, s, err);
	}
	write_free(w);
	return err;
}

enum call_result mutate_row(struct call *c, void *context)
{
	const struct service *s = context;
	struct proto_arena arena = { .chunks = NULL };
	enum call_result result = CALL_DONE;
	const struct proto_mutate_row *q;
	struct bytes table;
	int err = 0;

	if (store_commit_waits(s->store, s->sync) && call_is_inline(c))
		return CALL_AGAIN;
	q = method_request(c, &proto_mutate_row_type, &arena);
	if (!q)
		goto release;
	err = table_of(s, &arena, q->table_name, q->authorized_view_name,
		       &table);
	if (!err)
		err = mutate_one(c, s, table, q->row_key, q->mutations.at,
				 q->mutations.count);
	if (err > 0)
		result = CALL_AGAIN;
	else if (err < 0)
		method_failed(c, err);
	else
		method_answer(c, &proto_empty_type, &(struct proto_empty){ 0 });
release:
	proto_arena_release(&arena);
	return result;
}

/* Before an update of the row, in which nobody may wait: as method_await, or an
 * error, also of the branch that will not be taken. */
static int await_update(const struct call *c, const struct service *s,
			struct bytes table,
			const struct proto_check_and_mutate_row *q)
{
	struct write *w;
	int err = write_new(s->store, &w);

	if (err < 0)
		return err;
	err = wire_check(w, table, q->row_key, q->true_mutations.at,
			 q->true_mutations.count);
	if (!err)
		err = wire_check(w, table, q->row_key, q->false_mutations.at,
				 q->false_mutations.count);
	write_reset(w);
	if (!err)
		err = write_row(w, table, q->row_key);
	if (!err) {
		write_follow(w);
		err = method_await(c, w);
	}
	write_free(w);
	return err;
}

/* A check, from run to run. */
struct checking {
	struct call *call; /* of the present run */
	struct proto_arena arena;
	struct proto_check_and_mutate_row *q;
	struct row_check check;
	struct row_checking *run;
	uint64_t room;   /* for a large value, as the call's */
	bool lacks_room; /* in the present run */
};

static int if_true(void *context, struct write *w)
{
	const struct checking *k = context;

	return wire_if_true(k->q, w);
}

static int if_false(void *context, struct write *w)
{
	const struct checking *k = context;

	return wire_if_false(k->q, w);
}

static bool check_is_over(void *context)
{
	const struct checking *k = context;

	return call_cancelled(k->call);
}

static bool check_pauses(void *context)
{
	const struct checking *k = context;

	return call_out_of_time(k->call);
}

/* Once for all of its runs: a condition looks at large values one by one. */
static bool check_has_room(void *context, uint64_t size)
{
	struct checking *k = context;

	if (size <= k->room)
		return true;
	k->lacks_room = !call_take(k->call, (size_t)(size - k->room));
	if (!k->lacks_room)
		k->room = size;
	return !k->lacks_room;
}

void check_and_mutate_row_release(void *state)
{
	struct checking *k = state;

	row_checking_free(k->run);
	filter_free(k->check.filter);
	proto_arena_release(&k->arena);
	free(k);
}

/* Takes the request apart: 0 or an error. No check is inline, so it may wait
 * here. */
static int begin_check(struct call *c, const struct service *s,
		       struct checking *k)
{
	struct proto_check_and_mutate_row *q = k->q;
	int err;

	k->check = (struct row_check){
		.row = q->row_key,
		.if_true = q->true_mutations.count > 0 ? if_true : NULL,
		.if_false = q->false_mutations.count > 0 ? if_false : NULL,
		.stop = check_is_over,
		.pause = check_pauses,
		.room = check_has_room,
		.context = k,
	};
	err = table_of(s, &k->arena, q->table_name, q->authorized_view_name,
		       &k->check.table);
	if (!err)
		err = wire_predicate(q->predicate_filter, &k->check.filter);
	if (!err)
		err = await_update(c, s, k->check.table, q);
	assert(err <= 0);
	if (!err)
		err = row_checking_new(s->store, &k->check, &k->run);
	return err;
}

/* Until it is decided and committed, or others want to run. Where there was
 * nothing to be committed it was a read. */
static enum call_result go_on(struct call *c, const struct service *s,
			      struct checking *k)
{
	const struct proto_check_and_mutate_row *q = k->q;
	struct proto_check_and_mutate_row_answer answer = { false };
	int err;

	k->call = c;
	k->lacks_room = false;
	err = row_checking_run(k->run, s->sync, &answer.predicate_matched);
	if (err > 0)
		return k->lacks_room ? CALL_SHORT : CALL_AGAIN;
	if (answer.predicate_matched ? q->true_mutations.count > 0
				     : q->false_mutations.count > 0)
		method_changed(c, s, err);
	if (err < 0)
		return method_failed(c, err);
	return method_answer(c, &proto_check_and_mutate_row_answer_type,
			     &answer);
}

enum call_result check_and_mutate_row(struct call *c, void *context)
{
	const struct service *s = context;
	struct checking *k = call_state(c);
	int err;

	if (k)
		return go_on(c, s, k);
	k = calloc(1, sizeof(*k));
	if (!k)
		return method_failed(c, -ENOMEM);
	call_set_state(c, k);
	k->q = method_request(c, &proto_check_and_mutate_row_type, &k->arena);
	if (!k->q)
		return CALL_DONE;
	err = begin_check(c, s, k);
	return err < 0 ? method_failed(c, err) : go_on(c, s, k);
}

static int take_rules(const struct proto_read_modify_write_row *q,
		      struct modify_rule *rules)
{
	size_t i;

	for (i = 0; i < q->rules.count; i++) {
		const struct proto_read_modify_write_rule *r = &q->rules.at[i];

		if (r->rule_case == 0)
			return fail(ERR_bad_argument,
				    "a rule neither appends nor increments");
		rules[i] = (struct modify_rule){
			.family = r->family_name,
			.qualifier = r->column_qualifier,
			.is_increment =
				r->rule_case ==
				nr_read_modify_write_rule_increment_amount,
			.value = r->append_value,
			.amount = r->increment_amount,
		};
	}
	return 0;
}

/* What modify has of memory besides its request. */
struct modifying {
	struct call *call;
	size_t key_size;
	struct buf memory; /* the new values, and then the answer */
	uint64_t taken;
};

/* For the new values and what the answer has around them, in one piece. Where
 * there is none it is tried again, and said, by who needs it. */
static bool take_values(void *context, uint64_t size)
{
	struct modifying *m = context;
	uint64_t need = size + m->key_size + WIRE_ROW_EXTRA;

	if (need > m->taken && !call_take(m->call, (size_t)(need - m->taken)))
		return false;
	if (need > m->taken)
		m->taken = need;
	(void)buf_fit(&m->memory, need);
	return true;
}

static bool is_over(void *context)
{
	const struct modifying *m = context;

	return call_cancelled(m->call);
}

/* All rules, or none. -EAGAIN: there is no memory for the new values, and the
 * call begins anew when there is. */
static int modify(struct call *c, const struct service *s,
		  const struct proto_read_modify_write_row *q,
		  struct proto_arena *arena)
{
	struct modifying m = { .call = c, .key_size = q->row_key.size };
	struct modify all = { .row = q->row_key,
			      .count = q->rules.count,
			      .take = take_values,
			      .stop = is_over,
			      .context = &m };
	struct modify_rule *rules;
	struct cell *cells;
	int err = table_of(s, arena, q->table_name, q->authorized_view_name,
			   &all.table);

	/* Before there is room for as many. */
	if (!err && all.count > STORE_MUTATIONS_MAX)
		err = fail(ERR_batch_too_large,
			   "Error in field 'rules' : %zu are more than %d",
			   all.count, STORE_MUTATIONS_MAX);
	if (err < 0)
		return err;
	rules = proto_alloc(arena, (all.count + 1) * sizeof(*rules), &err);
	cells = proto_alloc(arena, (all.count + 1) * sizeof(*cells), &err);
	if (!rules || !cells)
		return err;
	all.rules = rules;
	err = take_rules(q, rules);
	if (!err) {
		err = store_modify_row(s->store, &all, s->sync, cells,
				       &m.memory);
		method_changed(c, s, err);
	}
	if (err > 0)
		err = wire_row(q->row_key, cells, (size_t)err, &m.memory);
	if (!err)
		err = method_send(c, &m.memory);
	buf_release(&m.memory);
	return err;
}

enum call_result read_modify_write_row(struct call *c, void *context)
{
	struct proto_arena arena = { .chunks = NULL };
	const struct proto_read_modify_write_row *q =
		method_request(c, &proto_read_modify_write_row_type, &arena);
	int err = q ? modify(c, context, q, &arena) : 0;

	if (err < 0 && err != -EAGAIN)
		method_failed(c, err);
	proto_arena_release(&arena);
	return CALL_DONE;
}
