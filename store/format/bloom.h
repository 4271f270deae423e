#ifndef STORE_FORMAT_BLOOM_H
#define STORE_FORMAT_BLOOM_H

#include "store/base/buf.h"
#include "store/base/hash.h"

/*
 * Filter of a whole sst: a Bloom filter in which all bits of an entry lie in
 * one cache line, so that a probe costs one miss. The entries are the hashes
 * of the distinct row, family and column prefixes.
 *
 *   (line of 64 bytes)* | kind u8 = 1 | probes u8
 *
 * Of the hash64 h of a prefix, the line is (h >> 32) * lines >> 32, and the
 * n-th probe (from 0) tests bit h * 0x9e3779b97f4a7c15 >> (55 - 9 n) & 511 of
 * the line: bit b is bit b % 8 of byte b / 8. (Such
 * filters are from Putze, Sanders and Singler, "Cache-, Hash- and
 * Space-Efficient Bloom Filters", 2007.)
 *
 * Pure functions; a filter is immutable and may be asked by many threads.
 */

/* Appends the filter of count hashes with so many bits, not 0, for each. 0 or
 * -ENOMEM. */
int bloom_build(const uint64_t *hashes, size_t count, uint32_t bits,
		struct buf *out);
/* What bloom_build would append, in bytes. */
size_t bloom_size(size_t count, uint32_t bits);

/* Whether a prefix of this hash may be there: 1, 0 for certainly not, or
 * -ERR_block_malformed. */
int bloom_may_contain(struct bytes filter, uint64_t hash);
/* A hint to the processor that filter will be asked for hash soon. filter may
 * hold anything, but at least the two bytes of its end. */
void bloom_prefetch(struct bytes filter, uint64_t hash);

#endif
