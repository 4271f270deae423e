#include "store/engine/read/cursor.h"
#include "store/engine/run/write.h"
#include "store/model/bury.h"
#include "store/model/model.h"

/*
 * Deleting what GC rules hide. It is gone for readers already, but compaction
 * may not have dropped it yet, and it would be seen again if another policy
 * judged it, or if newer versions that it ranks behind were deleted. Whether
 * that happens must not depend on compaction.
 */

/* Deletes the column's versions from this one on: a policy hides a column's
 * oldest versions, so everything from the first hidden one on is hidden. */
static int bury_from(const struct cursor *cursor, const struct cell *cell,
		     struct batch *out)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	struct bytes column = cursor_column_prefix(cursor);
	int err;

	err = buf_add_bytes(&start, column);
	if (err == 0)
		err = key_add_timestamp(&start, cell->timestamp_us);
	if (err == 0)
		err = key_successor(column, &end);
	if (err == 0)
		err = batch_delete_range(out, buf_bytes(&start),
					 buf_bytes(&end));
	buf_release(&start);
	buf_release(&end);
	return err;
}

/* A cursor over the hidden cells of what begins with prefix. is_filtered:
 * prefix is one that the filters of files know, so that files without it are
 * not read. */
static int open_hidden(struct store *s, struct bytes prefix, bool is_filtered,
		       struct cursor **out)
{
	struct buf end = BUF_INIT;
	int err = key_successor(prefix, &end);

	*out = NULL;
	if (err == 0)
		err = cursor_open(s->engine, NULL, prefix, buf_bytes(&end),
				  is_filtered ? prefix : BYTES_NONE, out);
	if (err == 0)
		cursor_show_hidden(*out);
	buf_release(&end);
	return err;
}

/* Not synced: what it is made for is, and is in the same log behind it. */
int bury_now(struct store *s, struct batch *batch)
{
	int err = 0;

	if (batch->count > 0)
		err = engine_write(s->engine, batch, false, NULL);
	batch_reset(batch);
	return err;
}

/* Asks for one cell: if the first hidden one is found, all behind it is hidden,
 * too. */
int bury_column(struct store *s, struct bytes column, struct batch *out)
{
	struct cursor *cursor;
	struct cell cell;
	int err;

	err = open_hidden(s, column, true, &cursor);
	if (err < 0)
		return err;
	err = cursor_next(cursor, CURSOR_VERSION, &cell);
	if (err == 1)
		err = bury_from(cursor, &cell, out);
	cursor_close(cursor);
	return err;
}

/* Goes from row to row by families, since keys are by row first; in the family,
 * the first hidden version of each column is all that is looked at. */
int bury_family(struct store *s, uint32_t table, struct bytes family)
{
	struct batch batch = BATCH_INIT;
	struct buf prefix = BUF_INIT;
	struct cursor *cursor = NULL;
	enum cursor_step step = CURSOR_VERSION;
	struct cell cell;
	int err;

	err = key_add_table(&prefix, table);
	if (err == 0)
		err = open_hidden(s, buf_bytes(&prefix), false, &cursor);
	while (err == 0) {
		err = cursor_next(cursor, step, &cell);
		if (err <= 0)
			break;
		err = 0;
		step = CURSOR_FAMILY;
		if (bytes_equal(cell.family, family)) {
			step = CURSOR_COLUMN;
			err = bury_from(cursor, &cell, &batch);
		}
		if (err == 0 && batch.count == BURIED_AT_ONCE)
			err = bury_now(s, &batch);
	}
	if (err == 0)
		err = bury_now(s, &batch);
	cursor_close(cursor);
	batch_release(&batch);
	buf_release(&prefix);
	return err;
}
