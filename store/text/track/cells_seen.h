#ifndef STORE_TEXT_TRACK_CELLS_SEEN_H
#define STORE_TEXT_TRACK_CELLS_SEEN_H

#include "store/base/bytes.h"

/*
 * Which cells an import has set already, so that those that a later record
 * replaces are counted. Cells are known by 64 bits of a hash: of ten million
 * the odds are 1 to 400,000 that one is taken for another.
 */
struct cells_seen {
	uint64_t *slots; /* owned; 0 is free; a power of two of them */
	size_t capacity, count;
	size_t capacity_max; /* slots */
	bool full;           /* some cell did not fit any more */
};

/* Up to so many bytes; SIZE_MAX: as many as there are. */
void cells_seen_init(struct cells_seen *c, size_t size_max);
void cells_seen_release(struct cells_seen *c);

/* What stands for a cell; never 0. */
uint64_t cells_seen_hash(struct bytes row, struct bytes family,
			 struct bytes qualifier, uint64_t timestamp_us);

/* A hint that it will be looked for soon. */
void cells_seen_fetch(const struct cells_seen *c, uint64_t hash);

bool cells_seen_has(const struct cells_seen *c, uint64_t hash);

/* 0, or -ENOMEM. When there is no room left it is full, and keeps what it
 * has. */
int cells_seen_add(struct cells_seen *c, uint64_t hash);

#endif
