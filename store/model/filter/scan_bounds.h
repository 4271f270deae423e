#ifndef STORE_MODEL_FILTER_SCAN_BOUNDS_H
#define STORE_MODEL_FILTER_SCAN_BOUNDS_H

#include "store/model/filter/filter_run.h"
#include "store/scan.h"

/*
 * The encoded keys between which a scan of r looks in a table, by its id, as
 * narrow as its filter, whose need this is, lets them be: from *start on,
 * before *end, which are empty buffers at first. *prefix is the size of the
 * leading part of start that filters of files know, or 0: only one row, family
 * or column has one. 0 or -ENOMEM.
 */
int scan_bounds(const struct scan_range *r, const struct filter_need *need,
		uint32_t table, struct buf *start, struct buf *end,
		size_t *prefix);

#endif
