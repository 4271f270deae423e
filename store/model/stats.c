#include "store/engine/core/trouble.h"
#include "store/engine/read/statistics.h"
#include "store/engine/run/write.h"
#include "store/model/model.h"
#include "store/stats.h"

/* What is told of a running store; all of it is the engine's. */
void store_stats(struct store *s, struct store_stats *out)
{
	engine_stats(s->engine, out);
}

uint64_t store_seq(struct store *s)
{
	return engine_visible_seq(s->engine);
}

int store_health(struct store *s)
{
	return engine_health(s->engine);
}
