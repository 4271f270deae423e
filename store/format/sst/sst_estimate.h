#ifndef STORE_FORMAT_SST_SST_ESTIMATE_H
#define STORE_FORMAT_SST_SST_ESTIMATE_H

#include "store/format/sst/sst.h"

/* About how many of its rows have entries in [start, end), whose end may be
 * empty: their part of the data, to a block. */
int sst_estimate_rows(struct sst *t, struct bytes start, struct bytes end,
		      uint64_t *rows);

#endif
