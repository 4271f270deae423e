#include <stdlib.h>

#include "store/base/err.h"
#include "store/format/bloom.h"
#include "store/format/sst/rowdir.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_tombstones.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_verify.h"

/* What the entries say, to be held against what the file says of itself. */
struct verify {
	struct sst *sst;
	struct cache_block *filter;            /* NULL: there is none */
	struct sst_index_entry entry;          /* of the block under way */
	uint64_t min_timestamp, max_timestamp; /* of the block under way */
	struct buf first_key, last_key, separator;
	struct key_parts last;
	struct sst_properties found;
	struct row_tally tally; /* of the row under way */
	struct blob_tally blobs;
	struct buf summary;
	struct sst_iter rows; /* the directory, if there is one */
	uint8_t row_buffer[KEY_SIZE_MAX];
	uint8_t buffer[KEY_SIZE_MAX];
};

/* A finding about the block under way. */
static int complain(const struct verify *v, const char *what)
{
	return fail(ERR_sst_malformed, "%s: block at offset %llu: %s",
		    v->sst->reader->path,
		    (unsigned long long)v->entry.block.offset, what);
}

/* The prefixes of key that reach beyond what it shares with the key before:
 * each must hit. That a filter lets others pass is no error. */
static int verify_filter(struct verify *v, struct bytes key, size_t shared,
			 const struct key_parts *parts)
{
	const size_t ends[] = { parts->row_end, parts->family_end,
				parts->column_end };
	size_t i;

	for (i = 0; i < 3; i++) {
		int result;

		if (ends[i] <= shared || !v->filter)
			continue;
		result = bloom_may_contain(v->filter->bytes,
					   hash64(bytes_of(key.data, ends[i])));
		if (result < 0)
			return sst_fail(
				v->sst,
				sst_footer_part(&v->sst->footer, SST_FILTER)
					.offset,
				result);
		if (result == 0)
			return complain(v, "a key is not in the filter");
	}
	return 0;
}

/* Adds key to what was found, as the builder's count_key does for the file. */
static void count(struct verify *v, struct bytes key)
{
	struct sst_properties *p = &v->found;
	uint64_t timestamp = key_timestamp(key), seq = key_seq(key);

	if (key_kind_is_put(key_kind(key)))
		p->put_count++;
	else
		p->delete_count++;
	if (seq < p->smallest_seq)
		p->smallest_seq = seq;
	if (seq > p->largest_seq)
		p->largest_seq = seq;
	if (timestamp < v->min_timestamp)
		v->min_timestamp = timestamp;
	if (timestamp > v->max_timestamp)
		v->max_timestamp = timestamp;
}

/* A finding about the row directory, where its iterator is. */
static int complain_rows(const struct verify *v, const char *what)
{
	return fail(ERR_sst_malformed, "%s: row directory at offset %llu: %s",
		    v->sst->reader->path,
		    (unsigned long long)v->rows.data_offset, what);
}

/* The row under way has ended: the directory must go on with it. */
static int verify_row(struct verify *v)
{
	struct iter *it = &v->rows.iter;
	int result;

	if (!sst_has_rows(v->sst) || v->tally.row.size == 0)
		return 0;
	result = v->rows.data_block ? iter_next(it) : iter_seek(it, BYTES_NONE);
	if (result < 0)
		return result;
	buf_reset(&v->summary);
	if (row_summary_encode(&v->tally.summary, &v->summary) < 0)
		return -ENOMEM;
	if (result == 0 || !bytes_equal(it->key, buf_bytes(&v->tally.row)))
		return complain_rows(v, "a row is missing");
	if (!bytes_equal(it->value, buf_bytes(&v->summary)))
		return complain_rows(v, "a row's summary is wrong");
	return 0;
}

/* After the last row. Every block was met: they follow one another. */
static int verify_rows_end(struct verify *v)
{
	struct sst_handle part =
		sst_footer_part(&v->sst->footer, SST_ROW_DIRECTORY);
	struct sst_index_entry entry;
	uint64_t size = 0;
	int result = verify_row(v);

	if (result < 0 || !sst_has_rows(v->sst))
		return result;
	result = v->rows.data_block ? iter_next(&v->rows.iter) : 0;
	if (result != 0)
		return result < 0
			       ? result
			       : complain_rows(v, "a row is not in the data");
	result = block_iter_first(&v->rows.index);
	while (result > 0) {
		result = sst_index_decode(v->rows.index.value, &entry);
		if (result < 0)
			break;
		if (entry.block.offset != size)
			return complain_rows(v, "a block is out of place");
		size += entry.block.size;
		result = block_iter_next(&v->rows.index);
	}
	if (result == 0 && size + v->sst->footer.row_index_size != part.size)
		return complain_rows(v, "its blocks do not fill it");
	return result;
}

/* Adds what a large value refers to; whether that is there is for who knows the
 * blob files. */
static int verify_blob(struct verify *v, size_t shared, struct bytes value)
{
	struct blob_list list;
	int err = blob_list_decode(value, &list);

	if (err < 0)
		return err == -ENOMEM ? err : complain(v, err_detail());
	err = blob_tally_add(&v->blobs, &list,
			     shared < v->last.column_end ||
				     v->last.column_end == 0);
	blob_list_release(&list);
	return err;
}

