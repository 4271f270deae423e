#include <assert.h>

#include "store/base/coding.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/room.h"
#include "store/engine/run/write.h"
#include "store/model/change.h"
#include "store/model/events.h"
#include "store/model/schema.h"
#include "store/model/schema_record.h"

int change_no_table(struct bytes name)
{
	return fail(ERR_no_table, "table \"%.*s\" not found", (int)name.size,
		    (const char *)name.data);
}

/* The version key of a record in table 0, see model.h. */
static int record_key(struct bytes row, struct bytes family, struct buf *key)
{
	int err;

	buf_reset(key);
	err = key_add_table(key, SCHEMA_TABLE_ID);
	if (err == 0)
		err = key_add_part(key, row);
	if (err == 0)
		err = key_add_part(key, family);
	if (err == 0)
		err = key_add_part(key, BYTES_NONE);
	if (err == 0)
		err = key_add_timestamp(key, 0);
	return err;
}

/* Takes s->writing, also if it fails: change_end follows in every case. */
int change_begin(struct store *s, struct change *c)
{
	*c = (struct change){ .s = s };
	pthread_mutex_lock(&s->writing);
	c->next_table_id = s->next_table_id;
	return schema_copy(s->schema, &c->schema);
}

/* Adds the record of a table of the copy as it is now. Its first put has to be
 * the batch's first record. */
int change_put(struct change *c, struct table *table)
{
	int err = record_key(table->name, SCHEMA_FAMILY, &c->key);

	table->record_seq = 0; /* see set_births */
	buf_reset(&c->record);
	if (err == 0)
		err = table_encode(table, &c->record);
	if (err == 0)
		err = batch_put(&c->batch, buf_bytes(&c->key),
				buf_bytes(&c->record));
	return err;
}

/* Adds the deletion of the record of the table with this name. Its cells stay:
 * no schema names their table id, so readers and compaction pass them over. */
int change_delete(struct change *c, struct bytes name)
{
	int err = record_key(name, SCHEMA_FAMILY, &c->key);

	if (err == 0)
		err = batch_delete(&c->batch, buf_bytes(&c->key));
	return err;
}

/* Adds the record of the next table id, so that no id is ever used again, not
 * even that of a table whose record is gone. */
int change_put_next_id(struct change *c)
{
	uint8_t raw[4];
	int err = record_key(BYTES_NONE, SCHEMA_IDS_FAMILY, &c->key);

	put_u32le(raw, c->next_table_id);
	if (err == 0)
		err = batch_put(&c->batch, buf_bytes(&c->key),
				bytes_of(raw, sizeof(raw)));
	return err;
}

/* Births and sequences of records that are still 0 become the sequence of the
 * first record, which is what a reader of the records concludes too: the record
 * that changed is always the batch's first. So what is in memory is what a
 * restart would read. */
static void set_births(struct schema *schema, uint64_t seq)
{
	size_t i, j;

	for (i = 0; i < schema->table_count; i++) {
		struct table *t = &schema->tables[i];

		if (t->birth_seq == 0)
			t->birth_seq = seq;
		if (t->record_seq == 0)
			t->record_seq = seq;
		for (j = 0; j < t->family_count; j++)
			if (t->families[j].birth_seq == 0)
				t->families[j].birth_seq = seq;
	}
}

/* The engine's rules come first: a reader who takes the new schema must not
 * meet the old rules, while the other way round a table is only seen empty for
 * a moment. Cannot fail, so that what is in the log is in force. Takes over the
 * references to schema and to its rules. */
void change_install(struct store *s, struct schema *schema,
		    struct gc_rules *rules)
{
	struct schema *old;

	engine_set_rules(s->engine, rules);
	gc_rules_put(rules);
	pthread_mutex_lock(&s->schema_lock);
	old = s->schema;
	s->schema = schema;
	pthread_mutex_unlock(&s->schema_lock);
	if (old)
		tell_schema(s, old, schema);
	schema_put(old);
}

/* Makes the copy what it will be once its records are written: nobody else
 * writes, so that their sequences are known. */
static int finish_schema(struct change *c, struct gc_rules **rules)
{
	uint64_t seq = engine_visible_seq(c->s->engine);

	set_births(c->schema, seq + 1);
	c->schema->seq = seq + c->batch.count;
	return schema_rules(c->schema, rules);
}

/* Ends c in every case; with err 0 writes and installs it first. What can fail
 * comes before the write. The sync comes after the lock; if it fails, the
 * change is in force all the same and the store is read-only. */
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
		change_install(s, c->schema, rules);
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

/* The common frame of changes to one table: fn changes it. If fn fails, so does
 * the change. */
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
		return change_end(&c, change_no_table(name));
	err = fn(s, t, arg);
	if (err == 0)
		err = change_put(&c, t);
	return change_end(&c, err);
}
