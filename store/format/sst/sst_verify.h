#ifndef STORE_FORMAT_SST_SST_VERIFY_H
#define STORE_FORMAT_SST_SST_VERIFY_H

#include "store/format/sst/sst.h"

/* Reads every block again from the volume, past the cache, which may be NULL if
 * nothing but this is called, and checks checksums, order, the filter (each key
 * must hit), the row directory and the properties. The file must have a filter.
 * 0 or the first error, with file and offset. */
int sst_verify(struct sst *t);

#endif
