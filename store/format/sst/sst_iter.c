#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/watch/cost.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_iter.h"

/*
 * The index entry that the index iterator is at always names the block that
 * the data iterator is in; index and data block stay referenced, so that keys
 * and values may point into them.
 */

/* Shows the key with the sequence that the whole file has. The data iterator
 * goes on from the changed key, which is right because no two keys of such a
 * file are of one version: what an entry shares with the one before ends before
 * the trailer. Keys come from disk, so their size is checked here. */
static int set_seq(struct sst_iter *si)
{
	struct bytes key = si->data.key;

	if (key.size < KEY_TRAILER_SIZE || key.size > KEY_SIZE_MAX)
		return fail(ERR_block_malformed, "key of %zu bytes", key.size);
	if (key.data != si->data.buffer)
		memcpy(si->data.buffer, key.data, key.size);
	put_u64be(si->data.buffer + key.size - KEY_TRAILER_SIZE,
		  ~(si->sst->seq << 8 | (uint64_t)key_kind(key)));
	si->data.key = bytes_of(si->data.buffer, key.size);
	return 1;
}

/* Ends every step with what the data iterator said: shows its entry, or an
 * error with the block's offset. Only an entry makes the iterator valid. Keys
 * of the row directory have no trailer, so a file's own sequence is not put
 * there. */
static int show(struct sst_iter *si, int result)
{
	if (result > 0 && si->sst->seq && !si->rows)
		result = set_seq(si);
	si->valid = result > 0;
	if (result < 0)
		return sst_fail(si->sst, si->data_offset, result);
	si->iter.key = si->data.key;
	si->iter.value = si->data.value;
	return result;
}

/* Ends a step with an error of the index, whose offset in the file is named. */
static int fail_index(struct sst_iter *si, int err)
{
	si->valid = false;
	return sst_fail(
		si->sst,
		si->rows ? sst_footer_row_index(&si->sst->footer).offset
			 : sst_footer_part(&si->sst->footer, SST_INDEX).offset,
		err);
}

/* Loads the block of the present index entry, unless it is there already: then
 * the data iterator stays where it is. Gives the old block back first, so that
 * an iterator never pins two. */
static int load_block(struct sst_iter *si)
{
	struct sst_handle block;
	int err = sst_index_block(si->index.value, &block);

	if (err < 0)
		return fail_index(si, err);
	block.offset += si->base;
	if (si->data_block) {
		if (si->data_offset == block.offset)
			return 0;
		cache_put(si->sst->cache, si->data_block);
		si->data_block = NULL;
	}
	err = sst_read_block(si->sst, block, si->how, &si->data_block);
	if (err < 0)
		return err;
	si->data_offset = block.offset;
	err = block_iter_init(&si->data, si->data_block->bytes,
			      si->data_block->side, si->data.buffer);
	return err < 0 ? show(si, err) : 0;
}

/* Whether nothing in the block of the present index entry is wanted, by the
 * times in the entry. A malformed entry is not old: what reads its block next
 * tells. */
static bool is_old(const struct sst_iter *si)
{
	struct sst_index_entry entry;

	return si->since_us > 0 &&
	       sst_index_decode(si->index.value, &entry) == 0 &&
	       entry.max_timestamp < si->since_us;
}

/* The first entry of the blocks after the present one. A block without entries
 * is stepped over, though no builder writes one; one that is old is not read at
 * all. */
static int next_block(struct sst_iter *si)
{
	int result;

	do {
		result = block_iter_next(&si->index);
		if (result == 0)
			return show(si, 0);
		if (result < 0)
			return fail_index(si, result);
		result = 0;
		if (is_old(si))
			continue;
		result = load_block(si);
		if (result < 0)
			return result;
		result = block_iter_first(&si->data);
	} while (result == 0);
	return show(si, result);
}

/* The first entry >= key of the present index entry's block or later ones.
 * Index keys may lie behind a block's last key, so the block that the index
 * names may have no such entry; then the next one's first is it. */
