#ifndef STORE_MODEL_LOOK_H
#define STORE_MODEL_LOOK_H

#include "store/engine/files/batch.h"
#include "store/gc_policy.h"
#include "store/model/model.h"

/*
 * Looking through a table before its schema changes, while others write. The
 * walk goes without the writing lock; what commits put meanwhile is noted, and
 * if that matters only it is looked at again. So under the lock, where the
 * schema changes, there is next to nothing left to do. After some rounds in
 * which writers were faster the caller walks under the lock.
 *
 * One look at a time: the lock s->looking, which comes before s->writing, is
 * held from look_begin to look_end.
 */
struct look {
	struct store *s;
	uint32_t table;    /* its id; 0: there is nothing to look at */
	uint64_t birth;    /* of the family; 0: of all families */
	struct buf family; /* its name; owned */
	/* What is noted of commits. Protected by s->writing. */
	bool micros;        /* only times that are no whole millisecond */
	bool keeps;         /* columns are kept, for bury */
	bool any;           /* something was put, or all that can be kept */
	struct buf columns; /* sized column prefixes; owned */
};

/* What must be empty before the schema changes, at the moment at which the walk
 * begins. */

/* 0, or -ERR_table_not_empty if a row of the table has a cell that a reader
 * would see. */
int empty_table(struct store *s, struct bytes table);

/* 0, or -ERR_family_not_empty if a family that is not of aggregates has a cell
 * that was set. Parts of aggregates, which a repair leaves in a family whose
 * type it has lost, are none. Walks the table up to the first such cell. */
int empty_family(struct store *s, uint32_t table, struct bytes family);

/* 0, or -ERR_bad_timestamp if a cell of the table has a timestamp that is no
 * whole millisecond. Walks all of the table if none has. */
int empty_of_micros(struct store *s, uint32_t table);

/* Each is begun by its function and ended by look_end in every case. They fail
 * as what they do does: empty_family, empty_of_micros; look_bury holds GC time,
 * and leaves no more than a few columns. What is not there, or needs no look (a
 * family of aggregates), is the caller's to find out under the lock. */
int look_empty_family(struct look *l, struct store *s, struct bytes table,
		      struct bytes family);
int look_of_micros(struct look *l, struct store *s, struct bytes table);
int look_bury(struct look *l, struct store *s, struct bytes table,
	      struct bytes family, const struct gc_policy *next);
void look_end(struct look *l);

/* Under the lock: whether all that the look was for holds still, of this table
 * and family; birth is 0 where it was of all. If not, the caller walks. */
bool look_holds(const struct look *l, uint32_t table, uint64_t birth);

/* Under the lock, if the look holds: what is left to bury. */
int look_bury_rest(struct look *l);

/* Of a commit that is about to be written, and of a bulk load. Need s->writing.
 */
void look_note(struct look *l, const struct batch *batch);
void look_note_all(struct look *l);

#endif
