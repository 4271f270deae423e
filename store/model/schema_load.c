#include "store/base/coding.h"
#include "store/engine/core/history.h"
#include "store/engine/follow/follow.h"
#include "store/engine/read/cursor.h"
#include "store/engine/read/snapshot.h"
#include "store/model/events.h"
#include "store/model/schema_load.h"
#include "store/model/schema_record.h"

void schema_history(const struct schema *schema, uint64_t *keep_us,
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

/* Readers begin with schema from now on; the former one, referenced. */
static struct schema *change_schema(struct store *s, struct schema *schema)
{
	uint64_t keep_us, max_size;
	struct schema *old;

	pthread_mutex_lock(&s->schema_lock);
	old = s->schema;
	s->schema = schema;
	pthread_mutex_unlock(&s->schema_lock);
	schema_history(schema, &keep_us, &max_size);
	history_keep(s->engine, keep_us, max_size);
	return old;
}

/* The engine's rules come first: a reader who takes the new schema must not
 * meet the old rules, while the other way round a table is only seen empty for
 * a moment. */
void schema_install(struct store *s, struct schema *schema,
		    struct gc_rules *rules)
{
	struct schema *old;

	engine_set_rules(s->engine, rules);
	gc_rules_put(rules);
	old = change_schema(s, schema);
	if (old)
		tell_schema(s, old, schema);
	schema_put(old);
}

/* What is read of table 0. */
struct loading {
	uint32_t *next_id; /* of tables */
	struct schema *schema;
	struct buf
		own; /* the store's attributes, as attributes_decode has them */
	uint64_t own_count;
};

/* Takes one cell of table 0, each of which is a record. */
static int load_cell(struct loading *l, const struct cell *cell)
{
	struct bytes value;
	int err;

	if (bytes_equal(cell->family, SCHEMA_IDS_FAMILY)) {
		if (cell->value.size != 4)
			return fail(ERR_schema_malformed,
				    "next table id has %zu bytes",
				    cell->value.size);
		*l->next_id = get_u32le(cell->value.data);
		return 0;
	}
	if (cell->seq > l->schema->seq)
		l->schema->seq = cell->seq;
	if (!bytes_equal(cell->family, SCHEMA_ATTRIBUTES_FAMILY))
		return table_decode(l->schema, cell->row, cell->seq,
				    cell->value);
	err = attribute_decode(cell->qualifier, cell->value, &value);
	if (err == 0)
		err = buf_add_sized(&l->own, cell->qualifier);
	if (err == 0)
		err = buf_add_sized(&l->own, value);
	l->own_count++;
	return err;
}

/* Reads the records of table 0 into schema, as of a snapshot or, if that is
 * NULL, of now. No rules hide any of them, as there are none yet or those of
 * table 0 never change; the schema's sequence is that of its newest record. */
static int load(struct store *s, const struct engine_snapshot *snapshot,
		struct schema *schema, uint32_t *next_id)
{
	struct loading l = { .next_id = next_id, .schema = schema };
	uint8_t start[KEY_TABLE_SIZE], end[KEY_TABLE_SIZE];
	struct cursor *cursor;
	struct cell cell;
	struct bytes own;
	int err;

	put_u32be(start, SCHEMA_TABLE_ID);
	put_u32be(end, SCHEMA_TABLE_ID + 1);
	err = cursor_open(s->engine, snapshot, bytes_of(start, sizeof(start)),
			  bytes_of(end, sizeof(end)), BYTES_NONE, &cursor);
	if (err < 0)
		return err;
	while ((err = cursor_next(cursor, CURSOR_COLUMN, &cell)) == 1) {
		err = load_cell(&l, &cell);
		if (err < 0)
			break;
	}
	cursor_close(cursor);
	own = buf_bytes(&l.own);
	if (err == 0)
		err = attributes_decode(BYTES_NONE, l.own_count, &own,
					&schema->attributes);
	buf_release(&l.own);
	return err;
}

/* After a repair the record of the next table id may be missing or old, so no
 * id that a table has is given again. */
int schema_load(struct store *s)
{
	struct gc_rules *rules;
	struct schema *schema;
	size_t i;
	int err;

	s->next_table_id = SCHEMA_TABLE_ID + 1;
	err = schema_new(&schema);
	if (err < 0)
		return err;
	err = load(s, NULL, schema, &s->next_table_id);
	for (i = 0; i < schema->table_count; i++)
		if (schema->tables[i].id >= s->next_table_id)
			s->next_table_id = schema->tables[i].id + 1;
	if (err == 0)
		err = schema_rules(schema, &rules);
	if (err < 0)
		schema_put(schema);
	else
		schema_install(s, schema, rules);
	return err;
}

/* The same order as in schema_install. */
int schema_follow(struct store *s, struct engine_snapshot *fresh)
{
	struct gc_rules *rules = NULL;
	struct schema *schema;
	uint32_t next_id;
	int err = schema_new(&schema);

	if (err == 0)
		err = load(s, fresh, schema, &next_id);
	if (err == 0)
		err = schema_rules(schema, &rules);
	if (err < 0)
		follow_drop(s->engine, fresh, err);
	else
		err = follow_publish(s->engine, fresh, rules);
	gc_rules_put(rules);
	schema_put(err < 0 ? schema : change_schema(s, schema));
	return err;
}

int schema_load_at(struct store *s, const struct engine_snapshot *snapshot,
		   struct gc_rules **out)
{
	struct schema *schema;
	uint32_t next_id;
	int err = schema_new(&schema);

	if (err < 0)
		return err;
	err = load(s, snapshot, schema, &next_id);
	if (err == 0)
		err = schema_rules(schema, out);
	/* The rules have it. */
	schema_put(schema);
	return err;
}
