#include "store/engine/read/cursor.h"
#include "store/model/empty.h"
#include "store/scan.h"

int empty_table(struct store *s, struct bytes table)
{
	struct scan_range range = { .table = table };
	struct scan *scan;
	struct cell cell;
	int err;

	err = scan_open(s, NULL, &range, &scan);
	if (err < 0)
		return err;
	err = scan_next(scan, CURSOR_ROW, &cell);
	scan_close(scan);
	if (err == 1)
		return fail(ERR_table_not_empty, "table \"%.*s\" has rows",
			    (int)table.size, (const char *)table.data);
	return err;
}

/* A cursor over all of the table, to be closed in every case. */
static int open_cursor(struct store *s, uint32_t table, struct cursor **out)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	int err = key_add_table(&start, table);

	*out = NULL;
	if (err == 0)
		err = key_successor(buf_bytes(&start), &end);
	if (err == 0)
		err = cursor_open(s->engine, NULL, buf_bytes(&start),
				  buf_bytes(&end), BYTES_NONE, out);
	buf_release(&start);
	buf_release(&end);
	return err;
}

/* Goes from row to row by families, since keys are by row first. */
int empty_family(struct store *s, uint32_t table, struct bytes family)
{
	struct cursor *cursor;
	enum cursor_step step = CURSOR_VERSION;
	struct cell cell;
	int err = open_cursor(s, table, &cursor);

	while (err == 0 && (err = cursor_next(cursor, step, &cell)) == 1) {
		bool in_family = bytes_equal(cell.family, family);

		err = in_family && !cursor_is_part(cursor)
			      ? fail(ERR_family_not_empty,
				     "family \"%.*s\" has cells: only one "
				     "without any becomes one of aggregates",
				     (int)family.size,
				     (const char *)family.data)
			      : 0;
		step = in_family ? CURSOR_VERSION : CURSOR_FAMILY;
	}
	cursor_close(cursor);
	return err;
}

int empty_of_micros(struct store *s, uint32_t table)
{
	struct cursor *cursor;
	struct cell cell;
	int err = open_cursor(s, table, &cursor);

	while (err == 0 &&
	       (err = cursor_next(cursor, CURSOR_VERSION, &cell)) == 1)
		err = cell.timestamp_us % 1000
			      ? fail(ERR_bad_timestamp,
				     "a cell has the timestamp %llu, which is "
				     "no whole millisecond: granularity is for "
				     "tables without such",
				     (unsigned long long)cell.timestamp_us)
			      : 0;
	cursor_close(cursor);
	return err;
}
