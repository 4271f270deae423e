#ifndef STORE_MODEL_SAMPLE_SAMPLE_H
#define STORE_MODEL_SAMPLE_SAMPLE_H

#include "store/engine/core/engine.h"
#include "store/engine/files/batch.h"
#include "store/heat/heat.h"

/* What of a store counts as an operation of its heat, see store/heat/heat.h. */
struct sampler {
	struct engine *engine; /* borrowed */
	struct heat *heat;     /* owned */
	bool failed;           /* the last tick */
};

/* clock is borrowed. 0 or -ENOMEM; then s is to be ended as well, and so is one
 * that is zeroed. */
int sample_begin(struct sampler *s, struct engine *engine,
		 struct volume *volume, const struct clock *clock,
		 bool read_only);

/* What waits is written before the end. Errors of either are told in the event
 * log. One call at a time. */
void sample_end(struct sampler *s);
void sample_tick(struct sampler *s);

/* sample_batch of what is to be sampled. */
void sample_changes(struct heat *h, const struct batch *batch);

/* Each change of a batch that was written is a write. */
static inline void sample_batch(struct heat *h, const struct batch *batch)
{
	if (!heat_passes(h, batch->count))
		sample_changes(h, batch);
}

/* A read or, of a load, a write on a row. */
static inline void sample_row(struct heat *h, uint32_t table, struct bytes row,
			      enum heat_metric metric, uint64_t bytes)
{
	if (heat_is_due(h))
		heat_note(h, table, row, metric, bytes);
}

#endif
