#ifndef STORE_ENGINE_READ_ROW_VIEW_H
#define STORE_ENGINE_READ_ROW_VIEW_H

#include "store/format/sst/sst.h"

/*
 * Shows an iterator over cells as one over rows, as a row directory would:
 * keys are row prefixes, values are summaries (format/sst/rowdir.h). A summary
 * may claim a delete where there is none, and name another put than the newest;
 * it never leaves out a delete. Only seek, next and close are supported, and
 * seek must not lead into a row, since a summary counts the cells from there
 * on: a row prefix will do.
 */

/*
 * The rows of cells, which pass to the view, also on failure. has_deletes:
 * whether there may be point deletes among them that the reader sees; else one
 * cell of each row is looked at and the rest skipped. 0 or -ENOMEM.
 */
int row_view_new(struct iter *cells, bool has_deletes, struct iter **out);

/* The rows of an sst, which must stay open: by its directory if it has one,
 * else by its cells. Summaries of a bulk-loaded file name its sequence. */
int row_view_of_sst(struct sst *t, struct iter **out);

#endif
