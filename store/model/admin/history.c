#include "store/base/coding.h"
#include "store/engine/run/step.h"
#include "store/model/schema_load.h"

/* The setting of how much of the past is kept; it is read in schema_load.c. */

void store_history(struct store *s, struct history *out)
{
	struct schema *schema = store_schema(s);
	struct store_stats stats;

	schema_history(schema, &out->keep_us, &out->max_size);
	schema_put(schema);
	store_stats(s, &stats);
	out->size = stats.history_size;
	out->oldest_us = stats.history_since_us;
}

int store_set_history(struct store *s, uint64_t keep_us, uint64_t max_size)
{
	uint8_t text[2 * VARINT_MAX_SIZE];
	uint8_t *end = put_varint(put_varint(text, keep_us), max_size);
	int err = store_set_attribute(
		s, BYTES_NONE, BYTES_LITERAL(STORE_HISTORY),
		keep_us > 0 ? bytes_of(text, (size_t)(end - text))
			    : BYTES_NONE);

	/* The space is there when this is done. */
	return err < 0 ? err : engine_trim_history(s->engine);
}
