#include <stdlib.h>

#include "store/base/coding.h"
#include "store/model/model.h"

/* Reads: a range in user's terms becomes a range of encoded keys. */
struct scan {
	struct cursor *cursor;
	struct buf start, end; /* encoded; end is never empty */
	struct buf row;        /* of a reverse scan: the present row's prefix */
	bool reverse;
	bool in_row; /* row is set */
};

/* Builds the encoded bounds; *prefix is the size of the leading part of start
 * that filters know, or 0. */
static int encode_range(const struct scan_range *r, uint32_t table,
			struct scan *scan, size_t *prefix)
{
	struct buf *start = &scan->start, *end = &scan->end;
	int err;

	*prefix = 0;
	err = key_add_table(start, table);
	if (err < 0)
		return err;
	if (r->row.size > 0) {
		err = key_add_part(start, r->row);
		if (err == 0 && r->has_family)
			err = key_add_part(start, r->family);
		if (err == 0 && r->has_family && r->has_qualifier)
			err = key_add_part(start, r->qualifier);
		*prefix = start->size;
		return err < 0 ? err : key_successor(buf_bytes(start), end);
	}
	if (r->end.size > 0) {
		err = key_add_table(end, table);
		if (err == 0)
			err = key_add_part(end, r->end);
	} else {
		err = key_successor(buf_bytes(start), end);
	}
	if (err == 0 && r->start.size > 0)
		err = key_add_part(start, r->start);
	return err;
}

static int no_table(struct bytes name)
{
	return fail(ERR_no_table, "table \"%.*s\" not found", (int)name.size,
		    (const char *)name.data);
}

int scan_open(struct store *s, const struct snapshot *snapshot,
	      const struct scan_range *range, struct scan **out)
{
	struct schema *schema = store_schema(s);
	const struct table *table = schema_table(schema, range->table);
	struct scan *scan;
	size_t prefix;
	int err;

	*out = NULL;
	if (!table) {
		schema_put(schema);
		return no_table(range->table);
	}
	scan = calloc(1, sizeof(*scan));
	if (!scan) {
		schema_put(schema);
		return -ENOMEM;
	}
	scan->reverse = range->reverse;
	err = encode_range(range, table->id, scan, &prefix);
	schema_put(schema);
	if (err == 0)
		err = cursor_open(
			s->engine, (const struct engine_snapshot *)snapshot,
			buf_bytes(&scan->start), buf_bytes(&scan->end),
			bytes_of(scan->start.data, prefix), &scan->cursor);
	if (err < 0) {
		scan_close(scan);
		return err;
	}
	*out = scan;
	return 0;
}

void scan_close(struct scan *scan)
{
	if (!scan)
		return;
	cursor_close(scan->cursor);
	buf_release(&scan->start);
	buf_release(&scan->end);
	buf_release(&scan->row);
	free(scan);
}

static int enter_row_before(struct scan *scan, struct bytes key,
			    struct cell *cell)
{
	int err = cursor_row_before(scan->cursor, key, cell);

	scan->in_row = err == 1;
	if (err == 1 &&
	    buf_set(&scan->row, cursor_row_prefix(scan->cursor)) < 0)
		return -ENOMEM;
	return err;
}

int scan_next(struct scan *scan, enum cursor_step step, struct cell *cell)
{
	int err;

	if (!scan->reverse)
		return cursor_next(scan->cursor, step, cell);
	if (!scan->in_row && scan->row.size == 0)
		return enter_row_before(scan, buf_bytes(&scan->end), cell);
	if (step == CURSOR_ROW)
		return enter_row_before(scan, buf_bytes(&scan->row), cell);
	if (!scan->in_row)
		return 0;
	err = cursor_next(scan->cursor, step, cell);
	if (err == 1 &&
	    bytes_equal(cursor_row_prefix(scan->cursor), buf_bytes(&scan->row)))
		return 1;
	scan->in_row = false;
	return err < 0 ? err : 0;
}

int scan_seek(struct scan *scan, struct bytes row, struct cell *cell)
{
	struct buf key = BUF_INIT, past = BUF_INIT;
	int err;

	err = buf_add(&key, scan->start.data, KEY_TABLE_SIZE);
	if (err == 0)
		err = key_add_part(&key, row);
	if (err == 0 && scan->reverse)
		err = key_successor(buf_bytes(&key), &past);
	if (err == 0)
		err = scan->reverse
			      ? enter_row_before(scan, buf_bytes(&past), cell)
			      : cursor_seek(scan->cursor, buf_bytes(&key),
					    cell);
	buf_release(&key);
	buf_release(&past);
	return err;
}

int store_get(struct store *s, const struct snapshot *snapshot,
	      struct bytes table_name, struct bytes row, struct bytes family,
	      struct bytes qualifier, struct cell *cell, struct buf *memory)
{
	const struct bytes parts[] = { row, family, qualifier };
	struct bytes *const places[] = { &cell->row, &cell->family,
					 &cell->qualifier };
	struct schema *schema = store_schema(s);
	const struct table *table = schema_table(schema, table_name);
	uint32_t id = table ? table->id : 0;
	size_t i, offset = 0;
	struct key_room room;
	struct buf *column = key_room_init(&room);
	int err;

	schema_put(schema);
	if (!table)
		return no_table(table_name);
	if (row.size == 0 || row.size > STORE_ROW_KEY_MAX ||
	    family.size > STORE_FAMILY_NAME_MAX ||
	    qualifier.size > STORE_QUALIFIER_MAX)
		return 0;
	buf_reset(memory);
	err = key_add_table(column, id);
	for (i = 0; i < 3 && err == 0; i++) {
		err = key_add_part(column, parts[i]);
		if (err == 0)
			err = buf_add_bytes(memory, parts[i]);
	}
	if (err < 0)
		return err;
	err = cursor_get(s->engine, (const struct engine_snapshot *)snapshot,
			 buf_bytes(column), cell, memory);
	for (i = 0; i < 3 && err == 1; i++) {
		*places[i] = bytes_of(memory->data + offset, parts[i].size);
		offset += parts[i].size;
	}
	return err;
}

int store_row_exists(struct store *s, struct bytes table, struct bytes row)
{
	struct scan_range range = { .table = table, .row = row };
	struct scan *scan;
	struct cell cell;
	int err;

	if (row.size == 0)
		return 0;
	err = scan_open(s, NULL, &range, &scan);
	if (err < 0)
		return err;
	err = scan_next(scan, CURSOR_ROW, &cell);
	scan_close(scan);
	return err;
}
