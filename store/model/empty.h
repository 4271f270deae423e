#ifndef STORE_MODEL_EMPTY_H
#define STORE_MODEL_EMPTY_H

#include "store/model/model.h"

/*
 * What must be empty before the schema changes. All need s->writing, and look
 * at the present moment, so that no cell comes between the look and the change.
 */

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

#endif
