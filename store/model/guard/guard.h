#ifndef STORE_MODEL_GUARD_GUARD_H
#define STORE_MODEL_GUARD_GUARD_H

#include "store/engine/files/batch.h"

/*
 * Rows about which something is found out while others write, and whether one
 * of them has changed the row since: commits tell what they are about to write,
 * so that nobody has to look for it. It costs them nothing while there is no
 * guard, and else a comparison for each record and guard. A list of them is
 * zeroed, it is empty; whoever has it has a lock for it.
 */
struct row_guard {
	struct buf row; /* encoded table and row; owned */
	bool changed;
	struct row_guard *next; /* in the list */
};

struct row_guards {
	struct row_guard *first;
};

/* Puts g into the list, of this row: nothing has changed. 0 or -ENOMEM, and
 * then it is not in. */
int row_guard_add(struct row_guards *list, struct row_guard *g,
		  struct bytes row);

/* Takes g out of the list, in which it is. */
void row_guard_remove(struct row_guards *list, struct row_guard *g);

/* What a commit writes, and one of which it is not known. */
void row_guards_note(struct row_guards *list, const struct batch *batch);
void row_guards_note_all(struct row_guards *list);

#endif
