#ifndef STORE_FORMAT_SST_SST_SALVAGE_H
#define STORE_FORMAT_SST_SST_SALVAGE_H

#include "store/format/sst/sst.h"

/* 0 however little was left; -ENOMEM, -ERR_format_newer. */
int sst_salvage(struct reader *reader, const struct salvage *to);

#endif
