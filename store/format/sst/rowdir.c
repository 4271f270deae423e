#include <assert.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/format/sst/rowdir.h"
#include "store/format/sst/sst_format.h"

enum {
	BLOCK_SIZE = 16 << 10, /* before compression */
	RESTART_INTERVAL = 16, /* of entries that are short and alike */
};

/* A row that has deletes alone is one byte. */
int row_summary_encode(const struct row_summary *s, struct buf *out)
{
	int err = buf_add_byte(out, s->flags);

	if (err < 0 || !(s->flags & ROW_HAS_PUT))
		return err;
	err = buf_add_varint(out, s->seq);
	if (!err)
		err = buf_add_varint(out, s->timestamp);
	return err < 0 ? err : buf_add_bytes(out, s->family);
}

/* All of value is the summary: behind the numbers, what is left is the family.
 */
int row_summary_decode(struct bytes value, struct row_summary *s)
{
	struct bytes flags;

	if (!take_bytes(&value, 1, &flags) ||
	    flags.data[0] > (ROW_HAS_DELETE | ROW_HAS_PUT))
		return fail(ERR_block_malformed, "bad row summary");
	s->flags = flags.data[0];
	if ((s->flags & ROW_HAS_PUT) && (!take_varint(&value, &s->seq) ||
					 !take_varint(&value, &s->timestamp)))
		return fail(ERR_block_malformed, "row summary is cut off");
	if (!(s->flags & ROW_HAS_PUT) && value.size > 0)
		return fail(ERR_block_malformed, "row summary goes on");
	s->family = value;
	return 0;
}

void row_tally_release(struct row_tally *t)
{
	buf_release(&t->row);
	buf_release(&t->family);
}

/* The family's memory is kept for the next row. */
int row_tally_begin(struct row_tally *t, struct bytes row)
{
	t->summary = (struct row_summary){ 0 };
	return buf_set(&t->row, row);
}

/* Keys of a row come by family and column, so that of puts with equal
 * timestamps the first one stays. The family is copied only when a put is
 * newer; key ends it with a terminator of two bytes, which is left out. */
int row_tally_add(struct row_tally *t, struct bytes key,
		  const struct key_parts *parts)
{
	struct row_summary *s = &t->summary;
	uint64_t timestamp = key_timestamp(key);
	int err;

	if (!key_kind_is_put(key_kind(key))) {
		s->flags |= ROW_HAS_DELETE;
		return 0;
	}
	if ((s->flags & ROW_HAS_PUT) && timestamp <= s->timestamp)
		return 0;
	err = buf_set(&t->family,
		      bytes_of(key.data + parts->row_end,
			       parts->family_end - parts->row_end - 2));
	s->family = buf_bytes(&t->family);
	s->flags |= ROW_HAS_PUT;
	s->seq = key_seq(key);
	s->timestamp = timestamp;
	return err;
}

void row_directory_init(struct row_directory *d)
{
	*d = (struct row_directory){ .data.restart_interval = RESTART_INTERVAL,
				     .index.restart_interval = 1 };
}

void row_directory_release(struct row_directory *d)
{
	row_tally_release(&d->tally);
	block_builder_release(&d->data);
	block_builder_release(&d->index);
	buf_release(&d->stored);
	buf_release(&d->value);
	buf_release(&d->last);
	buf_release(&d->block);
}

/* Frees its memory at once: the builder may go on for long. */
void row_directory_drop(struct row_directory *d)
{
	row_directory_release(d);
	row_directory_init(d);
	d->dropped = true;
}

/* Ends the data block under way. Its index key is its last row prefix itself:
 * rows are looked up, so a shorter key between two rows would save little. */
static int end_block(struct row_directory *d)
{
	uint8_t value[SST_INDEX_VALUE_MAX];
	struct sst_index_entry entry = { { d->stored.size, 0 }, 0, 0 };
	struct bytes block;
	size_t size;
	int err = block_builder_finish(&d->data, &block);

	if (!err)
		err = block_store(block, true, &d->block);
	if (!err)
		err = buf_add_bytes(&d->stored, buf_bytes(&d->block));
	if (err < 0)
		return err;
	entry.block.size = d->block.size;
	size = (size_t)(sst_index_encode(&entry, value) - value);
	block_builder_reset(&d->data);
	return block_builder_add(&d->index, buf_bytes(&d->last), 0, false,
				 bytes_of(value, size));
}

/* Adds the row under way, if there is one, as an entry. The row before it is
 * last, whether or not it is in the same block; the builder leaves out what is
 * shared only where it may. */
static int end_row(struct row_directory *d)
{
	struct bytes row = buf_bytes(&d->tally.row);
	size_t shared = bytes_shared(row, buf_bytes(&d->last));
	int err = 0;

	if (row.size == 0)
		return 0;
	buf_reset(&d->value);
	err = row_summary_encode(&d->tally.summary, &d->value);
	if (!err && d->data.entry_count > 0 &&
	    block_builder_size(&d->data) + row.size - shared + d->value.size >
		    BLOCK_SIZE)
		err = end_block(d);
	if (!err)
		err = block_builder_add(&d->data, row, shared, false,
					buf_bytes(&d->value));
	return err < 0 ? err : buf_set(&d->last, row);
}

/* A row becomes an entry when the next one begins, since only then all of it
 * was summed up. */
int row_directory_add(struct row_directory *d, struct bytes key,
		      const struct key_parts *parts, bool is_new)
{
	int err = 0;

	if (d->dropped)
		return 0;
	if (is_new) {
		err = end_row(d);
		if (!err)
			err = row_tally_begin(
				&d->tally, bytes_of(key.data, parts->row_end));
	}
	return err < 0 ? err : row_tally_add(&d->tally, key, parts);
}

/* The index is stored behind the blocks in the same buffer, so that the
 * directory is written by one append. */
int row_directory_finish(struct row_directory *d, uint32_t *index_size)
{
	struct bytes index;
	int err;

	assert(!d->dropped);
	err = end_row(d);
	if (!err && d->data.entry_count > 0)
		err = end_block(d);
	if (!err)
		err = block_builder_finish(&d->index, &index);
	if (!err)
		err = block_store(index, true, &d->block);
	if (!err)
		err = buf_add_bytes(&d->stored, buf_bytes(&d->block));
	*index_size = (uint32_t)d->block.size;
	return err;
}
