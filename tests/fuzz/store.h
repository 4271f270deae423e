#ifndef TESTS_FUZZ_STORE_H
#define TESTS_FUZZ_STORE_H

#include "store/store.h"
#include "tests/fuzz/target.h"
#include "tests/sim/volume_mem.h"

static inline uint64_t fuzz_now(void *context)
{
	(void)context;
	return UINT64_C(1700000000000000);
}

/* A new store in memory, for a target whose text goes to one: empty tables "t"
 * and "u", each with the families "f" and "g" of values and "sum". The caller
 * closes it. */
static inline struct store *fuzz_store(void)
{
	static const struct clock clock = { fuzz_now, NULL };
	const struct family_spec families[] = {
		{ BYTES_LITERAL("f"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("g"), NULL, FAMILY_BYTES },
		{ BYTES_LITERAL("sum"), NULL, FAMILY_INTSUM },
	};
	struct store_options options;
	struct volume *volume;
	struct store *s;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.memtable_size = 1 << 20;
	options.clock = &clock;
	MUST(volume_mem_new(&volume) == 0);
	MUST(store_open_volume(volume, &options, &s) == 0);
	MUST(store_create_table(s, BYTES_LITERAL("t"), false, families, 3) ==
	     0);
	MUST(store_create_table(s, BYTES_LITERAL("u"), false, families, 3) ==
	     0);
	return s;
}

#endif
