#ifndef STORE_ENGINE_PURGE_ERASING_H
#define STORE_ENGINE_PURGE_ERASING_H

#include "store/engine/files/version.h"

/*
 * What is erased: all entries with start <= key < end that are not newer than
 * seq, and what else names such a key, which is the bounds of range tombstones:
 * one may not begin or end in there, since a bound is written as it is. Where
 * one does, it is cut back to the next row outside that any file has: what lies
 * in between is nothing, so it hides the same as before. One that only spans a
 * range stays, as it tells nothing of what is in there.
 *
 * Of one thread; the version stays referenced and unchanged meanwhile.
 */
struct erase_range {
	struct bytes start; /* encoded, no more than the first key */
	struct bytes end;   /* an encoded key or prefix; not empty */
};

/* Rows on both sides of a range, found when one is asked for. */
struct erase_edges {
	struct buf before, after; /* empty: there is none */
	bool known;
};

struct erasing {
	const struct erase_range *ranges; /* borrowed; they ascend and do not
					     overlap */
	size_t count;
	uint64_t seq;
	const struct version *version; /* borrowed */
	struct erase_edges *edges;     /* owned; of each range */
};

/* 0 or -ENOMEM. */
int erasing_init(struct erasing *g, const struct erase_range *ranges,
		 size_t count, uint64_t seq, const struct version *v);
void erasing_release(struct erasing *g);

/* Whether the entry with this key, full, goes. */
bool erasing_takes(const struct erasing *g, struct bytes key);

/* The first range that ends behind key; count if there is none. */
size_t erasing_find(const struct erasing *g, struct bytes key);

/* Whether anything between these bounds, both included, lies in a range. */
bool erasing_touches(const struct erasing *g, struct bytes smallest,
		     struct bytes largest);

/* Whether t may not stay as it is. */
bool erasing_cuts(const struct erasing *g, const struct tombstone *t);

/* Makes t what stays of it: 1, 0 if that is nothing, or an error of reading the
 * files. Its bounds live as long as g. */
int erasing_cut(struct erasing *g, struct tombstone *t);

#endif
