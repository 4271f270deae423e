#ifndef STORE_TEXT_DUMP_LOAD_H
#define STORE_TEXT_DUMP_LOAD_H

#include "store/store.h"
#include "store/text/dump/dump.h"

/*
 * Loads a dump into a store without tables, which nobody else uses. Pieces of
 * the text are fed as they come. The policies of garbage collection come into
 * force at the end, so that what was shown when it was dumped is there once
 * more, and expires from then on as it would have done. Until loader_finish has
 * returned 0 what is in the store is a part of the dump, and of no use.
 *
 * Of a large value a chunk is held in memory, of others the value, besides what
 * a bulk load takes. One thread at a time uses a loader.
 */
struct loader;

/* *out is freed before s is closed. 0 or -ENOMEM. */
int loader_new(struct store *s, struct loader **out);

/* Before anything is fed: l takes one piece of a table (dump.h), into a store
 * that goes on, by commits. With *table_id 0 it makes the table, which may not
 * be there yet, with mark, borrowed, among its attributes, and tells its id
 * there; else it is there, with this id:
 * -ERR_no_table if another has its name by now. Policies are left to be set
 * when the last piece has come, and what loader_finish returns 0 for is durable
 * with what is made so next. */
void loader_take_pieces(struct loader *l, uint32_t *table_id,
			const struct attribute *mark);

/* NULL is allowed. */
void loader_free(struct loader *l);

/* 0, or an error, after which only loader_free is allowed: -ERR_bad_line and
 * what judges names, keys and values, with the line and what is wrong with it;
 * or what a commit fails with. */
int loader_feed(struct loader *l, struct bytes piece);

/* The text has ended: sets the policies and makes all of it durable. Errors as
 * of loader_feed: -ERR_bad_line if the last line has not come. */
int loader_finish(struct loader *l);

/* What was loaded so far; lives as long as l. */
const struct dump_counts *loader_counts(const struct loader *l);

#endif
