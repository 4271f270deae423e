#ifndef TESTS_UNIT_SMALL_STORE_H
#define TESTS_UNIT_SMALL_STORE_H

#include "tests/unit/mem_store.h"

/* A store so small that some hundred cells make several files, whose work is
 * done when a test says so. */
static inline void small_store_options(struct store_options *o)
{
	mem_store_options(o);
	o->memtable_size = 64 << 10;
	o->file_size = 16 << 10;
	o->blob_threshold = 500;
	o->blob_chunk_size = 1000;
	o->blob_file_size = 8000;
}

/* Bytes of all ssts. */
static inline uint64_t small_store_sst_bytes(struct store *s)
{
	struct store_stats stats;
	uint64_t size = 0;
	size_t i;

	store_stats(s, &stats);
	for (i = 0; i < sizeof(stats.sst_size) / sizeof(*stats.sst_size); i++)
		size += stats.sst_size[i];
	return size;
}

#endif
