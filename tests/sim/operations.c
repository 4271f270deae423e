#include <stdlib.h>

#include "store/engine/run/step.h"
#include "store/format/hll.h"
#include "store/model/model.h"
#include "store/text/json/json_mutation.h"
#include "store/text/value/gcpolicy.h"
#include "store/text/value/quote.h"
#include "tests/sim/operations.h"

#define NAME(s) BYTES_LITERAL(s)

static uint64_t fixed_now(void *context)
{
	(void)context;
	return UINT64_C(1000000000000);
}

static const struct clock fixed_clock = { fixed_now, NULL };

int operations_open(struct volume *v, struct store **out)
{
	struct store_options o;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	o.clock = &fixed_clock;
	o.blob_threshold = 80;
	o.blob_chunk_size = 45;
	o.blob_file_size = 1200;
	return store_open_volume(v, &o, out);
}

/* A value that is large here. */
static struct bytes large_value(char *text)
{
	memset(text, 'L', 300);
	return bytes_of(text, 300);
}

static int set_now(struct write *w)
{
	return write_set(w, NAME("f"), NAME("p"), STORE_NOW, NAME("now"));
}

static int set_again(struct write *w)
{
	return write_set(w, NAME("f"), NAME("p"), 2000, NAME("again"));
}

static int set_large(struct write *w)
{
	char text[300];

	return write_set(w, NAME("f"), NAME("p"), 9000, large_value(text));
}

static int set_rows(struct write *w)
{
	int err = set_now(w);

	if (!err)
		err = write_row(w, NAME("t"), NAME("new"));
	if (!err)
		err = write_set(w, NAME("g"), NAME(""), 1000, BYTES_NONE);
	if (!err)
		err = write_row(w, NAME("u"), NAME("a"));
	return err ? err : write_delete_row(w);
}

static int delete_cells(struct write *w)
{
	return write_delete_cells(w, NAME("f"), NAME("p"), 2000, 3000);
}

/* What this leaves would show what the policy hides. */
static int delete_newest(struct write *w)
{
	return write_delete_cells(w, NAME("g"), NAME("q"), 4000, 0);
}

static int delete_column(struct write *w)
{
	return write_delete_column(w, NAME("f"), NAME("p"));
}

static int delete_family(struct write *w)
{
	return write_delete_family(w, NAME("f"));
}

static int delete_prefix(struct write *w)
{
	return write_delete_prefix(w, NAME("t"), NAME("b"));
}

static int delete_range(struct write *w)
{
	return write_delete_range(w, NAME("t"), NAME("aa"), NAME("c"));
}

static int delete_all(struct write *w)
{
	return write_delete_range(w, NAME("t"), BYTES_NONE, BYTES_NONE);
}

static int add_sum(struct write *w)
{
	return write_add(w, NAME("sum"), NAME("n"), 1000, 5);
}

static int add_min(struct write *w)
{
	return write_add(w, NAME("min"), NAME("n"), 1000, -5);
}

static int add_max(struct write *w)
{
	return write_add(w, NAME("max"), NAME("n"), 1000, 5);
}

static int add_hll(struct write *w)
{
	return write_add(w, NAME("hll"), NAME("n"), 1000, 5);
}

/* So often that the memtable joins what is added, which takes memory. */
static int add_often(struct write *w)
{
	int64_t i;
	int err = 0;

	for (i = 0; i < 40 && !err; i++) {
		err = write_add(w, NAME("sum"), NAME("n"), 1000, i);
		if (!err)
			err = write_add(w, NAME("hll"), NAME("n"), 1000, i);
	}
	return err;
}

static int add_newest(struct write *w)
{
	const int64_t seven = 7;

	return write_add_newest(w, NAME("sum"), NAME("n"), &seven, 1, NULL);
}

static int merge_sum(struct write *w)
{
	return write_merge(w, NAME("sum"), NAME("n"), 1000,
			   NAME("\0\0\0\0\0\0\0\x09"));
}

static int merge_hll(struct write *w)
{
	struct buf sketch = BUF_INIT;
	int err = hll_of(77, &sketch);

	if (!err)
		err = write_merge(w, NAME("hll"), NAME("n"), 1000,
				  buf_bytes(&sketch));
	buf_release(&sketch);
	return err;
}

static int append(struct write *w)
{
	return write_append(w, NAME("f"), NAME("p"), NAME("+"), NULL);
}

static int increment(struct write *w)
{
	return write_increment(w, NAME("f"), NAME("count"), 3, NULL);
}

