#ifndef TESTS_UNIT_SMALL_STORE_H
#define TESTS_UNIT_SMALL_STORE_H

#include "store/engine/run/dead.h"
#include "store/engine/run/step.h"
#include "store/engine/run/unit.h"
#include "store/model/model.h"
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

/* All background work that there is. */
static inline void small_store_work(struct store *s)
{
	int err = 1, steps;

	for (steps = 0; err > 0 && steps < 10000; steps++)
		err = engine_step(store_engine(s));
	ck_assert_int_eq(err, 0);
}

static inline void small_store_flush(struct store *s)
{
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	small_store_work(s);
}

/* So many seconds without a write. */
static inline void small_store_wait(struct store *s, unsigned int ticks)
{
	while (ticks-- > 0) {
		engine_tick(store_engine(s));
		small_store_work(s);
	}
}

static inline struct store_stats small_store_stats(struct store *s)
{
	struct store_stats stats;

	store_stats(s, &stats);
	return stats;
}

/* Bytes of all ssts. */
static inline uint64_t small_store_sst_bytes(struct store *s)
{
	struct store_stats stats = small_store_stats(s);
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < sizeof(stats.sst_size) / sizeof(*stats.sst_size); i++)
		size += stats.sst_size[i];
	return size;
}

#endif
