#include <assert.h>
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
	RESTART_INTERVAL = 8,  /* entries; a head is made of each first key */
	/* What a row directory may be of the data: where it is more, listing
	 * rows by it saves little over stepping through the data. */
	ROWS_SHARE = 4,
	ROWS_SHARE_LEVEL0 = 16, /* files that are there for a while only */
	/* Before it has this size it is not dropped on the way: the first rows
	 * may not be typical. */
	ROWS_SIZE_UNJUDGED = 1 << 20,
};

/*
 * A key goes to the data block under way, its new prefixes to hashes, its row
 * to the row directory. A full block goes to the writer and its separator to
 * the index. What comes behind the data waits in memory until sst_build_finish.
 */
struct sst_builder {
	struct segment_writer *writer; /* owned */
	struct sst_options options;
	bool is_past;                 /* the file is one of history */
	struct block_builder data;    /* the block under way */
	struct block_builder index;   /* no sharing: searched, never scanned */
	struct sst_index_entry block; /* of data; offset and size are set at
					 its end */
	struct buf last_key;          /* added last; empty: none */
	struct key_parts last;        /* its parts; all 0: none */
	struct buf separator, stored; /* scratch: index key, stored block */
	struct buf hashes;            /* u64 each, as the machine has them */
	struct row_directory rows;
	struct buf tombstones;            /* encoded */
	struct buf first_key;             /* of the points; empty: none */
	struct buf first_start, last_end; /* of the tombstones */
	struct blob_tally blobs;
	struct sst_properties properties; /* counts so far; bounds at the end */
	uint64_t digest; /* of what was appended; for sst_read_back */
};

/* Smallest and least values begin as the greatest there are. */
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

/* Appends block in its stored form; *size is that of the stored form, trailer
 * included. The digest is of the block before compression. */
static int append_block(struct sst_builder *b, struct bytes block,
			bool compress, uint64_t *size)
{
	int err = block_store(block, compress, &b->stored);

	*size = b->stored.size;
	if (err < 0)
		return err;
	b->digest = sst_digest_add(b->digest, block);
	return b->writer->ops->segment_append(b->writer, buf_bytes(&b->stored));
}

/* The key of the index entry for a block that ends with last_key, as
 * sst_format.h demands of it, and short. shared is what last_key shares with
 * next, the first key after the block, empty at the file's end. In the same row
 * it is next up to the byte that makes it greater, unless that is all of next;
 * else the row prefix and a byte greater than last_key's. */
