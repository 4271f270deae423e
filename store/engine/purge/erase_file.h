#ifndef STORE_ENGINE_PURGE_ERASE_FILE_H
#define STORE_ENGINE_PURGE_ERASE_FILE_H

#include "store/engine/core/state.h"
#include "store/engine/purge/erasing.h"

/*
 * One sst, of the tree or of the past, written anew without what is erased: in
 * the same place, with all else as it was. No snapshot and no rule has a say,
 * so it is no merge: what was not to go is there still, and hides and is hidden
 * as before.
 */
struct erase_counts {
	uint64_t entries; /* erased, tombstones among them */
	uint64_t files;   /* written anew, or gone */
	uint64_t size;    /* bytes of these */
};

/* Whether t has anything that goes: 1, 0 or an error of reading. */
int erase_is_in(const struct erasing *g, struct sst *t);

/* How a file is written anew. */
struct erase_how {
	struct engine *engine;
	struct erasing *erasing;
	unsigned int level; /* recorded */
	/* NULL: not needed. As in merge_context, of chunks that move. */
	int (*move)(void *context, struct bytes *list);
	void *move_context;
	struct erase_counts *counts;
};

/* Writes t anew: *id and *size are those of the file, which is durable and was
 * read back; 0: nothing is left of t. After an error there is none. Lets
 * flushes go before it, so it needs work. */
int erase_file(const struct erase_how *how, struct sst *t, uint64_t *id,
	       uint64_t *size);

#endif
