#ifndef TESTS_UNIT_MEM_STORE_H
#define TESTS_UNIT_MEM_STORE_H

#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* Stores in memory whose work is done when a test says so. */

static inline void mem_store_options(struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
}

/* A new store with these options, or with those above. It has its volume. */
static inline struct store *mem_store(const struct store_options *options)
{
	struct store_options plain;
	struct volume *volume;
	struct store *s;

	mem_store_options(&plain);
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(
		store_open_volume(volume, options ? options : &plain, &s), 0);
	return s;
}

#endif
