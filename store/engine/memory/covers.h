#ifndef STORE_ENGINE_MEMORY_COVERS_H
#define STORE_ENGINE_MEMORY_COVERS_H

#include "store/base/arena.h"

/*
 * The tombstones over one fragment of a memtable, newest first: a list on the
 * memtable's arena, named by the place of its first. What is there is never
 * changed, so fragments may share the ends of their lists, and any number of
 * threads may read while one pushes.
 */
struct cover {
	uint64_t seq;
	uint32_t older; /* 0: this is the oldest */
	uint32_t jump;  /* one of the older, several steps on */
	uint32_t depth; /* how many there are from here on */
};

/* A list with seq, which is greater than all there, before those at place,
 * which may be 0: its place, or 0 if the arena is full. */
uint32_t covers_push(struct arena *a, uint32_t place, uint64_t seq);

/* From place on, which may be 0, the newest that visible_seq sees; 0 if none.
 * It takes some log2(depth) steps. */
uint32_t covers_find(const struct arena *a, uint32_t place,
		     uint64_t visible_seq);

/* The sequence of the cover at place; 0 at 0. */
uint64_t covers_seq(const struct arena *a, uint32_t place);

#endif