static int modify(struct store *s)
{
	const struct modify_rule rules[] = {
		{ NAME("f"), NAME("count"), true, BYTES_NONE, 4 },
		{ NAME("g"), NAME("q"), false, NAME("+"), 0 },
	};
	struct cell cells[2];
	struct buf memory = BUF_INIT;
	int made = store_modify(s, NAME("t"), NAME("a"), rules, 2, true, cells,
				&memory);

	buf_release(&memory);
	return made < 0 ? made : 0;
}

static int set_and_delete(void *context, struct write *w)
{
	int err = set_now(w);

	(void)context;
	return err ? err : write_delete_family(w, NAME("g"));
}

static int check(struct store *s, struct bytes pattern)
{
	struct row_check c = { .table = NAME("t"),
			       .row = NAME("a"),
			       .if_true = set_and_delete,
			       .if_false = set_and_delete };
	bool matched;
	int err = filter_new_value(pattern, &c.filter);

	if (!err && bytes_equal(pattern, NAME("old")))
		c.if_false = NULL;
	else
		c.if_true = NULL;
	if (!err)
		err = store_check_and_mutate(s, &c, true, &matched);
	filter_free(c.filter);
	return err;
}

static int check_holds(struct store *s)
{
	return check(s, NAME("old"));
}

static int check_fails(struct store *s)
{
	return check(s, NAME("none"));
}

static int run_json(struct store *s)
{
	struct json_result result = JSON_RESULT_INIT;
	int err = mutation_run_json(
		s, NAME("t"), BYTES_NONE,
		NAME("{\"row\": \"a\", \"if\": {\"present\": true},"
		     "\"delete\": {\"g\": true}, \"set\": {\"f\": {\"p\": 1}},"
		     "\"add\": {\"sum\": {\"n\": 2}, \"hll\": {\"m\": [3, 4]}},"
		     "\"append\": {\"f\": {\"x\": \"y\"}},"
		     "\"increment\": {\"f\": {\"count\": 1}}}"),
		true, &result);

	json_result_release(&result);
	return err;
}

/* Rows before, between and after those that are there. */
static int load(struct store *s)
{
	static const char *const rows[] = { "A", "b", "x" };
	struct bulk_load *bulk = NULL;
	char text[300];
	struct write *w;
	size_t i;
	int err = write_new(s, &w);

	if (err)
		return err;
	err = store_bulk_begin(s, &bulk);
	for (i = 0; !err && i < 3; i++) {
		err = write_row(w, NAME("t"), bytes_string(rows[i]));
		if (!err)
			err = write_set(w, NAME("f"), NAME("p"), 5000,
					i == 1 ? large_value(text) : NAME("x"));
		if (!err)
			err = store_bulk_add(bulk, w);
		err = err == 1 ? 0 : err;
	}
	if (!err)
		err = store_bulk_publish(bulk);
	store_bulk_free(bulk);
	write_free(w);
	return err;
}

static int set_policy(struct store *s, const char *text)
{
	struct gc_policy *gc = NULL;
	int err = gc_policy_parse(bytes_string(text), &gc);

	if (!err)
		err = store_set_gc(s, NAME("t"), NAME("g"), gc);
	gc_policy_free(gc);
	return err;
}

static int tighten_policy(struct store *s)
{
	return set_policy(s, "maxversions=1");
}

static int relax_policy(struct store *s)
{
	return set_policy(s, "never");
}

static int set_type(struct store *s)
{
	return store_set_type(s, NAME("t"), NAME("g"), FAMILY_STRING);
}

static int create_table(struct store *s)
{
	const struct family_spec families[] = { { .name = NAME("x") },
						{ .name = NAME("y"),
						  .type = FAMILY_INTSUM } };

	return store_create_table(s, NAME("made"), true, families, 2);
}

static int create_table_for(struct store *s)
{
	const struct table_access access = { 0770, TABLE_ACCESS_UNSET, 7 };

	return store_create_table_for(s, NAME("made"), &access);
}

static int drop_table(struct store *s)
{
	return store_drop_table(s, NAME("t"), false);
}

static int rename_table(struct store *s)
{
	return store_rename_table(s, NAME("t"), NAME("renamed"));
}

static int set_granularity(struct store *s)
{
	return store_set_granularity(s, NAME("t"), true);
}

static int set_access(struct store *s)
{
	const struct table_access access = { 0750, 7, TABLE_ACCESS_UNSET };

	return store_set_access(s, NAME("t"), &access);
}

static int set_attributes_of(struct store *s, struct bytes table)
{
	const struct attribute changes[] = { { NAME("new"), NAME("value") },
					     { NAME("old"), BYTES_NONE } };

	return store_set_attributes(s, table, changes, 2);
}

