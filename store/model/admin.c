#include <assert.h>

#include "store/base/coding.h"
#include "store/engine/read/cursor.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/step.h"
#include "store/engine/run/room.h"
#include "store/engine/run/write.h"
#include "store/model/admin.h"
#include "store/model/events.h"
#include "store/model/bury.h"
#include "store/model/look.h"
#include "store/model/model.h"
#include "store/model/schema.h"
#include "store/model/schema_record.h"

/*
 * Schema changes: copy the schema, change the copy, write the changed record,
 * install the copy. All under the writing lock, so that data and schema change
 * in one order: a commit is before a change or after it. Each public call is
 *
 *   change_begin: takes the lock, copies
 *   the change, on the copy; change_put and change_delete for its records
 *   change_end: writes, installs, unlocks and syncs; or only unlocks
 *
 * A change writes one record and perhaps the next table id, so that it is there
 * or not after a crash, and never half.
 */

/* Fails with -ERR_no_table; so that a caller may return it. */
static int no_table(struct bytes name)
{
	return fail(ERR_no_table, "table \"%.*s\" not found", (int)name.size,
		    (const char *)name.data);
}

/* Fails with -ERR_no_family. cbt's words differ from command to command, hence
 * what. */
static int no_family(const char *what, struct bytes name)
{
	return fail(ERR_no_family, "%s family \"%.*s\"", what, (int)name.size,
		    (const char *)name.data);
}

/* One schema change on its way. */
struct change {
	struct store *s;
	struct schema *schema;  /* the copy; NULL if it could not be made */
	struct batch batch;     /* records; that of the changed table first */
	struct buf key, record; /* scratch, encoded */
	uint32_t next_table_id; /* the store's from the end on */
};

/* Takes s->writing, also if it fails: change_end follows in every case. */
static int change_begin(struct store *s, struct change *c)
{
	*c = (struct change){ .s = s };
	pthread_mutex_lock(&s->writing);
	c->next_table_id = s->next_table_id;
	return schema_copy(s->schema, &c->schema);
}

/* Adds the record of a table of the copy as it is now. Its first put has to be
 * the batch's first record. */
