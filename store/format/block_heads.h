#ifndef STORE_FORMAT_BLOCK_HEADS_H
#define STORE_FORMAT_BLOCK_HEADS_H

#include "store/format/block.h"

/*
 * Heads of a block's restarts, made once when the block comes into memory and
 * searched by many threads; block.h has the struct.
 */

/* Heads of block in one allocation, for free(); NULL if there is no memory, or
 * nothing in the block that heads can be made of. A search does without, more
 * slowly. */
struct block_heads *block_heads_new(struct bytes block);
/* Bytes of the allocation. */
size_t block_heads_size(const struct block_heads *h);

/*
 * Which restart to read on from to find key: after the last one that is before
 * it there are no more than *last of them, numbers ascending from *first, whose
 * heads do not tell. All before *first are before key, all from *last on are
 * not.
 */
void block_heads_find(const struct block_heads *h, struct bytes key,
		      uint32_t *first, uint32_t *last);

#endif
