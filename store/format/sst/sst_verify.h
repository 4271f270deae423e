#ifndef STORE_FORMAT_SST_SST_VERIFY_H
#define STORE_FORMAT_SST_SST_VERIFY_H

#include "store/format/sst/sst.h"

/* Re-reads every block from the volume, past the cache (which may be NULL if
 * nothing but this is called), checks checksums, order,
 * filter (each key must hit) and properties. 0 or the first error, with file
 * and offset. */
int sst_verify(struct sst *t);

#endif