static int make_separator(struct sst_builder *b, struct bytes next,
			  size_t shared)
{
	struct bytes last = buf_bytes(&b->last_key);
	size_t row_end = b->last.row_end;
	int err;

	assert(row_end > 0 && row_end < last.size);
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

/* Ends the data block under way and adds it to the index. Its place is known
 * only now, when all before it was appended. */
static int end_block(struct sst_builder *b, struct bytes next, size_t shared)
{
	uint8_t value[SST_INDEX_VALUE_MAX];
	struct bytes block;
	int err;

	assert(b->data.entry_count > 0);
	b->block.block.offset = b->writer->size;
	err = block_builder_finish(&b->data, &block);
	if (!err)
		err = append_block(b, block, b->options.compress,
				   &b->block.block.size);
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

/* A filter entry for the first end bytes of key. */
static int add_hash(struct sst_builder *b, struct bytes key, size_t end)
{
	uint64_t hash;

	if (b->options.filter_bits == 0)
		return 0;
	hash = hash64(bytes_of(key.data, end));
	return buf_add(&b->hashes, &hash, sizeof(hash));
}

/* Filter entries for the prefixes of key that the key before does not have; so
 * each distinct prefix is hashed once, and a row is counted. last.row_end is 0
 * only before the first key, which shares nothing. */
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

/* Adds key to the properties of the file and the times of the block under way.
 */
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

/* Checks key's size and order and finds its parts, for which little is to do in
 * the column of the key before: if the keys are as long and share the column
 * prefix, they differ in timestamp and trailer alone. */
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

/* Whether the row directory so far is worth its place beside the data so far.
 */
static bool rows_pay(const struct sst_builder *b)
{
	unsigned int share =
		b->options.level == 0 ? ROWS_SHARE_LEVEL0 : ROWS_SHARE;

	return b->options.rows == ROW_DIRECTORY_ALWAYS ||
	       b->rows.stored.size <= b->writer->size / share;
}

/* Notes what a large value refers to. list passes to the tally, which leaves an
 * empty one behind on success and what it did not take on failure. */
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

/* A bit of the footer, which is written last. */
void sst_build_past(struct sst_builder *b)
{
	b->is_past = true;
}

/* The order matters: a block ends before the entry that would make it too
 * large, and the separator needs last_key, so key becomes last_key at the very
 * end. A block of one entry may be larger than BLOCK_SIZE. */
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

/* They are encoded as they come; their bounds are the first start and the last
 * end, because fragments do not overlap. */
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

/* Without properties and footer, which are small. The filter counts with what
 * it will take. */
uint64_t sst_build_size(const struct sst_builder *b)
{
	size_t hash_count = b->hashes.size / sizeof(uint64_t);

	return b->writer->size + b->rows.stored.size +
	       block_builder_size(&b->data) + block_builder_size(&b->index) +
	       b->tombstones.size +
	       bloom_size(hash_count, b->options.filter_bits);
}

/* Appends a part that is one block; tombstones are not compressed, so that they
 * can be read in pieces. Its size has 32 bits in the footer, far
 * more than files of the size that the engine makes need. */
static int append_part(struct sst_builder *b, struct bytes block, bool compress,
		       uint32_t *part_size)
{
	uint64_t size;
	int err = append_block(b, block, compress, &size);

	if (!err && size > UINT32_MAX)
		err = fail(ERR_bad_argument, "%s: part of %llu bytes",
			   b->writer->path, (unsigned long long)size);
	*part_size = (uint32_t)size;
	return err;
}

/* The bounds of points and tombstones together. They borrow from b. */
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

/* A file without keys gets a filter too, one in which nothing is found. The
 * hashes lie in a buf, which malloc has aligned for them. */
static int append_filter(struct sst_builder *b, uint32_t *size)
{
	struct buf filter = BUF_INIT;
	size_t count = b->hashes.size / sizeof(uint64_t);
	int err = bloom_build((const uint64_t *)(const void *)b->hashes.data,
			      count, b->options.filter_bits, &filter);

	if (!err)
		err = append_part(b, buf_bytes(&filter), b->options.compress,
				  size);
	buf_release(&filter);
	return err;
}

/* Appends the row directory if it is worth its place now that all data are
 * written; its blocks have their trailers already. A directory too large for
 * the footer is left out, which costs time only. */
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

/* Appends all behind the data, in the order of enum sst_part, and notes their
 * sizes. Properties come last, as they count what is before them. */
static int append_parts(struct sst_builder *b, struct sst_footer *footer)
{
	struct buf properties = BUF_INIT;
	struct bytes index;
	int err = append_rows(b, footer);

	if (!err && b->tombstones.size > 0)
		err = append_part(b, buf_bytes(&b->tombstones), false,
				  &footer->part_size[SST_TOMBSTONES]);
	if (!err && b->options.filter_bits > 0)
		err = append_filter(b, &footer->part_size[SST_FILTER]);
	if (!err)
		err = block_builder_finish(&b->index, &index);
	if (!err)
		err = append_part(b, index, b->options.compress,
				  &footer->part_size[SST_INDEX]);
	if (err < 0)
		return err;
	set_bounds(b);
	b->properties.data_size = footer->data_size;
	b->properties.blobs = b->blobs.shares;
	b->properties.blob_count = b->blobs.count;
	footer->has_blobs = b->blobs.count > 0;
	footer->is_past = b->is_past;
	err = sst_properties_encode(&b->properties, &properties);
	if (!err)
		err = append_part(b, buf_bytes(&properties),
				  b->options.compress,
				  &footer->part_size[SST_PROPERTIES]);
	buf_release(&properties);
	return err;
}

/* The writer was ended by whoever calls this. */
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

/* The writer is ended by segment_finish even if that fails, so b is only freed
 * then and not abandoned. */
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
