#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/probe.h"
#include "store/format/bloom.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_tombstones.h"

/* Reads the properties into memory of the sst and holds them against the
 * footer, which says two of the same things. */
static int load_properties(struct sst *t)
{
	struct sst_handle handle = sst_footer_part(&t->footer, SST_PROPERTIES);
	struct cache_block *block;
	int err = sst_read_block(t, handle, SST_READ_VOLUME, &block);

	if (err < 0)
		return err;
	err = buf_add_bytes(&t->property_memory, block->bytes);
	cache_put(t->cache, block);
	if (!err)
		err = sst_properties_decode(buf_bytes(&t->property_memory),
					    &t->properties, &t->blobs);
	if (err < 0)
		return sst_fail(t, handle.offset, err);
	if ((t->properties.blob_count > 0) != t->footer.has_blobs)
		return fail(ERR_sst_malformed,
			    "%s: refers to %zu blob files, the footer says %s",
			    t->reader->path, t->properties.blob_count,
			    t->footer.has_blobs ? "to some" : "to none");
	if (t->properties.data_size != t->footer.data_size)
		return fail(ERR_sst_malformed,
			    "%s: %llu bytes of data, not %llu", t->reader->path,
			    (unsigned long long)t->footer.data_size,
			    (unsigned long long)t->properties.data_size);
	return 0;
}

/* On failure sst_close ends what there is of t, but must leave reader to its
 * owner. */
int sst_open(struct reader *reader, struct cache *cache, uint64_t file_id,
	     struct sst **out)
{
	uint8_t footer[SST_FOOTER_SIZE];
	struct sst *t;
	int err;

	*out = NULL;
	if (reader->size < SST_FOOTER_SIZE)
		return fail(ERR_sst_malformed, "%s: %llu bytes are no sst",
			    reader->path, (unsigned long long)reader->size);
	err = reader->ops->pread(reader, reader->size - SST_FOOTER_SIZE, footer,
				 SST_FOOTER_SIZE);
	if (err < 0)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->reader = reader;
	t->cache = cache;
	t->file_id = file_id;
	err = sst_footer_decode(footer, reader->size, reader->path, &t->footer);
	if (!err)
		err = load_properties(t);
	if (!err)
		err = sst_load_tombstones(t);
	if (err < 0) {
		t->reader = NULL;
		sst_close(t);
		return err;
	}
	*out = t;
	return 0;
}

/* The parts go back to the cache, with the room that was reserved for them. */
void sst_close(struct sst *t)
{
	if (!t)
		return;
	if (t->reader)
		t->reader->ops->reader_close(t->reader);
	sst_unpin_parts(t);
	sst_release_tombstones(t);
	buf_release(&t->property_memory);
	free(t->blobs);
	free(t);
}

const struct sst_properties *sst_properties(const struct sst *t)
{
	return &t->properties;
}

/* A plain store: the file is not shared yet. */
void sst_set_seq(struct sst *t, uint64_t seq)
{
	t->seq = seq;
}

uint64_t sst_seq(const struct sst *t)
{
	return t->seq;
}

bool sst_has_filter(const struct sst *t)
{
	return t->footer.part_size[SST_FILTER] > 0;
}

bool sst_has_rows(const struct sst *t)
{
	return t->footer.row_index_size > 0;
}

bool sst_is_past(const struct sst *t)
{
	return t->footer.is_past;
}

/* A file whose filter cannot be held answers "perhaps": the data block tells.
 */
int sst_may_contain(struct sst *t, uint64_t prefix_hash)
{
	struct cache_block *block;
	int result = sst_get_filter(t, &block);

	if (result <= 0)
		return result < 0 ? result : 1;
	result = bloom_may_contain(block->bytes, prefix_hash);
	PROBE(filter, t->file_id, result);
	return result < 0
		       ? sst_fail(
				 t,
				 sst_footer_part(&t->footer, SST_FILTER).offset,
				 result)
		       : result;
}

/* Never reads: a filter that is not in memory is left to sst_may_contain. */
void sst_prefetch_filter(const struct sst *t, uint64_t prefix_hash)
{
	struct cache_block *block = atomic_load_explicit(&t->pinned[SST_FILTER],
							 memory_order_acquire);

	if (block)
		bloom_prefetch(block->bytes, prefix_hash);
}