static int set_attributes(struct store *s)
{
	return set_attributes_of(s, NAME("t"));
}

static int set_own_attributes(struct store *s)
{
	return set_attributes_of(s, BYTES_NONE);
}

static int keep_history(struct store *s)
{
	return store_set_history(s, UINT64_C(3600000000), 0);
}

static int create_family(struct store *s)
{
	const struct family_spec family = { .name = NAME("new") };

	return store_create_family(s, NAME("t"), &family);
}

static int drop_family(struct store *s)
{
	return store_drop_family(s, NAME("t"), NAME("f"));
}

const struct operation operations[] = {
	{ "SetCell", .add = set_now },
	{ "SetCell over a version", .add = set_again },
	{ "SetCell of a large value", .add = set_large },
	{ "several rows and tables", .add = set_rows },
	{ "DeleteFromColumn, some time", .add = delete_cells },
	{ "DeleteFromColumn before hidden ones", .add = delete_newest },
	{ "DeleteFromColumn", .add = delete_column },
	{ "DeleteFromFamily", .add = delete_family },
	{ "DeleteFromRow", .add = write_delete_row },
	{ "DropRowRange, a prefix", .add = delete_prefix },
	{ "DropRowRange, a range", .add = delete_range },
	{ "DropRowRange, all", .add = delete_all },
	{ "AddToCell, sum", .add = add_sum },
	{ "AddToCell, min", .add = add_min },
	{ "AddToCell, max", .add = add_max },
	{ "AddToCell, hll", .add = add_hll },
	{ "AddToCell, often", .add = add_often },
	{ "AddToCell, the newest", .update = add_newest },
	{ "MergeToCell, sum", .add = merge_sum },
	{ "MergeToCell, hll", .add = merge_hll },
	{ "append", .update = append },
	{ "increment", .update = increment },
	{ "ReadModifyWriteRow", .call = modify },
	{ "CheckAndMutateRow, true", .call = check_holds },
	{ "CheckAndMutateRow, false", .call = check_fails },
	{ "a JSON mutation", .call = run_json },
	{ "a bulk load", .call = load },
	{ "a tighter policy", .call = tighten_policy },
	{ "a looser policy", .call = relax_policy },
	{ "another type", .call = set_type },
	{ "CreateTable", .call = create_table },
	{ "CreateTable with an owner", .call = create_table_for },
	{ "DeleteTable", .call = drop_table },
	{ "a table's rename", .call = rename_table },
	{ "a table's granularity", .call = set_granularity },
	{ "a table's access", .call = set_access },
	{ "a table's attributes", .call = set_attributes },
	{ "the store's attributes", .call = set_own_attributes },
	{ "keep history", .call = keep_history },
	{ "create a family", .call = create_family },
	{ "drop a family", .call = drop_family },
};

const size_t operation_count = sizeof(operations) / sizeof(operations[0]);

static int prepare_row(struct write *w, const char *row, uint64_t from)
{
	static const char *const aggregates[] = { "sum", "min", "max", "hll" };
	char text[300];
	uint64_t i;
	int err = write_row(w, NAME("t"), bytes_string(row));

	for (i = from; !err && i < from + 2; i++) {
		err = write_set(w, NAME("f"), NAME("p"), i * 1000, NAME("old"));
		if (!err)
			err = write_set(w, NAME("g"), NAME("q"), i * 1000,
					NAME("hidden later"));
		if (!err)
			err = write_add(w, bytes_string(aggregates[i % 4]),
					NAME("n"), 1000, (int64_t)i);
	}
	if (!err)
		err = write_set(w, NAME("f"), NAME("l"), from * 1000,
				large_value(text));
	return err ? err
		   : write_set(w, NAME("f"), NAME("count"), from * 1000,
			       NAME("\0\0\0\0\0\0\0\x01"));
}

int operations_prepare(struct store *s)
{
	const struct family_spec families[] = {
		{ .name = NAME("f") },
		{ .name = NAME("g") },
		{ .name = NAME("doomed") },
		{ .name = NAME("sum"), .type = FAMILY_INTSUM },
		{ .name = NAME("min"), .type = FAMILY_INTMIN },
		{ .name = NAME("max"), .type = FAMILY_INTMAX },
		{ .name = NAME("hll"), .type = FAMILY_INTHLL },
	};
	struct write *w;
	uint64_t from;
	int err = write_new(s, &w);

	if (err)
		return err;
	err = store_create_table(s, NAME("t"), false, families, 7);
	if (!err)
		err = store_create_table(s, NAME("u"), false, families, 1);
	if (!err)
		err = store_set_attribute(s, NAME("t"), NAME("old"), NAME("1"));
	if (!err)
		err = store_set_attribute(s, BYTES_NONE, NAME("old"),
					  NAME("1"));
	if (!err)
		err = set_policy(s, "maxversions=2");
	/* The first half is in files then, the second in the log. */
	for (from = 1; !err && from < 4; from += 2) {
		err = prepare_row(w, "a", from);
		if (!err)
			err = prepare_row(w, "b", from);
		if (!err)
			err = prepare_row(w, "c", from);
		if (!err)
			err = write_row(w, NAME("u"), NAME("a"));
		if (!err)
			err = write_set(w, NAME("f"), NAME("p"), from,
					NAME("old"));
		if (!err)
			err = store_commit(s, w, true);
		if (!err && from == 1)
			err = engine_flush(store_engine(s));
	}
	write_free(w);
	return err;
}