/* One entry against the one before it and the index key of the block before.
 * parts and last_key are taken over at the end, since everything before
 * compares with the old ones. */
static int verify_entry(struct verify *v, const struct block_iter *it)
{
	struct bytes last = buf_bytes(&v->last_key);
	size_t shared = bytes_shared(last, it->key);
	struct key_parts parts;
	bool same_row;
	int err;

	parts = v->last;
	err = key_split_after(it->key, shared, &parts);
	if (err < 0)
		return complain(v, err_detail());
	if (last.size > 0 && bytes_compare(last, it->key) >= 0)
		return complain(v, "keys are not in order");
	if (v->separator.size > 0 &&
	    bytes_compare(buf_bytes(&v->separator), it->key) >= 0)
		return complain(v, "a key belongs to the block before");
	same_row = last.size > 0 && shared >= v->last.row_end;
	if (same_row != ((it->flags & BLOCK_SAME_ROW) != 0))
		return complain(v, "a same-row flag is wrong");
	if (!same_row) {
		v->found.row_count++;
		err = verify_row(v);
		if (!err)
			err = row_tally_begin(
				&v->tally,
				bytes_of(it->key.data, parts.row_end));
	}
	if (!err)
		err = row_tally_add(&v->tally, it->key, &parts);
	if (!err && key_kind(it->key) == KEY_BLOB)
		err = verify_blob(v, shared, it->value);
	if (err < 0)
		return err;
	count(v, it->key);
	if (last.size == 0)
		err = buf_set(&v->first_key, it->key);
	if (!err)
		err = buf_set(&v->last_key, it->key);
	v->last = parts;
	return err < 0 ? err : verify_filter(v, it->key, shared, &parts);
}

/* All entries of a block, which has one at least. block_iter_verify comes
 * first: restarts that lie would not be met by stepping. */
static int verify_entries(struct verify *v, struct bytes block)
{
	struct block_iter it;
	int result = block_iter_init(&it, block, NULL, v->buffer);

	if (!result)
		result = block_iter_verify(&it);
	if (!result)
		result = block_iter_first(&it);
	if (result < 0)
		return sst_fail(v->sst, v->entry.block.offset, result);
	if (result == 0)
		return complain(v, "it is empty");
	while (result > 0) {
		result = verify_entry(v, &it);
		if (result < 0)
			return result;
		result = block_iter_next(&it);
	}
	return result;
}

/* The block of the index entry in v, whose key is separator. Blocks must follow
 * one another without gaps, so that their sizes add up to the data's. */
static int verify_block(struct verify *v, struct bytes separator)
{
	struct cache_block *block;
	int err;

	if (v->entry.block.offset != v->found.data_size)
		return complain(v, "it does not follow the block before");
	err = sst_read_block(v->sst, v->entry.block, SST_READ_VOLUME, &block);
	if (err < 0)
		return err;
	v->min_timestamp = UINT64_MAX;
	v->max_timestamp = 0;
	err = verify_entries(v, block->bytes);
	cache_put(v->sst->cache, block);
	if (err < 0)
		return err;
	if (v->min_timestamp != v->entry.min_timestamp ||
	    v->max_timestamp != v->entry.max_timestamp)
		return complain(v, "its time range is wrong");
	if (bytes_compare(separator, buf_bytes(&v->last_key)) < 0 ||
	    !bytes_starts_with(separator,
			       bytes_of(v->last_key.data, v->last.row_end)))
		return complain(v, "its index key is wrong");
	if (v->min_timestamp < v->found.min_timestamp)
		v->found.min_timestamp = v->min_timestamp;
	if (v->max_timestamp > v->found.max_timestamp)
		v->found.max_timestamp = v->max_timestamp;
	v->found.data_size += v->entry.block.size;
	return buf_set(&v->separator, separator);
}

/* Walks the file by its index. Errors of a data block name that block; those of
 * the index itself get its own offset. */
static int verify_index(struct verify *v)
{
	struct sst_handle handle = sst_footer_part(&v->sst->footer, SST_INDEX);
	struct cache_block *block;
	struct block_iter it;
	int result = sst_read_block(v->sst, handle, SST_READ_VOLUME, &block);

	if (result < 0)
		return result;
	result = block_iter_init(&it, block->bytes, NULL, NULL);
	if (!result)
		result = block_iter_first(&it);
	while (result > 0) {
		int err = sst_index_decode(it.value, &v->entry);

		if (!err) {
			err = verify_block(v, it.key);
			if (err < 0) {
				cache_put(v->sst->cache, block);
				return err;
			}
			err = block_iter_next(&it);
		}
		result = err;
	}
	cache_put(v->sst->cache, block);
	return result < 0 ? sst_fail(v->sst, handle.offset, result) : 0;
}

/* A bound of the file that is a tombstone's. */
static int keep(struct buf *bound, struct bytes *at, struct bytes from)
{
	int err = buf_set(bound, from);

	*at = buf_bytes(bound);
	return err;
}

