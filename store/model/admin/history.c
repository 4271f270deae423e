#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/model/admin/dropped.h"
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
	out->lost_us = stats.history_lost_us;
	/* By now it would have gone anyway. */
	if (out->lost_us + out->keep_us < engine_now(s->engine))
		out->lost_us = 0;
}

/* Keeps none, nor what is noted for it. */
static int keep_nothing(struct store *s)
{
	struct attribute *changes = calloc(DROPPED_MAX + 1, sizeof(*changes));
	struct schema *schema = store_schema(s);
	size_t count;
	int err = -ENOMEM;

	if (changes) {
		count = dropped_all(&schema->attributes, changes);
		changes[count++].name = BYTES_LITERAL(STORE_HISTORY);
		err = store_set_attributes(s, BYTES_NONE, changes, count);
	}
	schema_put(schema);
	free(changes);
	return err;
}

int store_set_history(struct store *s, uint64_t keep_us, uint64_t max_size)
{
	uint8_t text[2 * VARINT_MAX_SIZE];
	uint8_t *end = put_varint(put_varint(text, keep_us), max_size);
	struct bytes value = bytes_of(text, (size_t)(end - text));
	int err = keep_us > 0
			  ? store_set_attribute(s, BYTES_NONE,
						BYTES_LITERAL(STORE_HISTORY),
						value)
			  : keep_nothing(s);

	/* The space is there when this is done. */
	return err < 0 ? err : engine_trim_history(s->engine);
}

int store_begin_history(struct store *s, uint64_t keep_us)
{
	return engine_visible_seq(s->engine) > 0
		       ? 0
		       : store_set_history(s, keep_us, 0);
}

int store_open_kept(const char *where, const struct store_options *o,
		    struct store **out)
{
	char why[512];
	int err = store_open(where, o, out);

	if (err < 0 || !o->create || o->read_only)
		return err;
	err = store_begin_history(*out, STORE_HISTORY_DAY_US);
	if (err == 0)
		return 0;
	snprintf(why, sizeof(why), "%s", err_detail());
	store_close(*out);
	*out = NULL;
	return err == -ENOMEM ? err : fail(-err, "%s", why);
}
