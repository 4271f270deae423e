#include <assert.h>

#include "store/base/coding.h"
#include "store/engine/core/history.h"
#include "store/engine/run/room.h"
#include "store/engine/run/write.h"
#include "store/model/admin/change.h"
#include "store/model/schema_load.h"
#include "store/model/schema_record.h"

int no_table(struct bytes name)
{
	return fail(ERR_no_table, "table \"%s\" not found", err_name(name));
}

int change_begin(struct store *s, struct change *c)
{
	*c = (struct change){ .s = s };
	pthread_mutex_lock(&s->writing);
	/* What goes with the change can be read at once more; without memory,
	 * of a second ago. */
	if (history_note(s->engine) < 0)
		err_clear();
	c->next_table_id = s->next_table_id;
	return schema_copy(s->schema, &c->schema);
}

int change_put(struct change *c, struct table *table)
{
	int err = schema_record_key(table->name, SCHEMA_FAMILY, BYTES_NONE,
				    &c->key);

	table->record_seq = 0; /* see schema_set_births */
	buf_reset(&c->record);
	if (err == 0)
		err = table_encode(table, &c->record);
	if (err == 0)
		err = batch_put(&c->batch, buf_bytes(&c->key),
				buf_bytes(&c->record));
	return err;
}

int change_delete(struct change *c, struct bytes name)
{
	int err = schema_record_key(name, SCHEMA_FAMILY, BYTES_NONE, &c->key);

	if (err == 0)
		err = batch_delete(&c->batch, buf_bytes(&c->key));
	return err;
}

int change_put_next_id(struct change *c)
{
	uint8_t raw[4];
	int err = schema_record_key(BYTES_NONE, SCHEMA_IDS_FAMILY, BYTES_NONE,
				    &c->key);

	put_u32le(raw, c->next_table_id);
	if (err == 0)
		err = batch_put(&c->batch, buf_bytes(&c->key),
				bytes_of(raw, sizeof(raw)));
	return err;
}

int change_put_attribute(struct change *c, const struct attribute *a)
{
	int err = schema_record_key(BYTES_NONE, SCHEMA_ATTRIBUTES_FAMILY,
				    a->name, &c->key);

	if (err == 0 && !a->value.data)
		return batch_delete(&c->batch, buf_bytes(&c->key));
	buf_reset(&c->record);
	if (err == 0)
		err = attribute_encode(a->value, &c->record);
	if (err == 0)
		err = batch_put(&c->batch, buf_bytes(&c->key),
				buf_bytes(&c->record));
	return err;
}

/* Makes the copy what it will be once its records are written: nobody else
 * writes, so that their sequences are known. */
static int finish_schema(struct change *c, struct gc_rules **rules)
{
	uint64_t seq = engine_visible_seq(c->s->engine);

	schema_set_births(c->schema, seq + 1);
	c->schema->seq = seq + c->batch.count;
	return schema_rules(c->schema, rules);
}

int change_end(struct change *c, int err)
{
	struct store *s = c->s;
	struct gc_rules *rules = NULL;
	uint64_t last = 0;

	assert(err < 0 || (c->schema && c->batch.count > 0));
	if (err == 0)
		err = finish_schema(c, &rules);
	if (err == 0)
		err = engine_write(s->engine, &c->batch, false, &last);
	if (err == 0) {
		assert(last == c->schema->seq);
		schema_install(s, c->schema, rules);
		/* They are the store's now. */
		c->schema = NULL;
		rules = NULL;
		s->next_table_id = c->next_table_id;
	}
	pthread_mutex_unlock(&s->writing);
	gc_rules_put(rules);
	schema_put(c->schema);
	batch_release(&c->batch);
	buf_release(&c->key);
	buf_release(&c->record);
	if (err == 0)
		err = engine_sync(s->engine);
	/* What was dropped gives room. */
	if (err == 0)
		engine_room_look(s->engine);
	return err;
}

int change_table(struct store *s, struct bytes name,
		 int (*fn)(struct store *s, struct table *t, void *arg),
		 void *arg)
{
	struct change c;
	struct table *t;
	int err;

	err = change_begin(s, &c);
	if (err < 0)
		return change_end(&c, err);
	t = schema_find(c.schema, name);
	if (!t)
		return change_end(&c, no_table(name));
	err = fn(s, t, arg);
	if (err == 0)
		err = change_put(&c, t);
	return change_end(&c, err);
}
