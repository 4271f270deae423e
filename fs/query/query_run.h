#ifndef FS_QUERY_QUERY_RUN_H
#define FS_QUERY_QUERY_RUN_H

#include "fs/cells/place.h"
#include "fs/query/query.h"

/*
 * A query at work. query_open has placed it before its first result; each call
 * of the one query_next* that fits its form gives another, until 0. Cells and
 * segments are borrowed until the next call on the query. Large values are not
 * read: see scan_range.keep_large.
 *
 * A signal to whoever asks ends a walk with -EINTR (loop_is_interrupted). An
 * error stays: further calls return it until query_rewind.
 */

/* Places it before the first result again, on the same snapshot. 0, or an error
 * (as of place_enter if the table was dropped), which stays. */
int query_rewind(struct fs *fs, struct query *q) EXCLUDES(fs->tree);

/* As query_rewind, before this row, from which on the step limit counts. */
int query_rewind_at(struct fs *fs, struct query *q, struct bytes row)
	EXCLUDES(fs->tree);

/* The next cell that passes: 1, 0 at the end, or an error. */
int query_next(struct query *q, struct cell *cell);

/* The next row that passes, by its first cell that does: 1, 0 at the end, or an
 * error. Of *cell only the row may be used: there may be no more. */
int query_next_row(struct query *q, struct cell *cell);

/*
 * The next segment: 1, 0 at the end, or an error. A segment is what follows the
 * prefix in a row's key, up to and with the delimiter, or all of it if there is
 * none; each is given once, however many rows begin with it. *cell is the first
 * that was met in it. The step limit counts segments.
 */
int query_next_segment(struct query *q, struct cell *cell,
		       struct bytes *segment);

/* The next call may not come soon: see scan_rest, also for what is left of the
 * cell given last. */
void query_rest(struct query *q);

/* Whether rows, or segments, come in descending order. */
bool query_is_reverse(const struct query *q);

/* Whether a segment ends its row's key, that is, does not end with the
 * delimiter. */
bool query_is_row(const struct query *q, struct bytes segment);

#endif
