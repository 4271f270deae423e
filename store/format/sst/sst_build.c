#include <stdlib.h>

#include "store/base/err.h"
#include "store/format/block_build.h"
#include "store/format/bloom.h"
#include "store/format/sst/rowdir.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_format.h"
#include "store/format/sst/sst_read_back.h"

enum {
	BLOCK_SIZE = 16 << 10, /* before compression */
	RESTART_INTERVAL = 8,
	/* What a row directory may be of the data: where it is more, listing
	 * rows by it saves little over stepping through the data. */
	ROWS_SHARE = 4,
	ROWS_SIZE_UNJUDGED = 1 << 20, /* before it is dropped on the way */
};

struct sst_builder {
	struct segment_writer *writer;
	struct sst_options options;
	struct block_builder data;
	struct block_builder index;   /* no sharing: searched, never scanned */
	struct sst_index_entry block; /* of data */
	struct buf last_key;
	struct key_parts last;
	struct buf separator, stored;
	struct buf hashes; /* u64 each, as the machine has them */
	struct row_directory rows;
	struct buf tombstones;
	struct buf first_key, first_start, last_end;
	struct blob_tally blobs;
	struct sst_properties properties;
	uint64_t digest;
};

int sst_build_new(struct segment_writer *writer,
		  const struct sst_options *options, struct sst_builder **out)
{
	struct sst_builder *b = calloc(1, sizeof(*b));

	*out = NULL;
	if (!b) {
		writer->ops->segment_abandon(writer);
		return -ENOMEM;
	}
	b->writer = writer;
	b->options = *options;
	b->data.restart_interval = RESTART_INTERVAL;
	b->index.restart_interval = 1;
	row_directory_init(&b->rows);
	b->rows.dropped = options->rows == ROW_DIRECTORY_NEVER;
	b->block.min_timestamp = UINT64_MAX;
	b->properties.smallest_seq = UINT64_MAX;
	b->properties.min_timestamp = UINT64_MAX;
	b->properties.level = options->level;
	*out = b;
	return 0;
}

/* Appends block in its stored form; *size is that of the stored form. */
static int append_block(struct sst_builder *b, struct bytes block,
			uint64_t *size)
{
	int err = block_store(block, b->options.compress, &b->stored);

	*size = b->stored.size;
	if (err < 0)
		return err;
	b->digest = sst_digest_add(b->digest, block);
	return b->writer->ops->segment_append(b->writer, buf_bytes(&b->stored));
}

/*
 * The key of the index entry for a block that ends with last_key, as
 * sst_format.h demands of it, and short. shared is what last_key shares with
 * next, the first key after the block.
 */
static int make_separator(struct sst_builder *b, struct bytes next,
			  size_t shared)
{
	struct bytes last = buf_bytes(&b->last_key);
	size_t row_end = b->last.row_end;
	int err;

	if (next.size > 0 && shared >= row_end)
		return buf_set(&b->separator,
			       shared + 1 < next.size
				       ? bytes_of(next.data, shared + 1)
				       : last);
	if (last.data[row_end] == 0xff)
		return buf_set(&b->separator, last);
	err = buf_set(&b->separator, bytes_of(last.data, row_end + 1));
	if (!err)
		b->separator.data[row_end]++;
	return err;
}

static int end_block(struct sst_builder *b, struct bytes next, size_t shared)
{
	uint8_t value[SST_INDEX_VALUE_MAX];
	struct bytes block;
	int err;

	b->block.block.offset = b->writer->size;
	err = block_builder_finish(&b->data, &block);
	if (!err)
		err = append_block(b, block, &b->block.block.size);
	if (!err)
		err = make_separator(b, next, shared);
	if (!err) {
		size_t size =
			(size_t)(sst_index_encode(&b->block, value) - value);

		err = block_builder_add(&b->index, buf_bytes(&b->separator), 0,
					false, bytes_of(value, size));
	}
	block_builder_reset(&b->data);
	b->block.min_timestamp = UINT64_MAX;
	b->block.max_timestamp = 0;
	return err;
}

static int add_hash(struct sst_builder *b, struct bytes key, size_t end)
{
	uint64_t hash;

	if (b->options.filter_bits == 0)
		return 0;
	hash = hash64(bytes_of(key.data, end));
	return buf_add(&b->hashes, &hash, sizeof(hash));
}

