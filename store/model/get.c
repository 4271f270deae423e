#include "store/engine/large/large.h"
#include "store/engine/read/get.h"
#include "store/model/model.h"
#include "store/model/sample/sample.h"

/* Reads of one column, and whether there is anything. */

/* A large value is appended like another, and the cell says so. */
int store_get(struct store *s, const struct snapshot *snapshot,
	      struct bytes table, struct bytes row, struct bytes family,
	      struct bytes qualifier, struct cell *cell, struct buf *memory)
{
	struct large *large;
	size_t start;
	int err, result = store_get_large(s, snapshot, table, row, family,
					  qualifier, cell, memory, &large);

	if (!large)
		return result;
	start = memory->size;
	err = large_load(large, memory);
	large_put(large);
	cell->value = bytes_after(buf_bytes(memory), start);
	cell->blob = BYTES_NONE;
	return err < 0 ? err : result;
}

/* What is too long to be there is not there; then the key has room on the
 * stack, and a lookup allocates nothing but the value. */
int store_get_large(struct store *s, const struct snapshot *snapshot,
		    struct bytes table_name, struct bytes row,
		    struct bytes family, struct bytes qualifier,
		    struct cell *cell, struct buf *memory, struct large **large)
{
	uint32_t id = store_table_id(s, snapshot, table_name);
	struct key_room room;
	struct buf *column = key_room_init(&room);
	int err;

	*large = NULL;
	if (id == 0)
		return fail(ERR_no_table, "table \"%s\" not found",
			    err_name(table_name));
	if (row.size == 0 || row.size > STORE_ROW_KEY_MAX ||
	    family.size > STORE_FAMILY_NAME_MAX ||
	    qualifier.size > STORE_QUALIFIER_MAX)
		return 0;
	buf_reset(memory);
	err = key_add_table(column, id);
	if (err == 0)
		err = key_add_part(column, row);
	if (err == 0)
		err = key_add_part(column, family);
	if (err == 0)
		err = key_add_part(column, qualifier);
	if (err < 0)
		return err;
	err = cursor_get(s->engine, (const struct engine_snapshot *)snapshot,
			 buf_bytes(column), cell, memory, large);
	cell->row = row;
	cell->family = family;
	cell->qualifier = qualifier;
	sample_row(s->sampler.heat, id, row, HEAT_READS,
		   row.size + qualifier.size + memory->size);
	return err;
}

int scan_any(struct store *s, const struct scan_range *range)
{
	struct scan *scan;
	struct cell cell;
	int err = scan_open(s, NULL, range, &scan);

	if (err < 0)
		return err;
	err = scan_next(scan, CURSOR_ROW, &cell);
	scan_close(scan);
	return err;
}

/* As a scan of one row, so that filters of files are asked. The empty key is
 * that of no row, and a scan with it one of all. */
int store_row_exists(struct store *s, struct bytes table, struct bytes row)
{
	struct scan_range range = { .table = table, .row = row };
	int err = scan_any(s, &range);

	return err == 1 && row.size == 0 ? 0 : err;
}
