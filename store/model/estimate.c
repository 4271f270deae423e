#include "store/engine/estimate/estimate.h"
#include "store/model/model.h"

/* What is told of a range of rows without reading it: the engine's answers, in
 * the terms of the store. */

/* Turns a range of a table's rows into one of encoded keys, in from and to,
 * which are the caller's to release also on failure. */
static int encode(struct store *s, struct bytes table, struct bytes start,
		  struct bytes end, struct buf *from, struct buf *to)
{
	struct schema *schema = store_schema(s);
	const struct table *t = schema_table(schema, table);
	uint32_t id = t ? t->id : 0;

	schema_put(schema);
	if (id == 0)
		return fail(ERR_no_table, "table \"%s\" not found",
			    err_name(table));
	return key_row_range(id, start, end, from, to);
}

/* Whether no row but start lies in a range. */
static bool is_one_row(struct bytes start, struct bytes end)
{
	return end.size == start.size + 1 && end.data[start.size] == 0 &&
	       bytes_starts_with(end, start);
}

/* The table is looked up by name; if it is dropped after that, the answer is
 * that of its id. */
int store_estimate_rows(struct store *s, struct bytes table, struct bytes start,
			struct bytes end, uint64_t *rows)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int err = encode(s, table, start, end, &from, &to);

	if (err == 0)
		err = engine_estimate_rows(s->engine, buf_bytes(&from),
					   buf_bytes(&to), rows);
	if (err == 0 && *rows > 1 && is_one_row(start, end))
		*rows = 1;
	buf_release(&from);
	buf_release(&to);
	return err;
}

/* What give_sample passes on to, in the terms of the store. */
struct sampling {
	int (*each)(void *context, struct bytes row, uint64_t size);
	void *context;
	struct buf scratch; /* a row that was escaped */
};

/* Gives the row of a prefix, unescaped; the empty prefix is that of the end. */
static int give_sample(void *context, struct bytes prefix, uint64_t size)
{
	struct sampling *g = context;
	struct bytes row = BYTES_NONE;
	size_t end;
	int err = 0;

	if (prefix.size > 0)
		err = key_part(prefix, KEY_TABLE_SIZE, &g->scratch, &row, &end);
	return err < 0 ? err : g->each(g->context, row, size);
}

/* The last call, with an empty row, comes from the engine as an empty prefix.
 */
int store_sample_rows(struct store *s, struct bytes table, struct bytes start,
		      struct bytes end,
		      int (*each)(void *context, struct bytes row,
				  uint64_t size),
		      void *context)
{
	struct sampling g = { each, context, BUF_INIT };
	struct buf from = BUF_INIT, to = BUF_INIT;
	int err = encode(s, table, start, end, &from, &to);

	if (err == 0)
		err = engine_sample_rows(s->engine, buf_bytes(&from),
					 buf_bytes(&to), give_sample, &g);
	buf_release(&from);
	buf_release(&to);
	buf_release(&g.scratch);
	return err;
}