/* Filter entries for the prefixes of key that the key before does not have. */
static int add_hashes(struct sst_builder *b, struct bytes key, size_t shared,
		      const struct key_parts *parts)
{
	int err = 0;

	if (shared < b->last.row_end || b->last.row_end == 0) {
		b->properties.row_count++;
		err = add_hash(b, key, parts->row_end);
	}
	if (!err && (shared < b->last.family_end || b->last.row_end == 0))
		err = add_hash(b, key, parts->family_end);
	if (!err && (shared < b->last.column_end || b->last.row_end == 0))
		err = add_hash(b, key, parts->column_end);
	return err;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void count_key(struct sst_builder *b, struct bytes key)
{
	struct sst_properties *p = &b->properties;
	uint64_t timestamp = key_timestamp(key);
	uint64_t seq = key_seq(key);

	if (key_kind_is_put(key_kind(key)))
		p->put_count++;
	else
		p->delete_count++;
	p->smallest_seq = min(p->smallest_seq, seq);
	p->largest_seq = max(p->largest_seq, seq);
	p->min_timestamp = min(p->min_timestamp, timestamp);
	p->max_timestamp = max(p->max_timestamp, timestamp);
	b->block.min_timestamp = min(b->block.min_timestamp, timestamp);
	b->block.max_timestamp = max(b->block.max_timestamp, timestamp);
}

/* Splits key, for which little is to do in the column of the key before. */
static int split_key(struct sst_builder *b, struct bytes key, size_t shared,
		     struct key_parts *parts)
{
	struct bytes last = buf_bytes(&b->last_key);

	if (key.size > KEY_SIZE_MAX)
		return fail(ERR_key_malformed, "%s: key of %zu bytes",
			    b->writer->path, key.size);
	if (shared == key.size ||
	    (shared < last.size && key.data[shared] < last.data[shared]))
		return fail(ERR_key_malformed, "%s: keys are not in order",
			    b->writer->path);
	*parts = b->last;
	if (b->last.column_end > 0 && shared >= b->last.column_end &&
	    key.size == last.size)
		return 0;
	return key_split_after(key, shared, parts);
}

/* Whether the row directory so far is worth its place. */
static bool rows_pay(const struct sst_builder *b)
{
	return b->options.rows == ROW_DIRECTORY_ALWAYS ||
	       b->rows.stored.size <= b->writer->size / ROWS_SHARE;
}

/* Notes what a large value refers to. */
static int add_blob(struct sst_builder *b, size_t shared, struct bytes value)
{
	struct blob_list list;
	int err = blob_list_decode(value, &list);

	if (!err)
		err = blob_tally_add(&b->blobs, &list,
				     shared < b->last.column_end ||
					     b->last.column_end == 0);
	blob_list_release(&list);
	return err;
}

int sst_build_add(struct sst_builder *b, struct bytes key, struct bytes value)
{
	size_t shared = bytes_shared(buf_bytes(&b->last_key), key);
	struct key_parts parts;
	bool same_row;
	int err = split_key(b, key, shared, &parts);

	if (err < 0)
		return err;
	same_row = b->last.row_end > 0 && shared >= b->last.row_end;
	if (b->data.entry_count > 0 &&
	    block_builder_size(&b->data) + key.size - shared + value.size >
		    BLOCK_SIZE)
		err = end_block(b, key, shared);
	if (!err)
		err = add_hashes(b, key, shared, &parts);
	if (!err && b->first_key.size == 0)
		err = buf_set(&b->first_key, key);
	if (!err)
		err = block_builder_add(&b->data, key, shared, same_row, value);
	if (!err)
		err = row_directory_add(&b->rows, key, &parts, !same_row);
	if (!err && key_kind(key) == KEY_BLOB)
		err = add_blob(b, shared, value);
	if (err < 0)
		return err;
	if (b->rows.stored.size > ROWS_SIZE_UNJUDGED && !rows_pay(b))
		row_directory_drop(&b->rows);
	count_key(b, key);
	b->last = parts;
	/* Only what differs is copied. */
	b->last_key.size = shared;
	return buf_add_bytes(&b->last_key, bytes_after(key, shared));
}

int sst_build_tombstone(struct sst_builder *b, const struct tombstone *t)
{
	int err = 0;

	if (b->properties.tombstone_count == 0)
		err = buf_set(&b->first_start, t->start);
	if (!err)
		err = buf_set(&b->last_end, t->end);
	if (!err)
		err = tombstone_encode(t, &b->tombstones);
	if (err < 0)
		return err;
	b->properties.tombstone_count++;
	b->properties.smallest_seq = min(b->properties.smallest_seq, t->seq);
	b->properties.largest_seq = max(b->properties.largest_seq, t->seq);
	return 0;
}

uint64_t sst_build_size(const struct sst_builder *b)
{
	size_t hash_count = b->hashes.size / sizeof(uint64_t);

	return b->writer->size + b->rows.stored.size +
	       block_builder_size(&b->data) + block_builder_size(&b->index) +
	       b->tombstones.size +
	       bloom_size(hash_count, b->options.filter_bits);
}

static int append_part(struct sst_builder *b, struct bytes block,
		       uint32_t *part_size)
{
	uint64_t size;
	int err = append_block(b, block, &size);

	if (!err && size > UINT32_MAX)
		err = fail(ERR_bad_argument, "%s: part of %llu bytes",
			   b->writer->path, (unsigned long long)size);
	*part_size = (uint32_t)size;
	return err;
}

static void set_bounds(struct sst_builder *b)
{
	struct sst_properties *p = &b->properties;
	struct bytes start = buf_bytes(&b->first_start);
	struct bytes end = buf_bytes(&b->last_end);

	p->smallest = buf_bytes(&b->first_key);
	p->largest = buf_bytes(&b->last_key);
	if (p->tombstone_count == 0)
		return;
	if (p->smallest.size == 0 || bytes_compare(start, p->smallest) < 0)
		p->smallest = start;
	if (bytes_compare(end, p->largest) > 0) {
		p->largest = end;
		p->largest_exclusive = true;
	}
}

static int append_filter(struct sst_builder *b, uint32_t *size)
{
	struct buf filter = BUF_INIT;
	size_t count = b->hashes.size / sizeof(uint64_t);
	int err = bloom_build((const uint64_t *)(const void *)b->hashes.data,
			      count, b->options.filter_bits, &filter);

	if (!err)
		err = append_part(b, buf_bytes(&filter), size);
	buf_release(&filter);
	return err;
}

static int append_rows(struct sst_builder *b, struct sst_footer *footer)
{
	uint32_t index_size;
	int err;

	if (b->rows.dropped || b->properties.row_count == 0)
		return 0;
	err = row_directory_finish(&b->rows, &index_size);
	if (err < 0 || !rows_pay(b) || b->rows.stored.size > UINT32_MAX)
		return err;
	footer->part_size[SST_ROW_DIRECTORY] = (uint32_t)b->rows.stored.size;
	footer->row_index_size = index_size;
	b->digest = sst_digest_add(b->digest, buf_bytes(&b->rows.stored));
	return b->writer->ops->segment_append(b->writer,
					      buf_bytes(&b->rows.stored));
}

static int append_parts(struct sst_builder *b, struct sst_footer *footer)
{
	struct buf properties = BUF_INIT;
	struct bytes index;
	int err = append_rows(b, footer);

	if (!err && b->tombstones.size > 0)
		err = append_part(b, buf_bytes(&b->tombstones),
				  &footer->part_size[SST_TOMBSTONES]);
	if (!err && b->options.filter_bits > 0)
		err = append_filter(b, &footer->part_size[SST_FILTER]);
	if (!err)
		err = block_builder_finish(&b->index, &index);
	if (!err)
		err = append_part(b, index, &footer->part_size[SST_INDEX]);
	if (err < 0)
		return err;
	set_bounds(b);
	b->properties.data_size = footer->data_size;
	b->properties.blobs = b->blobs.shares;
	b->properties.blob_count = b->blobs.count;
	footer->has_blobs = b->blobs.count > 0;
	err = sst_properties_encode(&b->properties, &properties);
	if (!err)
		err = append_part(b, buf_bytes(&properties),
				  &footer->part_size[SST_PROPERTIES]);
	buf_release(&properties);
	return err;
}

static void builder_free(struct sst_builder *b)
{
	block_builder_release(&b->data);
	block_builder_release(&b->index);
	buf_release(&b->last_key);
	buf_release(&b->separator);
	buf_release(&b->stored);
	buf_release(&b->hashes);
	row_directory_release(&b->rows);
	buf_release(&b->tombstones);
	buf_release(&b->first_key);
	buf_release(&b->first_start);
	buf_release(&b->last_end);
	blob_tally_release(&b->blobs);
	free(b);
}

int sst_build_finish(struct sst_builder *b, uint64_t *digest)
{
	struct sst_footer footer = { 0 };
	uint8_t raw[SST_FOOTER_SIZE];
	int err = 0;

	if (b->data.entry_count > 0)
		err = end_block(b, BYTES_NONE, 0);
	footer.data_size = b->writer->size;
	if (!err)
		err = append_parts(b, &footer);
	if (!err) {
		sst_footer_encode(&footer, raw);
		err = b->writer->ops->segment_append(
			b->writer, bytes_of(raw, sizeof(raw)));
	}
	if (err < 0) {
		sst_build_abandon(b);
		return err;
	}
	err = b->writer->ops->segment_finish(b->writer);
	if (digest)
		*digest = b->digest;
	builder_free(b);
	return err;
}

void sst_build_abandon(struct sst_builder *b)
{
	if (!b)
		return;
	b->writer->ops->segment_abandon(b->writer);
	builder_free(b);
}
