#ifndef STORE_ENGINE_MEMORY_PARTS_H
#define STORE_ENGINE_MEMORY_PARTS_H

#include "store/aggregate.h"
#include "store/base/arena.h"

/*
 * The merges of one version in a memtable, joined as they come: a counter that
 * was added to a million times is read by a few steps. Each merge is a part, on
 * the memtable's arena, and goes on from the one right below it, the older one,
 * if nothing is between the two for anybody who sees the newer. Parts that go
 * on from one another are a chain. Now and then a part keeps what it and all
 * below it in its chain come to. That holds for every reader that sees the
 * part, as he sees what is older; so no snapshot has to be asked for.
 *
 * How often is a matter of price. Between two that keep it there lies so much
 * to be merged as they take memory: a reader merges no more than that, and the
 * memory of large states, which are sketches, is less than doubled.
 *
 * A part is not changed any more once anybody can see it. That none is kept is
 * never wrong, so it takes only what room there is.
 */
struct part {
	uint32_t older;  /* place of the part that this goes on from; 0: none */
	uint32_t first;  /* of the oldest of the chain: the user's name for it
			    */
	uint32_t joined; /* place of a struct part_joined; 0: not kept here */
	int32_t left;    /* bytes to merge until it is kept again */
	uint32_t size;   /* of the value, which follows */
};

/* Of which values this is what they come to, see format/joined.h. */
struct part_joined {
	uint32_t size;
	uint8_t bytes[];
};

/* Ends the making of the part at place: its size and value are set, and first
 * if it begins a chain; older as in struct part. Takes at most room bytes of
 * the arena. scratch is any memory. The writer's. */
void part_link(struct arena *a, uint32_t place, uint32_t older, size_t room,
	       struct buf *scratch);

/* Adds to to what the part and all below it in its chain come to. 0 or -ENOMEM.
 */
int part_merge(const struct arena *a, const struct part *p,
	       struct aggregate *to);

#endif