static int run_update(void *context, struct write *w)
{
	const struct operation *o = context;
	int err = write_row(w, NAME("t"), NAME("a"));

	return err ? err : o->update(w);
}

static int run_wrong_update(void *context, struct write *w)
{
	int err = run_update(context, w);

	return err ? err : -ECANCELED;
}

int operation_run(const struct operation *o, struct store *s)
{
	struct write *w;
	int err;

	if (o->call)
		return o->call(s);
	if (o->update)
		return store_update(s, run_update, (void *)o, true);
	err = write_new(s, &w);
	if (err)
		return err;
	err = write_row(w, NAME("t"), NAME("a"));
	if (!err)
		err = o->add(w);
	if (!err)
		err = store_commit(s, w, true);
	write_free(w);
	return err;
}

int operation_run_wrong(const struct operation *o, struct store *s)
{
	struct write *w;
	int err;

	if (o->update)
		return store_update(s, run_wrong_update, (void *)o, true);
	err = write_new(s, &w);
	if (err)
		return err;
	err = write_row(w, NAME("t"), NAME("a"));
	if (!err)
		err = write_set(w, NAME("g"), NAME("first"), 1, NAME("x"));
	if (!err)
		err = o->add(w);
	if (!err)
		err = write_row(w, NAME("t"), NAME("c"));
	if (!err)
		err = write_set(w, NAME("doomed"), NAME("q"), 1, NAME("x"));
	/* What was right when it was collected is wrong at the commit. */
	if (!err)
		err = store_drop_family(s, NAME("t"), NAME("doomed"));
	if (!err)
		err = store_commit(s, w, true);
	write_free(w);
	return err;
}

static int dump_cells(struct store *s, struct bytes table, struct buf *out)
{
	struct scan_range range = { .table = table };
	struct scan *scan;
	struct cell cell;
	int err = scan_open(s, NULL, &range, &scan);

	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		err = buf_printf(out, "  %.*s/%.*s:%.*s @%llu ",
				 (int)cell.row.size, cell.row.data,
				 (int)cell.family.size, cell.family.data,
				 (int)cell.qualifier.size, cell.qualifier.data,
				 (unsigned long long)cell.timestamp_us);
		if (!err)
			err = quote_go(cell.value, out);
		if (!err)
			err = buf_add_byte(out, '\n');
		if (err)
			break;
	}
	scan_close(scan);
	return err;
}

static int dump_attributes(const struct attributes *a, struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < a->count; i++)
		err = buf_printf(
			out, " attribute %.*s=%.*s\n",
			(int)a->items[i].name.size, a->items[i].name.data,
			(int)a->items[i].value.size, a->items[i].value.data);
	return err;
}

static int dump_table(struct store *s, const struct table *t, struct buf *out)
{
	size_t i;
	int err = buf_printf(out, "table %.*s millis %d access %u %u %u\n",
			     (int)t->name.size, t->name.data, t->millis,
			     t->access.mode, t->access.uid, t->access.gid);

	if (!err)
		err = dump_attributes(&t->attributes, out);
	for (i = 0; !err && i < t->family_count; i++) {
		const struct family *f = &t->families[i];

		err = buf_printf(out, " family %.*s type %d ",
				 (int)f->name.size, f->name.data, f->type);
		if (!err)
			err = gc_policy_print_words(family_gc(f), out);
		if (!err)
			err = buf_add_byte(out, '\n');
	}
	return err ? err : dump_cells(s, t->name, out);
}

int operations_dump(struct store *s, struct buf *out)
{
	struct schema *schema = store_schema(s);
	size_t i;
	int err = dump_attributes(&schema->attributes, out);

	for (i = 0; !err && i < schema->table_count; i++)
		err = dump_table(s, &schema->tables[i], out);
	schema_put(schema);
	return err;
}
