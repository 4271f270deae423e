#include "store/base/hash.h"
#include "store/model/recent/removed.h"

static _Atomic uint32_t *row_slot(struct removed *r, uint32_t table,
				  struct bytes row)
{
	return &r->rows[(hash64(row) + table) % REMOVED_ROWS];
}

void removed_note_table(struct removed *r, uint32_t table)
{
	atomic_fetch_add(&r->tables[table % REMOVED_TABLES], 1);
}

/* Whether a record that removes is of the row alone whose prefix its key begins
 * with, of row_end bytes, or 0: a range ends at its successor at the latest,
 * which ends with 2. */
static bool is_of_one_row(const struct batch_record *record, size_t row_end)
{
	struct bytes end = record->value;

	if (row_end == 0 || record->kind != BATCH_RANGE)
		return row_end > 0;
	return end.size >= row_end && end.data[row_end - 1] <= 2 &&
	       memcmp(end.data, record->key.data, row_end - 1) == 0;
}

/* Without memory for a row's name it is as if all rows lost something. */
static void note(struct removed *r, const struct batch_record *record,
		 struct buf *scratch)
{
	uint32_t table = key_table(record->key);
	struct bytes row;
	size_t end;

	if (is_of_one_row(record, key_row_end(record->key)) &&
	    key_part(record->key, KEY_TABLE_SIZE, scratch, &row, &end) == 0)
		atomic_fetch_add(row_slot(r, table, row), 1);
	else
		removed_note_table(r, table);
}

void removed_note(struct removed *r, const struct batch *batch)
{
	struct buf scratch = BUF_INIT;
	struct batch_record record;
	size_t position = 0;

	while (atomic_load_explicit(&r->wanted, memory_order_relaxed) &&
	       batch_next(batch, &position, &record))
		if (record.kind == BATCH_RANGE || record.kind == KEY_DELETE)
			note(r, &record, &scratch);
	buf_release(&scratch);
}

uint32_t removed_get(struct removed *r, uint32_t table, struct bytes row)
{
	if (!atomic_load(&r->wanted))
		atomic_store(&r->wanted, true);
	return atomic_load(row_slot(r, table, row)) +
	       atomic_load(&r->tables[table % REMOVED_TABLES]);
}
