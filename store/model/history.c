#include "store/base/coding.h"
#include "store/engine/core/history.h"
#include "store/engine/run/step.h"
#include "store/model/history.h"
#include "store/model/model.h"

/* The setting is an attribute of the store: varint keep_us | varint max_size.
 * What is none of that is as if it was not there. */
static void setting_of(const struct schema *schema, uint64_t *keep_us,
		       uint64_t *max_size)
{
	struct bytes value;

	if (schema_attribute(schema, BYTES_NONE, BYTES_LITERAL(STORE_HISTORY),
			     &value) &&
	    take_varint(&value, keep_us) && take_varint(&value, max_size) &&
	    value.size == 0)
		return;
	*keep_us = *max_size = 0;
}

void history_install(struct store *s, const struct schema *schema)
{
	uint64_t keep_us, max_size;

	setting_of(schema, &keep_us, &max_size);
	history_keep(s->engine, keep_us, max_size);
}

void store_history(struct store *s, struct history *out)
{
	struct schema *schema = store_schema(s);
	struct store_stats stats;

	setting_of(schema, &out->keep_us, &out->max_size);
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
