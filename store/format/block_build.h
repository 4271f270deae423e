#ifndef STORE_FORMAT_BLOCK_BUILD_H
#define STORE_FORMAT_BLOCK_BUILD_H

#include "store/format/block.h"

/* Builds one block after the other, in memory; block.h has the format. A zeroed
 * struct with restart_interval set is ready. One thread at a time uses it. */
struct block_builder {
	struct buf data;           /* entries */
	struct buf restarts;       /* u32 each, as they will be written */
	uint32_t restart_interval; /* entries from one to the next; not 0 */
	uint32_t entry_count;      /* so far, in this block */
	bool same_row;             /* all entries since the last restart */
};

void block_builder_release(struct block_builder *b);

/* Empties it for the next block. */
void block_builder_reset(struct block_builder *b);
/*
 * Adds an entry whose first shared bytes, 0 in an empty builder's first, are
 * those of the key added before it. Keys ascend; the builder keeps none to
 * check it by. same_row is about the entry before, which may be in the block
 * before. 0 or -ENOMEM; -ERR_bad_argument if the block grows beyond
 * BLOCK_SIZE_MAX; after an error the block is as before.
 */
int block_builder_add(struct block_builder *b, struct bytes key, size_t shared,
		      bool same_row, struct bytes value);
/* The whole block, valid until reset; nothing may be added. 0 or -ENOMEM. */
int block_builder_finish(struct block_builder *b, struct bytes *block);

/* Bytes that the block would have if it were finished now. */
static inline size_t block_builder_size(const struct block_builder *b)
{
	return b->data.size + b->restarts.size + 4;
}

/*
 * The stored form of a block, with its trailer, replacing out's content. With
 * compress, LZ4 if that saves an eighth. 0 or -ENOMEM.
 */
int block_store(struct bytes block, bool compress, struct buf *out);

#endif
