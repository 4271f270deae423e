#ifndef STORE_ESTIMATE_H
#define STORE_ESTIMATE_H

#include "store/base/bytes.h"

/*
 * What can be told of a range of rows from the files' own figures, in a time
 * that does not depend on how much data is in it. Both calls take the rows
 * start <= key < end, where empty is open, and fail with -ERR_no_table.
 */
struct store;

/* About how many rows there are in the range. Rows that were emptied column by
 * column may count, and those changed since the last compaction more than once.
 */
int store_estimate_rows(struct store *s, struct bytes table, struct bytes start,
			struct bytes end, uint64_t *rows);

/*
 * Bigtable's SampleRowKeys: rows that part the range into pieces with about as
 * much data each, for whoever reads them side by side. Calls each with such
 * rows, in order, and the bytes stored before each; then with an empty row and
 * the bytes of all. What is only in memory and the log does not count. row is
 * borrowed for the call. A negative result of each ends it and is returned.
 */
int store_sample_rows(struct store *s, struct bytes table, struct bytes start,
		      struct bytes end,
		      int (*each)(void *context, struct bytes row,
				  uint64_t size),
		      void *context);

#endif
