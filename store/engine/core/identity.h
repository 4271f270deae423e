#ifndef STORE_ENGINE_CORE_IDENTITY_H
#define STORE_ENGINE_CORE_IDENTITY_H

#include "store/engine/core/engine.h"

/*
 * Which store this is, and places in what was written to it.
 *
 * A store has an id of its own from the first time on that it is opened for
 * writing: when it is made, and when a backup or a store of format 1 is first
 * written to. So two stores that have part of their history in common, and use
 * the same epochs and sequences from there on, are told apart.
 *
 * A position is store-id:epoch:sequence, of the epoch in which it was told:
 * sequences of what was not synced are given again after a crash, in another
 * epoch.
 */
struct position {
	struct store_id store;
	uint32_t epoch;
	uint64_t sequence;
};

#define POSITION_TEXT_SIZE (STORE_ID_TEXT_SIZE + 32)

/* Reads the head of e's volume; one that is to be written to gets an id if it
 * has none. Comes right after the lease. -ERR_format_newer if this program may
 * not write to it; errors of the volume. */
int engine_identify(struct engine *e);

/* Makes the head of to, whose lease the caller has and which is to hold what
 * from had written up to this sequence: no id yet, and from as its parent. A
 * head of from that is damaged gives no parent. */
int engine_inherit(struct volume *from, struct volume *to, uint64_t sequence);

/* The last write that is seen; of a store that has no id yet, with none. */
void engine_position(struct engine *e, struct position *out);

/* 0 if what e holds has this position, or -ERR_foreign_position, which names
 * both. */
int engine_check_position(struct engine *e, const struct position *p);

void position_text(const struct position *p, char text[POSITION_TEXT_SIZE]);

/* The same back: -ERR_bad_argument. */
int position_parse(struct bytes text, struct position *p);

#endif