static int change_put(struct change *c, struct table *table)
{
	int err = schema_record_key(table->name, SCHEMA_FAMILY, &c->key);

	table->record_seq = 0; /* see schema_set_births */
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
static int change_delete(struct change *c, struct bytes name)
{
	int err = schema_record_key(name, SCHEMA_FAMILY, &c->key);

	if (err == 0)
		err = batch_delete(&c->batch, buf_bytes(&c->key));
	return err;
}

/* Adds the record of the next table id, so that no id is ever used again, not
 * even that of a table whose record is gone. */
static int change_put_next_id(struct change *c)
{
	uint8_t raw[4];
	int err = schema_record_key(BYTES_NONE, SCHEMA_IDS_FAMILY, &c->key);

	put_u32le(raw, c->next_table_id);
	if (err == 0)
		err = batch_put(&c->batch, buf_bytes(&c->key),
				bytes_of(raw, sizeof(raw)));
	return err;
}

/* The engine's rules come first: a reader who takes the new schema must not
 * meet the old rules, while the other way round a table is only seen empty for
 * a moment. Cannot fail, so that what is in the log is in force. Takes over the
 * references to schema and to its rules. */
static void install(struct store *s, struct schema *schema,
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

	schema_set_births(c->schema, seq + 1);
	c->schema->seq = seq + c->batch.count;
	return schema_rules(c->schema, rules);
}

/* Ends c in every case; with err 0 writes and installs it first. What can fail
 * comes before the write. The sync comes after the lock; if it fails, the
 * change is in force all the same and the store is read-only. */
static int change_end(struct change *c, int err)
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
		install(s, c->schema, rules);
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

/* Adds a family to a table of the copy, if its name and their number allow it.
 */
static int add_family(struct table *t, const struct family_spec *spec)
{
	struct family *f;
	int err;

	err = store_check_family_name(spec->name);
	if (err < 0)
		return err;
	if (table_find_family(t, spec->name))
		return fail(ERR_family_exists, "family \"%.*s\" already exists",
			    (int)spec->name.size,
			    (const char *)spec->name.data);
	if (t->family_count >= STORE_FAMILIES_MAX)
		return fail(ERR_too_many_families,
			    "table \"%.*s\" has its %d families",
			    (int)t->name.size, (const char *)t->name.data,
			    STORE_FAMILIES_MAX);
	return table_add_family(t, spec, &f);
}

/* A table with families; access says whose it is, NULL: nothing is set. A
 * family that cannot be added leaves nothing of the table, since the copy
 * is thrown away. */
static int create_table(struct store *s, struct bytes name, bool millis,
			const struct table_access *access,
			const struct family_spec *families, size_t count)
{
	struct change c;
	struct table *t;
	size_t i;
	int err;

	err = store_check_table_name(name);
	if (err < 0)
		return err;
	err = change_begin(s, &c);
	if (err < 0)
		return change_end(&c, err);
	if (schema_find(c.schema, name))
		err = fail(ERR_table_exists, "table \"%.*s\" already exists",
			   (int)name.size, (const char *)name.data);
	else if (c.schema->table_count >= STORE_TABLES_MAX)
		err = fail(ERR_too_many_tables, "%d tables are the most",
			   STORE_TABLES_MAX);
	else
		err = schema_add_table(c.schema, name, &t);
	if (err == 0) {
		t->id = c.next_table_id++;
		t->millis = millis;
		if (access)
			t->access = *access;
	}
	for (i = 0; i < count && err == 0; i++)
		err = add_family(t, &families[i]);
	if (err == 0)
		err = change_put(&c, t);
	if (err == 0)
		err = change_put_next_id(&c);
	return change_end(&c, err);
}

int store_create_table(struct store *s, struct bytes name, bool millis,
		       const struct family_spec *families, size_t count)
{
	return create_table(s, name, millis, NULL, families, count);
}

int store_create_table_for(struct store *s, struct bytes name,
			   const struct table_access *access)
{
	return create_table(s, name, false, access, NULL, 0);
}

/* More families than a table may have would make a record that nobody reads. A
 * birth of 1 is before all sequences, so that cells of any age are seen. The id
 * may be one that the lost record of the next id would have been beyond. */
int schema_adopt(struct store *s, const struct table *found)
{
	struct change c;
	struct table *t = NULL;
	size_t i;
	int err;

	err = change_begin(s, &c);
	if (err == 0 && schema_find(c.schema, found->name))
		err = fail(ERR_table_exists, "table \"%.*s\" already exists",
			   (int)found->name.size,
			   (const char *)found->name.data);
	if (err == 0 && found->family_count > STORE_FAMILIES_MAX)
		err = fail(ERR_too_many_families,
			   "table \"%.*s\" would have %zu families",
			   (int)found->name.size,
			   (const char *)found->name.data, found->family_count);
	if (err == 0)
		err = schema_add_table(c.schema, found->name, &t);
	if (err < 0)
		return change_end(&c, err);
	assert(found->id != SCHEMA_TABLE_ID);
	t->id = found->id;
	t->birth_seq = 1;
	for (i = 0; i < found->family_count && err == 0; i++) {
		struct family_spec spec = { .name = found->families[i].name,
					    .type = found->families[i].type };
		struct family *f;

		err = table_add_family(t, &spec, &f);
		if (err == 0)
			f->birth_seq = 1;
	}
	/* The id was given by a record that is lost. */
	if (c.next_table_id <= t->id)
		c.next_table_id = t->id + 1;
	if (err == 0)
		err = change_put(&c, t);
	if (err == 0)
		err = change_put_next_id(&c);
	return change_end(&c, err);
}

/* Nothing but the record is deleted; see change_delete. */
int store_drop_table(struct store *s, struct bytes name, bool only_empty)
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
	if (only_empty)
		err = empty_table(s, name);
	if (err == 0)
		err = change_delete(&c, name);
	if (err == 0)
		schema_remove_table(c.schema, t);
	return change_end(&c, err);
}

/* Cells are kept by table id, so only the record moves. In the copy, the
 * content changes places with a new, empty table, which then goes: the array is
 * sorted by name. */
int store_rename_table(struct store *s, struct bytes from, struct bytes to)
{
	struct change c;
	struct table *t, *fresh;
	struct table moved;
	int err;

	err = store_check_table_name(to);
	if (err < 0)
		return err;
	err = change_begin(s, &c);
	if (err < 0)
		return change_end(&c, err);
	if (!schema_find(c.schema, from))
		return change_end(&c, no_table(from));
	if (schema_find(c.schema, to))
		return change_end(&c,
				  fail(ERR_table_exists,
				       "table \"%.*s\" already exists",
				       (int)to.size, (const char *)to.data));
	err = schema_add_table(c.schema, to, &fresh);
	if (err < 0)
		return change_end(&c, err);
	t = schema_find(c.schema, from);
	moved = *t;
	*t = *fresh;
	*fresh = moved;
	moved.name = t->name;
	t->name = fresh->name;
	fresh->name = moved.name;
	err = change_put(&c, fresh);
	if (err == 0)
		err = change_delete(&c, from);
	if (err == 0)
		schema_remove_table(c.schema, t);
	return change_end(&c, err);
}

