#ifndef FS_QUERY_SIZED_POINTS_H
#define FS_QUERY_SIZED_POINTS_H

#include "fs/query/sized_text.h"
#include "store/base/memory.h"

/*
 * Where rows begin in the text of an export, so that a read of its middle needs
 * no more than what is between two of them to be made. One about each stride
 * bytes; while there is no memory for as many, every other one goes. They are
 * counted as MEMORY_EXPORTS. One thread at a time.
 */
struct sized_points {
	struct sized_point *items; /* owned, with their rows */
	size_t count, room;
	uint64_t stride; /* bytes of text from one to the next */
	uint64_t memory; /* taken for them */
};

#define SIZED_POINTS_INIT ((struct sized_points){ .stride = UINT64_C(1) << 20 })

/* Takes a copy of one that comes after all others. Without any a text is read
 * from its beginning, so none is kept where there is no memory: 0 then, too; or
 * -ENOMEM. */
int sized_points_add(struct sized_points *p, struct memory *m, uint64_t offset,
		     struct bytes row);

/* The last one at or before offset; NULL: the beginning. */
const struct sized_point *sized_points_before(const struct sized_points *p,
					      uint64_t offset);

void sized_points_release(struct sized_points *p, struct memory *m);

#endif
