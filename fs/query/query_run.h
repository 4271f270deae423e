#ifndef FS_QUERY_QUERY_RUN_H
#define FS_QUERY_QUERY_RUN_H

#include "fs/query/query.h"

/* From the beginning again, on the same snapshot. */
int query_rewind(struct fs *fs, struct query *q);

/* The next cell: 1, 0 at the end, or an error. */
int query_next(struct query *q, struct cell *cell);

/* The first cell that passes of the next row. */
int query_next_row(struct query *q, struct cell *cell);

/*
 * The next segment: what follows the prefix in a row's key, up to and with the
 * delimiter; all of it if there is none. limit counts segments.
 */
int query_next_segment(struct query *q, struct cell *cell,
		       struct bytes *segment);

/* Whether a segment ends its key. */
bool query_is_row(const struct query *q, struct bytes segment);

/* Makes a prefix the first key after all that begin with it; false if there is
 * none. */
bool query_pass_prefix(struct buf *prefix);

#endif
