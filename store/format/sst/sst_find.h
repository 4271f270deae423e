#ifndef STORE_FORMAT_SST_SST_FIND_H
#define STORE_FORMAT_SST_SST_FIND_H

#include "store/format/sst/sst_format.h"

/*
 * Finding blocks of an sst without its index, for the files of this folder
 * alone: one after another, since the checksum that ends a block fits nowhere
 * else.
 */

/* The stored size of the block that begins at offset and ends at end or before
 * it; 0 if there is none. Each place where a trailer could be is tried, so that
 * it takes as long as reading to where the block ends, or to end. What cannot
 * be read is taken for zeros. 0 or -ENOMEM. */
int sst_find_block(struct reader *reader, uint64_t offset, uint64_t end,
		   uint64_t *size);

/* Whether a block holds data: full keys, and values that are not those of an
 * index, whose first entry tells of the file's first block, of first_size
 * bytes. buffer has KEY_SIZE_MAX bytes. */
bool sst_is_data(struct bytes block, uint64_t first_size, uint8_t *buffer);

#endif
