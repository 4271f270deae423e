#include "store/model/model.h"

/* What of the heat is asked for without a picture. */

bool store_heat_counts(struct store *s, uint32_t table_id,
		       uint64_t counts[HEAT_METRICS])
{
	return heat_counts(s->sampler.heat, table_id, counts);
}

int store_heat_hottest(struct store *s, uint32_t table_id, struct buf *start,
		       struct buf *end, double *share)
{
	return heat_hottest(s->sampler.heat, table_id, start, end, share);
}
