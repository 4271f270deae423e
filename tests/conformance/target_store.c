#include "tests/conformance/target.h"
#include "tools/serve/data/row_set.h"
#include "tools/serve/data/wire_filter.h"
#include "tools/serve/data/wire_mutation.h"
#include "tools/serve/method/method.h"

/* The store itself: each request by the calls of store.h that it means. */

static int begin(struct run *r)
{
	(void)r;
	return 0;
}

static void end(struct run *r)
{
	(void)r;
}

static int create_table(struct run *r, const struct proto_create_table *q)
{
	return store_create_table(r->store, q->table_id, true, NULL, 0);
}

static int drop_table(struct run *r, struct bytes table)
{
	return store_drop_table(r->store, table, false);
}

static int list_tables(struct run *r, struct names *out)
{
	struct schema *schema = store_schema(r->store);

	out->at = run_alloc(r, (schema->table_count + 1) * sizeof(*out->at));
	for (; out->at && out->count < schema->table_count; out->count++)
		out->at[out->count] =
			run_keep(r, schema->tables[out->count].name);
	schema_put(schema);
	return out->at ? 0 : -ENOMEM;
}

static int list_families(struct run *r, struct bytes table, struct names *out)
{
	struct schema *schema = store_schema(r->store);
	const struct table *t = schema_table(schema, table);

	if (t) {
		out->at =
			run_alloc(r, (t->family_count + 1) * sizeof(*out->at));
		for (; out->at && out->count < t->family_count; out->count++)
			out->at[out->count] =
				run_keep(r, t->families[out->count].name);
	}
	schema_put(schema);
	return t ? out->at ? 0 : -ENOMEM : -ERR_no_table;
}

static int change_family(struct run *r, struct bytes table,
			 const struct family_change *change)
{
	const struct family_spec *f = &change->family;

	if (change->kind == FAMILY_CREATE)
		return store_create_family(r->store, table, f);
	if (change->kind == FAMILY_DROP)
		return store_drop_family(r->store, table, f->name);
	return change->set_gc
		       ? store_set_gc(r->store, table, f->name, f->gc)
		       : store_set_type(r->store, table, f->name, f->type);
}

static int drop_rows(struct run *r, const struct proto_drop_row_range *q)
{
	struct write *w;
	int err = write_new(r->store, &w);

	if (err < 0)
		return err;
	err = q->target_case == nr_drop_row_range_row_key_prefix
		      ? write_delete_prefix(w, q->name, q->row_key_prefix)
		      : write_delete_range(w, q->name, BYTES_NONE, BYTES_NONE);
	if (!err)
		err = store_commit(r->store, w, false);
	write_free(w);
	return err;
}

/* One row, as a commit of its own. */
static int mutate(struct run *r, struct bytes table, struct bytes row,
		  const struct proto_mutation *mutations, size_t count)
{
	struct write *w;
	int err = write_new(r->store, &w);

	if (err < 0)
		return err;
	err = write_row(w, table, row);
	if (!err)
		err = wire_mutations(w, mutations, count, NULL);
	if (!err)
		err = store_commit(r->store, w, false);
	write_free(w);
	return err;
}

static int mutate_row(struct run *r, const struct proto_mutate_row *q)
{
	return mutate(r, q->table_name, q->row_key, q->mutations.at,
		      q->mutations.count);
}

static int mutate_rows(struct run *r, const struct proto_mutate_rows *q,
		       bool *failed)
{
	size_t i;

	for (i = 0; i < q->entries.count; i++) {
		const struct proto_mutate_entry *e = &q->entries.at[i];

		failed[i] = mutate(r, q->table_name, e->row_key,
				   e->mutations.at, e->mutations.count) < 0;
	}
	return 0;
}

static int check(struct run *r, const struct proto_check_and_mutate_row *q,
		 bool *matched)
{
	struct row_check check = {
		.table = q->table_name,
		.row = q->row_key,
		.if_true = q->true_mutations.count > 0 ? wire_if_true : NULL,
		.if_false = q->false_mutations.count > 0 ? wire_if_false : NULL,
		.context = (void *)(uintptr_t)q,
	};
	int err = wire_filter(q->predicate_filter, &check.filter);

	if (!err)
		err = store_check_and_mutate(r->store, &check, false, matched);
	filter_free(check.filter);
	return err;
}

static int modify(struct run *r, const struct proto_read_modify_write_row *q,
		  const struct taker *taker)
{
	size_t count = q->rules.count, i;
	struct modify_rule *rules = run_alloc(r, (count + 1) * sizeof(*rules));
	struct cell *cells = run_alloc(r, (count + 1) * sizeof(*cells));
	struct buf memory = BUF_INIT;
	int made, err = 0;

	if (!rules || !cells)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		rules[i] = (struct modify_rule){
			.family = q->rules.at[i].family_name,
			.qualifier = q->rules.at[i].column_qualifier,
			.is_increment =
				q->rules.at[i].rule_case ==
				nr_read_modify_write_rule_increment_amount,
			.value = q->rules.at[i].append_value,
			.amount = q->rules.at[i].increment_amount,
		};
	made = store_modify(r->store, q->table_name, q->row_key, rules, count,
			    false, cells, &memory);
	for (i = 0; !err && made > 0 && i < (size_t)made; i++)
		err = taker->take(taker->context, &cells[i], BYTES_NONE);
	buf_release(&memory);
	return made < 0 ? made : err;
}

/* The rows of one range; *left is how many more are wanted. */
static int scan_range(struct run *r, const struct scan_range *range,
		      int64_t *left, const struct taker *taker)
{
	enum cursor_step step = CURSOR_VERSION;
	struct buf row = BUF_INIT;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(r->store, NULL, range, &scan);

	if (err < 0)
		return err;
	for (;;) {
		err = scan_next(scan, step, &cell);
		if (err == 0 && range->reverse && step == CURSOR_VERSION &&
		    row.size > 0) {
			step = CURSOR_ROW;
			continue;
		}
		if (err <= 0)
			break;
		step = CURSOR_VERSION;
		if (!bytes_equal(buf_bytes(&row), cell.row)) {
			if (*left == 0)
				break;
			--*left;
			err = buf_set(&row, cell.row);
		}
		if (err >= 0)
			err = taker->take(taker->context, &cell,
					  scan_label(scan));
		if (err < 0)
			break;
	}
	scan_close(scan);
	buf_release(&row);
	return err < 0 ? err : 0;
}

static int read_rows(struct run *r, const struct proto_read_rows *q,
		     const struct taker *taker)
{
	struct scan_range range = { .table = q->table_name,
				    .reverse = q->reversed };
	int64_t left = q->rows_limit > 0 ? q->rows_limit : INT64_MAX;
	struct row_set set = { .count = 0 };
	size_t i;
	int err = wire_filter(q->filter, &range.filter);

	if (!err)
		err = row_set_init(&set, q->rows, &r->arena);
	for (i = 0; !err && i < set.count; i++) {
		const struct row_span *span =
			&set.spans[q->reversed ? set.count - 1 - i : i];

		range.start = span->start;
		range.end = span->end;
		err = scan_range(r, &range, &left, taker);
	}
	filter_free(range.filter);
	return err;
}

const struct target target_store = {
	.begin = begin,
	.end = end,
	.create_table = create_table,
	.drop_table = drop_table,
	.list_tables = list_tables,
	.list_families = list_families,
	.change_family = change_family,
	.drop_rows = drop_rows,
	.mutate_row = mutate_row,
	.mutate_rows = mutate_rows,
	.check = check,
	.modify = modify,
	.read_rows = read_rows,
};
