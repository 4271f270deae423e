#ifndef FS_CELLS_SEEN_H
#define FS_CELLS_SEEN_H

#include "fs/cells/cell.h"

/*
 * What the last lookup of a row saw there: its columns. A path is walked name
 * by name, so its families and cells are asked for next; as long as nothing is
 * written meanwhile, that needs no store. Only one row, and only one with few
 * columns (32) in a table without an age rule, which hides cells without a
 * write. And the cell of such a table that was missing last: who makes one, or
 * a row, has looked for it just before.
 *
 * Calls may come from any thread and never wait: of what another thread is at,
 * nothing is known. seq is store_seq at the time of the question: what was seen
 * is known only as long as that is still the last write.
 */
struct seen;

/* 0, or -ENOMEM. */
int seen_new(struct seen **out);
/* NULL is allowed. */
void seen_free(struct seen *s);

/* Begins anew, with path's row: whether this thread is to add its columns, in
 * their order, and then to end. Between, it holds the lock. */
bool seen_begin(struct seen *s, const struct path *path);
/* The names are copied. What does not fit makes all of it unknown. */
void seen_add(struct seen *s, const struct cell *cell,
	      const struct cell_info *info);
/* All columns were added, as of seq; 0: they were not. */
void seen_end(struct seen *s, uint64_t seq);

/* path's cell was missing in the store, where seq was the last write. */
void seen_none(struct seen *s, const struct path *path, uint64_t seq);

/* path's row, family or cell, by kind: 1 with *info as cell_first or cell_stat
 * gives it, 0 if there is none, -1 if that is not known, as it is of a row that
 * is there. */
int seen_find(struct seen *s, const struct path *path, enum node_kind kind,
	      uint64_t seq, struct cell_info *info);

/* Adds the families of path's row (kind NODE_ROW), some of them several times,
 * or the qualifiers of path's family (NODE_FAMILY): 1, 0 if they are not known,
 * or -ENOMEM. */
int seen_add_names(struct seen *s, const struct path *path, enum node_kind kind,
		   uint64_t seq, struct names *out);

#endif
