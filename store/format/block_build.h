#ifndef STORE_FORMAT_BLOCK_BUILD_H
#define STORE_FORMAT_BLOCK_BUILD_H

#include "store/format/block.h"

/* Builds one block after the other; block.h has the format. A zeroed struct
 * with restart_interval set is ready. */
struct block_builder {
	struct buf data;
	struct buf restarts;
	uint32_t restart_interval;
	uint32_t entry_count;
	bool same_row; /* all entries since the last restart */
};

void block_builder_release(struct block_builder *b);
/* Empties it for the next block. */
void block_builder_reset(struct block_builder *b);
/*
 * Adds an entry whose first shared bytes are those of the key added before it.
 * same_row is about the entry before, which may be in the block before. 0 or
 * -ENOMEM; -ERR_bad_argument if the block grows beyond BLOCK_SIZE_MAX.
 */
int block_builder_add(struct block_builder *b, struct bytes key, size_t shared,
		      bool same_row, struct bytes value);
/* The whole block, valid until reset; nothing may be added. */
int block_builder_finish(struct block_builder *b, struct bytes *block);

static inline size_t block_builder_size(const struct block_builder *b)
{
	return b->data.size + b->restarts.size + 4;
}

/*
 * The stored form of a block, with its trailer, replacing out's content. With
 * compress, LZ4 if that saves an eighth.
 */
int block_store(struct bytes block, bool compress, struct buf *out);

#endif
