#ifndef STORE_ENGINE_CORE_POSITION_H
#define STORE_ENGINE_CORE_POSITION_H

#include "store/engine/core/engine.h"
#include "store/engine/files/identity.h"

/*
 * A place in what was written to a store: store-id:epoch:sequence, of the epoch
 * in which it was told. All up to it is durable: sequences of what was not
 * synced are given again after a crash, so of these none is ever told.
 */
struct position {
	struct store_id store;
	uint32_t epoch;
	uint64_t sequence;
};

#define POSITION_TEXT_SIZE (STORE_ID_TEXT_SIZE + 32)

/* The last write that is known to be durable; with no id if the store was
 * opened for reading and has none yet. */
void engine_position(struct engine *e, struct position *out);

/* 0 if what e holds has this position, or -ERR_foreign_position, which names
 * both: of another store, of one that has no id, or not there. */
int engine_check_position(struct engine *e, const struct position *p);

void position_text(const struct position *p, char text[POSITION_TEXT_SIZE]);

/* The same back: -ERR_bad_argument. */
int position_parse(struct bytes text, struct position *p);

#endif
