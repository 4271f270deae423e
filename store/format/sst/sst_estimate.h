#ifndef STORE_FORMAT_SST_SST_ESTIMATE_H
#define STORE_FORMAT_SST_SST_ESTIMATE_H

#include "store/format/sst/sst.h"

/* About how many of its rows have entries in [start, end), encoded keys, whose
 * end may be empty: open. It is the file's count of rows times the range's part
 * of the data, to a block, by the index alone. Errors of reading the index. */
int sst_estimate_rows(struct sst *t, struct bytes start, struct bytes end,
		      uint64_t *rows);

#endif