/* Adds a tombstone to what was found. */
static int add_tombstone(struct verify *v, const struct tombstone *t)
{
	struct sst_properties *p = &v->found;
	int err = 0;

	p->tombstone_count++;
	if (p->smallest.size == 0 || bytes_compare(t->start, p->smallest) < 0)
		err = keep(&v->first_key, &p->smallest, t->start);
	if (!err && bytes_compare(t->end, p->largest) > 0) {
		err = keep(&v->last_key, &p->largest, t->end);
		p->largest_exclusive = true;
	}
	if (t->seq < p->smallest_seq)
		p->smallest_seq = t->seq;
	if (t->seq > p->largest_seq)
		p->largest_seq = t->seq;
	return err;
}

/* All of them, in pieces, which are held against what the opening saw. The
 * bounds that are found borrow from v. */
static int add_tombstones(struct verify *v)
{
	struct tombstone_reader reader;
	const struct tombstone *t;
	int result;

	v->found.smallest = buf_bytes(&v->first_key);
	v->found.largest = buf_bytes(&v->last_key);
	tombstone_reader_init(&reader, v->sst);
	while ((result = tombstone_reader_next(&reader, &t)) > 0) {
		result = add_tombstone(v, t);
		if (result < 0)
			break;
	}
	tombstone_reader_release(&reader);
	return result;
}

/* Both are by file. */
static bool blobs_equal(const struct sst_properties *a,
			const struct blob_tally *b)
{
	size_t i;

	if (a->blob_count != b->count)
		return false;
	for (i = 0; i < b->count; i++)
		if (a->blobs[i].file != b->shares[i].file ||
		    a->blobs[i].size != b->shares[i].size)
			return false;
	return true;
}

/* All but the level at birth, which nothing in the file tells. */
static bool properties_equal(const struct sst_properties *a,
			     const struct sst_properties *b)
{
	return bytes_equal(a->smallest, b->smallest) &&
	       bytes_equal(a->largest, b->largest) &&
	       a->largest_exclusive == b->largest_exclusive &&
	       a->smallest_seq == b->smallest_seq &&
	       a->largest_seq == b->largest_seq &&
	       a->min_timestamp == b->min_timestamp &&
	       a->max_timestamp == b->max_timestamp &&
	       a->put_count == b->put_count &&
	       a->delete_count == b->delete_count &&
	       a->tombstone_count == b->tombstone_count &&
	       a->row_count == b->row_count && a->data_size == b->data_size;
}

/* The footer, and the parts that were decoded at open, are still there: what is
 * in memory may be better than what the volume has by now. */
static int verify_small_parts(struct sst *t)
{
	static const enum sst_part parts[] = { SST_TOMBSTONES, SST_PROPERTIES };
	uint8_t raw[SST_FOOTER_SIZE];
	struct sst_footer footer;
	struct cache_block *block;
	size_t i;
	int err;

	err = t->reader->ops->pread(t->reader,
				    t->reader->size - SST_FOOTER_SIZE, raw,
				    SST_FOOTER_SIZE);
	if (!err)
		err = sst_footer_decode(raw, t->reader->size, t->reader->path,
					&footer);
	for (i = 0; !err && i < 2; i++) {
		struct sst_handle handle = sst_footer_part(&footer, parts[i]);

		if (handle.size == 0)
			continue;
		err = sst_read_block(t, handle, SST_READ_VOLUME, &block);
		if (!err)
			cache_put(t->cache, block);
	}
	return err;
}

/* The small parts first, then the data by the index, entry by entry, with the
 * row directory stepped beside them; properties at the end, as they are of all.
 */
int sst_verify(struct sst *t)
{
	struct verify *v;
	bool has_rows = false;
	int err = verify_small_parts(t);

	if (err < 0)
		return err;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->sst = t;
	v->found.smallest_seq = UINT64_MAX;
	v->found.min_timestamp = UINT64_MAX;
	if (sst_has_filter(t))
		err = sst_read_block(t, sst_footer_part(&t->footer, SST_FILTER),
				     SST_READ_VOLUME, &v->filter);
	if (!err && sst_has_rows(t)) {
		err = sst_iter_start(&v->rows, t, true, SST_READ_VOLUME,
				     v->row_buffer);
		has_rows = !err;
	}
	if (!err)
		err = verify_index(v);
	if (!err)
		err = verify_rows_end(v);
	if (has_rows)
		sst_iter_release(&v->rows);
	if (!err)
		err = add_tombstones(v);
	if (!err) {
		if (!properties_equal(&v->found, &t->properties) ||
		    !blobs_equal(&t->properties, &v->blobs))
			err = fail(ERR_sst_malformed,
				   "%s: properties do not match the content",
				   t->reader->path);
	}
	if (v->filter)
		cache_put(t->cache, v->filter);
	row_tally_release(&v->tally);
	blob_tally_release(&v->blobs);
	buf_release(&v->summary);
	buf_release(&v->first_key);
	buf_release(&v->last_key);
	buf_release(&v->separator);
	free(v);
	return err;
}