static int seek_block(struct sst_iter *si, struct bytes key)
{
	int result;

	if (is_old(si))
		return next_block(si);
	result = load_block(si);
	if (result < 0)
		return result;
	result = block_iter_seek(&si->data, key);
	return result == 0 ? next_block(si) : show(si, result);
}

/* Short steps forward are frequent: from an entry to a key that the present
 * block's index key does not precede, the index need not be asked. */
static int sst_seek(struct iter *it, struct bytes key)
{
	struct sst_iter *si = (struct sst_iter *)it;
	int result;

	if (si->valid && bytes_compare(it->key, key) <= 0 &&
	    bytes_compare(key, si->index.key) <= 0)
		return seek_block(si, key);
	result = block_iter_seek(&si->index, key);
	if (result < 0)
		return fail_index(si, result);
	if (result == 0)
		return show(si, 0);
	return seek_block(si, key);
}

/* Nothing but an entry is stepped from, so the data iterator is in a block. */
static int sst_next(struct iter *it)
{
	struct sst_iter *si = (struct sst_iter *)it;
	int result;

	assert(si->valid);
	result = block_iter_next(&si->data);
	return result == 0 ? next_block(si) : show(si, result);
}

/* By same-row flags to the next row, then by the next index entry if the row
 * fills the block, then by search. Most rows are small: the first way ends
 * within the block, without rebuilding a key. key may lie beyond the next row,
 * hence the comparison. */
static int sst_skip(struct iter *it, struct bytes key)
{
	struct sst_iter *si = (struct sst_iter *)it;
	int result = block_iter_next_row(&si->data);

	if (result != 0) {
		result = show(si, result);
		if (result < 0 || bytes_compare(it->key, key) >= 0)
			return result;
		return sst_seek(it, key);
	}
	si->valid = false;
	result = block_iter_next(&si->index);
	if (result < 0)
		return fail_index(si, result);
	if (result == 0)
		return show(si, 0);
	if (bytes_compare(si->index.key, key) >= 0)
		return seek_block(si, key);
	return sst_seek(it, key);
}

/* The block whose index key is the first >= key is the only one that can hold
 * entries on both sides of key; if all of its entries are >= key, the last
 * entry of the block before is the answer. Old blocks are not left out here.
 * The iterator is not valid afterwards, because the index may be one entry
 * back. */
static int sst_before(struct iter *it, struct bytes key)
{
	struct sst_iter *si = (struct sst_iter *)it;
	int result = block_iter_seek(&si->index, key);

	if (result < 0)
		return fail_index(si, result);
	if (result > 0) {
		result = load_block(si);
		if (result < 0)
			return result;
		result = block_iter_before(&si->data, key);
	}
	if (result == 0) {
		/* All of the block before is before key. */
		result = block_iter_before(&si->index, key);
		if (result < 0)
			return fail_index(si, result);
		if (result > 0) {
			result = load_block(si);
			if (result < 0)
				return result;
			result = block_iter_last(&si->data);
		}
	}
	result = show(si, result);
	si->valid = false;
	return result;
}

/* After this the iterator's keys and values are gone, too. */
void sst_iter_release(struct sst_iter *si)
{
	if (si->data_block)
		cache_put(si->sst->cache, si->data_block);
	sst_put_part(si->sst, si->rows ? SST_ROW_DIRECTORY : SST_INDEX,
		     si->index_block);
}

/* Blocks are left out from the next step on; the one the iterator is in stays.
 */
static void sst_since(struct iter *it, uint64_t timestamp_us)
{
	((struct sst_iter *)it)->since_us = timestamp_us;
}

static void sst_iter_close(struct iter *it)
{
	sst_iter_release((struct sst_iter *)it);
	free(it);
}

static const struct iter_ops sst_iter_ops = {
	.seek = sst_seek,
	.next = sst_next,
	.skip = sst_skip,
	.before = sst_before,
	.since = sst_since,
	.close = sst_iter_close,
};

