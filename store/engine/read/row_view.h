#ifndef STORE_ENGINE_READ_ROW_VIEW_H
#define STORE_ENGINE_READ_ROW_VIEW_H

#include "store/format/sst/sst.h"

/*
 * Shows an iterator over cells as one over rows, as a row directory would:
 * keys are row prefixes, values are summaries (format/rowdir.h). A summary may
 * claim a delete where there is none, and name another put than the newest; it
 * never leaves out a delete. Only seek, next and close.
 *
 * cells pass to the view, also on failure. has_deletes tells whether there may
 * be point deletes among them at all.
 */
int row_view_new(struct iter *cells, bool has_deletes, struct iter **out);

/* The rows of an sst, by its directory if it has one. */
int row_view_of_sst(struct sst *t, struct iter **out);

#endif
