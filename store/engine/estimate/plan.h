#ifndef STORE_ENGINE_ESTIMATE_PLAN_H
#define STORE_ENGINE_ESTIMATE_PLAN_H

#include "store/engine/core/engine.h"
#include "store/scan.h"

/*
 * What a read of the encoded keys [start, end) would ask: fills the first half
 * of out, of which since_us is set. prefix as in scan_bounds. Reads indexes and
 * filters, no data. 0, or an error of that.
 */
int engine_plan(struct engine *e, struct bytes start, struct bytes end,
		size_t prefix, struct scan_plan *out);

#endif
