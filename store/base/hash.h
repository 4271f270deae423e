#ifndef STORE_BASE_HASH_H
#define STORE_BASE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "store/base/bytes.h"

/*
 * XXH3 with 64 bits (xxHash 0.8, whose result is fixed for good): filters and
 * inode numbers rest on its value, so it may never be replaced by another.
 */
static inline uint64_t hash64(struct bytes b)
{
	return XXH3_64bits(b.data, b.size);
}

/*
 * XXH64, seed 0: what the recipes' salt and hash put into row keys, so it is
 * for ever as well.
 */
static inline uint64_t hash64_key(struct bytes b)
{
	return XXH64(b.data, b.size, 0);
}

#endif
