#include <assert.h>

#include "store/base/err.h"
#include "store/base/watch/cost.h"
#include "store/base/probe.h"
#include "store/format/block_heads.h"
#include "store/format/sst/sst_read.h"

/* How many eighths of the cache's capacity parts that are held on to may take
 * in all before no further one is: of indexes, which every lookup needs, more.
 * What is left over is for data blocks. */
enum {
	FILTER_EIGHTHS = 3,
	INDEX_EIGHTHS = 4,
};

int sst_fail(const struct sst *t, uint64_t offset, int err)
{
	assert(err < 0);
	if (err == -ENOMEM)
		return err;
	return fail(-err, "%s: block at offset %llu: %s", t->reader->path,
		    (unsigned long long)offset, err_detail());
}

int sst_read_stored(const struct sst *t, struct sst_handle handle,
		    struct cache_block **out)
{
	uint64_t limit = t->reader->size - SST_FOOTER_SIZE;
	struct cache_block *block;
	int err;

	if (handle.size > limit || handle.offset > limit - handle.size)
		return fail(ERR_sst_malformed,
			    "%s: block of %llu bytes at offset %llu of %llu",
			    t->reader->path, (unsigned long long)handle.size,
			    (unsigned long long)handle.offset,
			    (unsigned long long)t->reader->size);
	block = cache_new_block(t->cache, (size_t)handle.size);
	if (!block)
		return -ENOMEM;
	err = t->reader->ops->pread(t->reader, handle.offset,
				    (uint8_t *)(uintptr_t)block->bytes.data,
				    (size_t)handle.size);
	if (err < 0) {
		cache_put(t->cache, block);
		return err;
	}
	*out = block;
	return 0;
}

/* Replaces a stored LZ4 block by one of size bytes that holds its content. On
 * -ENOMEM *block is still the stored one, so that its owner gives back exactly
 * one in every case. Writing to bytes.data is allowed as long as nobody else
 * knows the block. */
static int expand(const struct sst *t, struct cache_block **block, size_t size)
{
	struct cache_block *stored = *block;
	int err;

	*block = cache_new_block(t->cache, size);
	if (!*block) {
		*block = stored;
		return -ENOMEM;
	}
	err = block_expand(stored->bytes,
			   (uint8_t *)(uintptr_t)(*block)->bytes.data, size);
	cache_put(t->cache, stored);
	return err;
}

/* A block of the volume, checked and expanded, that only the caller knows yet.
 * Errors of the content name file and offset; those of the volume do so
 * themselves. */
static int read_block(const struct sst *t, struct sst_handle handle,
		      struct cache_block **out)
{
	enum block_compression compression;
	struct cache_block *block = NULL;
	size_t size;
	int err;

	PROBE(block_read, t->file_id, handle.offset);
	thread_cost.blocks_read++;
	thread_cost.bytes_read += handle.size;
	err = sst_read_stored(t, handle, &block);
	if (err < 0)
		return err;
	err = block_check(block->bytes, &compression, &size);
	if (!err && compression == BLOCK_LZ4)
		err = expand(t, &block, size);
	if (err < 0) {
		cache_put(t->cache, block);
		return sst_fail(t, handle.offset, err);
	}
	block->bytes.size = size;
	*out = block;
	return 0;
}

/* To a block of entries that will be searched. Without memory for the heads, or
 * in a block that has none, the search only takes longer, so there is no error.
 * It has to come before the block is shared: readers take side as it is. */
static void add_heads(struct cache_block *block)
{
	struct block_heads *heads = block_heads_new(block->bytes);

	block->side = heads;
	block->side_size = heads ? block_heads_size(heads) : 0;
}

/* Blocks that the cache will not keep get no heads: who reads them so steps
 * through them and does not search. */
int sst_read_block(const struct sst *t, struct sst_handle handle,
		   enum sst_read how, struct cache_block **out)
{
	int err;

