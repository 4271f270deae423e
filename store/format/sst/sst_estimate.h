#ifndef STORE_FORMAT_SST_SST_ESTIMATE_H
#define STORE_FORMAT_SST_SST_ESTIMATE_H

#include "store/format/sst/sst.h"

/* About which part of its data is in [start, end), encoded keys, whose end may
 * be empty: open. From 0 to 1, to a block, by the index alone. Errors of
 * reading the index. */
int sst_estimate_share(struct sst *t, struct bytes start, struct bytes end,
		       double *share);

#endif