/* The common frame of changes to one table: fn changes it. If fn fails, so does
 * the change. */
static int change_table(struct store *s, struct bytes name,
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

/* In a table of milliseconds a cell with another time could not be named, to be
 * removed or written again. */
static int do_set_granularity(struct store *s, struct table *t, void *arg)
{
	const struct look *look = arg;
	bool was = t->millis;

	t->millis = look != NULL;
	if (was || !t->millis || look_holds(look, t->id, 0))
		return 0;
	return empty_of_micros(s, t->id);
}

int store_set_granularity(struct store *s, struct bytes table, bool millis)
{
	struct look look;
	int err;

	if (!millis)
		return change_table(s, table, do_set_granularity, NULL);
	err = look_of_micros(&look, s, table);
	if (err == 0)
		err = change_table(s, table, do_set_granularity, &look);
	look_end(&look);
	return err;
}

/* What is unset changes nothing: there is no way back to unset. */
static void set_if_given(uint32_t *to, uint32_t from)
{
	if (from != TABLE_ACCESS_UNSET)
		*to = from;
}

/* Whose the table is; the store itself asks for no permission. */
static int do_set_access(struct store *s, struct table *t, void *arg)
{
	const struct table_access *access = arg;

	(void)s;
	set_if_given(&t->access.mode, access->mode);
	set_if_given(&t->access.uid, access->uid);
	set_if_given(&t->access.gid, access->gid);
	return 0;
}

/* Changing nothing is a change like any other, and writes the record. */
int store_set_access(struct store *s, struct bytes table,
		     const struct table_access *access)
{
	struct table_access copy = *access;

	return change_table(s, table, do_set_access, &copy);
}

/* arg is the family_spec. */
static int do_create_family(struct store *s, struct table *t, void *arg)
{
	(void)s;
	return add_family(t, arg);
}

/* The policy is copied when the family is added. */
int store_create_family(struct store *s, struct bytes table,
			const struct family_spec *family)
{
	struct family_spec spec = *family;

	return change_table(s, table, do_create_family, &spec);
}

/* arg is the name. Its cells are passed over from now on, and by their age also
 * when a family of that name is made anew. */
static int do_drop_family(struct store *s, struct table *t, void *arg)
{
	struct bytes *name = arg;
	struct family *f = table_find_family(t, *name);

	(void)s;
	if (!f)
		return no_family("can't delete unknown", *name);
	table_remove_family(t, f);
	return 0;
}

int store_drop_family(struct store *s, struct bytes table, struct bytes family)
{
	return change_table(s, table, do_drop_family, &family);
}

/* The argument of do_set_gc. */
struct gc_change {
	struct bytes family;
	const struct gc_policy *gc;
	struct look look;
};

/* What the old policy hides now goes for good, before the new one is in force,
 * and all else is the new one's to judge. Without an old policy nothing was
 * hidden. */
static int do_set_gc(struct store *s, struct table *t, void *arg)
{
	struct gc_change *change = arg;
	struct family *f = table_find_family(t, change->family);
	struct gc_policy *policy;
	int err;

	if (!f)
		return no_family("no such", change->family);
	/* Nothing hidden has to go if the policy stays as it is. */
	if (gc_policy_equal(f->gc, change->gc))
		return 0;
	/* Until the new policy is in force, nothing more expires that it could
	 * show again. */
	if (f->gc) {
		engine_hold_gc_time(s->engine, GC_HELD_BY_LOOK, true);
		err = look_holds(&change->look, t->id, f->birth_seq)
			      ? look_bury_rest(&change->look)
			      : bury_family(s, t->id, f->name);
		if (err < 0)
			return err;
	}
	err = gc_policy_copy(change->gc, &policy);
	if (err < 0)
		return err;
	gc_policy_free(f->gc);
	f->gc = policy;
	return 0;
}

/* Takes as long as reading the table does, while commits go on. */
int store_set_gc(struct store *s, struct bytes table, struct bytes family,
		 const struct gc_policy *gc)
{
	struct gc_change change = { .family = family, .gc = gc };
	int err = look_bury(&change.look, s, table, family, gc);

	if (err == 0)
		err = change_table(s, table, do_set_gc, &change);
	look_end(&change.look);
	/* Or garbage would stay until somebody flushes, which imports never
	 * do. If it fails the policy holds all the same. */
	if (err == 0 && engine_flush_deletions(s->engine) < 0)
		err_clear();
	return err;
}

/* The argument of do_set_type. */
struct type_change {
	struct bytes family;
	enum family_type type;
	struct look look;
};

/* A plain family may become one of another plain type, or, while nothing is set
 * in it, of aggregates: its values would be no numbers and lost with the next
 * that is added. One of aggregates keeps its type, as nobody could say what its
 * parts are. */
static int do_set_type(struct store *s, struct table *t, void *arg)
{
	struct type_change *change = arg;
	struct family *f = table_find_family(t, change->family);

	if (!f)
		return no_family("no such", change->family);
	if (f->type == change->type)
		return 0;
	/* What is there are parts of this kind. */
	if (family_is_aggregate(f))
		return fail(ERR_type_immutable,
			    "family \"%.*s\" keeps its aggregate type",
			    (int)f->name.size, (const char *)f->name.data);
	f->type = change->type;
	if (!family_is_aggregate(f) ||
	    look_holds(&change->look, t->id, f->birth_seq))
		return 0;
	return empty_family(s, t->id, f->name);
}

int store_set_type(struct store *s, struct bytes table, struct bytes family,
		   enum family_type type)
{
	struct type_change change = { .family = family, .type = type };
	int err;

	/* Plain ones take whatever is there. */
	if (type < FAMILY_INTSUM)
		return change_table(s, table, do_set_type, &change);
	err = look_empty_family(&change.look, s, table, family);
	if (err == 0)
		err = change_table(s, table, do_set_type, &change);
	look_end(&change.look);
	return err;
}

/* The argument of do_change_families. */
struct family_changes {
	const struct family_change *changes;
	size_t count;
};

/* One of several changes. What a policy hides is looked for while no commit can
 * be made: there is no look that is for several families. */
static int change_family(struct store *s, struct table *t,
			 const struct family_change *change)
{
	struct family_spec spec = change->family;
	struct gc_change gc = { .family = spec.name, .gc = spec.gc };
	struct type_change type = { .family = spec.name, .type = spec.type };
	int err = 0;

	if (change->kind == FAMILY_CREATE)
		return do_create_family(s, t, &spec);
	if (change->kind == FAMILY_DROP)
		return do_drop_family(s, t, &spec.name);
	if (!table_find_family(t, spec.name))
		return no_family("no such", spec.name);
	if (change->set_gc)
		err = do_set_gc(s, t, &gc);
	if (!err && change->set_type)
		err = do_set_type(s, t, &type);
	return err;
}

static int do_change_families(struct store *s, struct table *t, void *arg)
{
	struct family_changes *all = arg;
	size_t i;
	int err = 0;

	for (i = 0; i < all->count && !err; i++)
		err = change_family(s, t, &all->changes[i]);
	return err;
}

/* The time that policies go by is held as by a look, so no look may be. */
int store_change_families(struct store *s, struct bytes table,
			  const struct family_change *changes, size_t count)
{
	struct family_changes all = { changes, count };
	int err;

	pthread_mutex_lock(&s->looking);
	err = change_table(s, table, do_change_families, &all);
	engine_hold_gc_time(s->engine, GC_HELD_BY_LOOK, false);
	pthread_mutex_unlock(&s->looking);
	if (err == 0 && engine_flush_deletions(s->engine) < 0)
		err_clear();
	return err;
}

/* Reads the records of table 0 into schema. No rules are installed yet, so the
 * cursor hides nothing; the schema's sequence is that of its newest record. */
static int load(struct store *s, struct schema *schema)
{
	uint8_t start[KEY_TABLE_SIZE], end[KEY_TABLE_SIZE];
	struct cursor *cursor;
	struct cell cell;
	int err;

	put_u32be(start, SCHEMA_TABLE_ID);
	put_u32be(end, SCHEMA_TABLE_ID + 1);
	err = cursor_open(s->engine, NULL, bytes_of(start, sizeof(start)),
			  bytes_of(end, sizeof(end)), BYTES_NONE, &cursor);
	if (err < 0)
		return err;
	while ((err = cursor_next(cursor, CURSOR_COLUMN, &cell)) == 1) {
		if (bytes_equal(cell.family, SCHEMA_IDS_FAMILY)) {
			if (cell.value.size != 4) {
				err = fail(ERR_schema_malformed,
					   "next table id has %zu bytes",
					   cell.value.size);
				break;
			}
			s->next_table_id = get_u32le(cell.value.data);
			continue;
		}
		err = table_decode(schema, cell.row, cell.seq, cell.value);
		if (err < 0)
			break;
		if (cell.seq > schema->seq)
			schema->seq = cell.seq;
	}
	cursor_close(cursor);
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
	err = load(s, schema);
	for (i = 0; i < schema->table_count; i++)
		if (schema->tables[i].id >= s->next_table_id)
			s->next_table_id = schema->tables[i].id + 1;
	if (err == 0)
		err = schema_rules(schema, &rules);
	if (err < 0)
		schema_put(schema);
	else
		install(s, schema, rules);
	return err;
}