	*out = NULL;
	thread_cost.blocks++;
	if (how != SST_READ_VOLUME) {
		*out = cache_get(t->cache, t->file_id, handle.offset);
		if (*out)
			return 0;
	}
	err = read_block(t, handle, out);
	if (err == 0 && how == SST_READ_FILL) {
		add_heads(*out);
		cache_insert(t->cache, t->file_id, handle.offset, *out);
	}
	return err;
}

/* What a part that is held is charged with in the cache. It never changes once
 * the block is pinned, so that what was reserved is what is given back. */
static size_t pinned_size(const struct cache_block *block)
{
	return block->bytes.size + block->side_size;
}

/* Holds on to a part that was read and for which pinned_size is reserved.
 * Another thread may have been first: then that one's block replaces *block,
 * and the reference and the reservation of ours are given back. */
static void pin_part(struct sst *t, enum sst_part part,
		     struct cache_block **block)
{
	struct cache_block *none = NULL;

	if (atomic_compare_exchange_strong(&t->pinned[part], &none, *block))
		return;
	cache_unreserve(t->cache, pinned_size(*block));
	cache_put(t->cache, *block);
	*block = none;
}

void sst_unpin_parts(struct sst *t)
{
	int part;

	for (part = 0; part < SST_PARTS; part++) {
		struct cache_block *block = atomic_load(&t->pinned[part]);

		if (!block)
			continue;
		cache_unreserve(t->cache, pinned_size(block));
		cache_put(t->cache, block);
	}
}

/* Two threads that miss at the same time both read the part; one of the two
 * blocks wins in pin_part, which is cheaper than a lock at each lookup. */
int sst_get_part(struct sst *t, enum sst_part part, enum sst_read how,
		 struct cache_block **out)
{
	struct sst_handle handle;
	int err;

	assert(part == SST_INDEX || part == SST_ROW_DIRECTORY);
	*out = atomic_load_explicit(&t->pinned[part], memory_order_acquire);
	if (*out && how != SST_READ_VOLUME)
		return 0;
	handle = part == SST_ROW_DIRECTORY ? sst_footer_row_index(&t->footer)
					   : sst_footer_part(&t->footer, part);
	if (how == SST_READ_VOLUME)
		return sst_read_block(t, handle, how, out);
	*out = cache_get(t->cache, t->file_id, handle.offset);
	if (*out)
		return 0;
	err = read_block(t, handle, out);
	if (err < 0)
		return err;
	add_heads(*out);
	if (cache_reserve(t->cache, pinned_size(*out), INDEX_EIGHTHS))
		pin_part(t, part, out);
	else
		cache_insert(t->cache, t->file_id, handle.offset, *out);
	return 0;
}

/* A block that is held is not counted by lookups, so only one that is not is
 * put. If another thread has pinned the part meanwhile, what it pinned is
 * another block than the one given here: what comes from the cache is never
 * pinned. */
void sst_put_part(struct sst *t, enum sst_part part, struct cache_block *block)
{
	if (block && block != atomic_load_explicit(&t->pinned[part],
						   memory_order_relaxed))
		cache_put(t->cache, block);
}

/* Asks for room before the filter is read, by its stored size, so that a file
 * for which there is none costs no read at each lookup; then once more, by what
 * it takes in memory, which may differ. */
int sst_get_filter(struct sst *t, struct cache_block **out)
{
	struct sst_handle handle = sst_footer_part(&t->footer, SST_FILTER);
	int err;

	*out = atomic_load_explicit(&t->pinned[SST_FILTER],
				    memory_order_acquire);
	if (*out)
		return 1;
	if (handle.size == 0 ||
	    !cache_reserve(t->cache, (size_t)handle.size, FILTER_EIGHTHS))
		return 0;
	err = read_block(t, handle, out);
	cache_unreserve(t->cache, (size_t)handle.size);
	if (err < 0)
		return err;
	if (!cache_reserve(t->cache, pinned_size(*out), FILTER_EIGHTHS)) {
		cache_put(t->cache, *out);
		return 0;
	}
	pin_part(t, SST_FILTER, out);
	return 1;
}
