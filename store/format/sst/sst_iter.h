#ifndef STORE_FORMAT_SST_SST_ITER_H
#define STORE_FORMAT_SST_SST_ITER_H

#include "store/format/sst/sst.h"
#include "store/format/sst/sst_format.h"

/*
 * An iterator over the point entries. t must stay open. With fill_cache false,
 * blocks read from the volume are not kept (compaction).
 */
int sst_iter_new(struct sst *t, bool fill_cache, struct iter **out);
int sst_rows_new(struct sst *t, struct iter **out);
int sst_iter_init(struct sst_iter *it, struct sst *t, uint8_t *buffer);
void sst_iter_release(struct sst_iter *it);

/* Of the row directory instead of the entries, if rows. */
int sst_iter_start(struct sst_iter *it, struct sst *t, bool rows,
		   enum sst_read how, uint8_t *buffer);

#endif
