#ifndef STORE_MODEL_RECENT_REMOVED_H
#define STORE_MODEL_RECENT_REMOVED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "store/engine/files/batch.h"

/*
 * How often something was removed from rows, for who remembers something of
 * what is in one and has to forget it then. By a hash of table and row, and of
 * the table for what is removed from more rows than one: of two with the same
 * hash each counts for both. Nothing is counted before anybody asked. Zeroed,
 * it is empty; any thread, without a lock.
 */
#define REMOVED_ROWS 4096
#define REMOVED_TABLES 256

struct removed {
	atomic_bool wanted;
	_Atomic uint32_t rows[REMOVED_ROWS], tables[REMOVED_TABLES];
};

/* Counts what a commit removes: call it before the commit. */
void removed_note(struct removed *r, const struct batch *batch);

/* The same of what is removed from all rows of a table. */
void removed_note_table(struct removed *r, uint32_t table);

/* Another number than before if something was removed from the row since. */
uint32_t removed_get(struct removed *r, uint32_t table, struct bytes row);

#endif