/* Indexes are worth their place in the cache even when data blocks are read but
 * once, so of how only SST_READ_VOLUME is passed on. */
int sst_iter_start(struct sst_iter *si, struct sst *t, bool rows,
		   enum sst_read how, uint8_t *buffer)
{
	int err;

	assert(!rows || sst_has_rows(t));
	memset(si, 0, sizeof(*si));
	si->iter.ops = &sst_iter_ops;
	si->sst = t;
	si->how = how;
	si->rows = rows;
	if (rows)
		si->base =
			sst_footer_part(&t->footer, SST_ROW_DIRECTORY).offset;
	si->data.buffer = buffer;
	err = sst_get_part(t, rows ? SST_ROW_DIRECTORY : SST_INDEX,
			   how == SST_READ_VOLUME ? how : SST_READ_FILL,
			   &si->index_block);
	if (err < 0)
		return err;
	err = block_iter_init(&si->index, si->index_block->bytes,
			      si->index_block->side, NULL);
	if (err < 0) {
		err = fail_index(si, err);
		sst_iter_release(si);
	}
	return err;
}

int sst_iter_init(struct sst_iter *si, struct sst *t, uint8_t *buffer)
{
	return sst_iter_start(si, t, false, SST_READ_FILL, buffer);
}

/* One allocation for the iterator and the buffer behind it, which is 40 KiB: a
 * scan opens one of each file. */
static int iter_new(struct sst *t, bool rows, enum sst_read how,
		    struct iter **out)
{
	struct sst_iter *si = malloc(sizeof(*si) + KEY_SIZE_MAX);
	int err;

	thread_cost.files++;
	*out = NULL;
	if (!si)
		return -ENOMEM;
	err = sst_iter_start(si, t, rows, how, (uint8_t *)(si + 1));
	if (err < 0) {
		free(si);
		return err;
	}
	*out = &si->iter;
	return 0;
}

int sst_iter_new(struct sst *t, bool fill_cache, struct iter **out)
{
	return iter_new(t, false, fill_cache ? SST_READ_FILL : SST_READ_NOFILL,
			out);
}

int sst_rows_new(struct sst *t, struct iter **out)
{
	return iter_new(t, true, SST_READ_FILL, out);
}

/* Where in the data blocks the first key >= key lies, to a block. */
static int offset_of(struct sst *t, struct block_iter *index, struct bytes key,
		     uint64_t *offset)
{
	struct sst_index_entry entry;
	int err = block_iter_seek(index, key);

	*offset = t->footer.data_size;
	if (err == 1) {
		err = sst_index_decode(index->value, &entry);
		*offset = entry.block.offset;
	}
	return err;
}

/* A range that covers the whole file is told without a look at the index. Of a
 * file without data from and to are both 0. */
/* An index has a restart for each entry, and an entry for each block. */
int sst_block_count(struct sst *t, uint64_t *count)
{
	struct sst_iter it;
	int err = sst_iter_init(&it, t, NULL);

	*count = 0;
	if (err < 0)
		return err;
	*count = it.index.restart_count;
	sst_iter_release(&it);
	return 0;
}

int sst_estimate_share(struct sst *t, struct bytes start, struct bytes end,
		       double *share)
{
	const struct sst_properties *p = &t->properties;
	uint64_t from = 0, to = t->footer.data_size;
	struct sst_iter it;
	int err;

	*share = 1;
	if (bytes_compare(start, p->smallest) <= 0 &&
	    (end.size == 0 || bytes_compare(p->largest, end) < 0 ||
	     (p->largest_exclusive && bytes_equal(p->largest, end))))
		return 0;
	err = sst_iter_init(&it, t, NULL);
	if (err < 0)
		return err;
	err = offset_of(t, &it.index, start, &from);
	if (err == 0 && end.size > 0)
		err = offset_of(t, &it.index, end, &to);
	sst_iter_release(&it);
	if (err < 0)
		return sst_fail(t, 0, err);
	*share = to > from ? (double)(to - from) / (double)t->footer.data_size
			   : 0;
	return 0;
}
