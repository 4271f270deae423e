#ifndef STORE_ENGINE_BULK_BULK_PUTS_H
#define STORE_ENGINE_BULK_BULK_PUTS_H

#include "store/base/buf.h"
#include "store/base/memory.h"
#include "store/format/key.h"

/*
 * The puts of a load that are in memory: their bytes as they come in one
 * buffer, and what points at them, which is sorted before they are written.
 * One thread at a time uses it.
 */

/*
 * One of them: its key's first bytes after the table, for quick comparison, and
 * where the rest lies. Equal version keys are told apart by place, which grows
 * with time.
 */
struct put {
	uint64_t head; /* see key_head */
	size_t place;  /* in data: u32 key size, u32 value size, u8 kind, key,
			  value */
};

struct puts {
	struct memory *memory; /* where taken is taken from */
	size_t taken;          /* of MEMORY_IMPORTS, for data and list */
	struct buf data;
	struct put *list;
	size_t count, capacity; /* of list */
	bool sorted;            /* they ascend strictly */
	bool many_tables;       /* heads, which lack the table, do not order */
	struct buf last;        /* version key of the newest */
};

void puts_init(struct puts *p, struct memory *memory);

/* Empties it; others may need what it took. */
void puts_release(struct puts *p);

/* Takes memory for one more put of this key and value: false if there is none,
 * and what is there is enough for a run. */
bool puts_take_memory(struct puts *p, struct bytes version_key,
		      struct bytes value);

/* What they take with one more of these. */
size_t puts_size(const struct puts *p, struct bytes version_key,
		 struct bytes value);

/* Key and value are copied. 0 or -ENOMEM. */
int puts_add(struct puts *p, struct bytes version_key, enum key_kind kind,
	     struct bytes value);

/* By key; of equal ones the last added first. */
void puts_sort(struct puts *p);

/* The i-th; valid until the next is added. */
struct bytes puts_key(const struct puts *p, size_t i);
enum key_kind puts_kind(const struct puts *p, size_t i);
struct bytes puts_value(const struct puts *p, size_t i);

#endif
