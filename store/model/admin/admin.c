#include "store/engine/read/snapshot.h"
#include "store/engine/run/step.h"
#include "store/model/admin/change.h"
#include "store/model/admin/dropped.h"
#include "store/model/attributes.h"
#include "store/model/bury.h"
#include "store/model/look.h"

/*
 * What each change does to the copy of the schema; its frame is change.h's.
 */

/* Fails with -ERR_no_family. cbt's words differ from command to command, hence
 * what. */
static int no_family(const char *what, struct bytes name)
{
	return fail(ERR_no_family, "%s family \"%s\"", what, err_name(name));
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
		return fail(ERR_family_exists, "family \"%s\" already exists",
			    err_name(spec->name));
	if (t->family_count >= STORE_FAMILIES_MAX)
		return fail(ERR_too_many_families,
			    "table \"%s\" has its %d families",
			    err_name(t->name), STORE_FAMILIES_MAX);
	return table_add_family(t, spec, &f);
}

/* Checks that the copy's attributes, which have become more, are not too many
 * together: all of them are in memory. */
static int check_attributes(const struct schema *schema)
{
	size_t size = schema->attributes.size, i;

	for (i = 0; i < schema->table_count; i++)
		size += schema->tables[i].attributes.size;
	return size <= STORE_ATTRIBUTES_ALL_MAX
		       ? 0
		       : fail(ERR_attributes_full,
			      "attributes of all tables and the store would "
			      "count for %zu bytes; %zu are the most",
			      size, STORE_ATTRIBUTES_ALL_MAX);
}

/* Changes those of a table of the copy, or its own. */
static int change_attributes(struct change *c, struct attributes *a,
			     const struct attribute *changes, size_t count)
{
	size_t before = a->size;
	int err = attributes_change(a, changes, count);

	return err < 0 || a->size <= before ? err : check_attributes(c->schema);
}

/* Adds a table to the copy. */
static int add_table(struct change *c, const struct table_spec *spec,
		     struct table **out)
{
	struct table *t;
	size_t i;
	int err;

	if (schema_find(c->schema, spec->name))
		return fail(ERR_table_exists, "table \"%s\" already exists",
			    err_name(spec->name));
	if (c->schema->table_count >= STORE_TABLES_MAX)
		return fail(ERR_too_many_tables, "%d tables are the most",
			    STORE_TABLES_MAX);
	err = schema_add_table(c->schema, spec->name, &t);
	if (err < 0)
		return err;
	t->id = c->next_table_id++;
	t->millis = spec->millis;
	if (spec->access)
		t->access = *spec->access;
	for (i = 0; i < spec->family_count && err == 0; i++)
		err = add_family(t, &spec->families[i]);
	*out = t;
	return err < 0 ? err
		       : change_attributes(c, &t->attributes, spec->attributes,
					   spec->attribute_count);
}

/* What cannot be added leaves nothing of the table, since the copy is thrown
 * away. */
int store_make_table(struct store *s, const struct table_spec *spec)
{
	struct change c;
	struct table *t = NULL;
	uint32_t id = 0;
	int err;

	err = spec->in_instance ? store_check_instance_table_name(spec->name)
				: store_check_table_name(spec->name);
	if (err < 0)
		return err;
	err = change_begin(s, &c);
	if (err == 0)
		err = add_table(&c, spec, &t);
	if (err == 0)
		err = change_put(&c, t);
	if (err == 0) {
		id = t->id;
		err = change_put_next_id(&c);
	}
	err = change_end(&c, err);
	if (err == 0 && spec->id)
		*spec->id = id;
	return err;
}

int store_create_table(struct store *s, struct bytes name, bool millis,
		       const struct family_spec *families, size_t count)
{
	const struct table_spec spec = { .name = name,
					 .millis = millis,
					 .families = families,
					 .family_count = count };

	return store_make_table(s, &spec);
}

int store_create_table_for(struct store *s, struct bytes name,
			   const struct table_access *access)
{
	const struct table_spec spec = { .name = name, .access = access };

	return store_make_table(s, &spec);
}

/* As table_by_id, of a copy. */
static struct table *find_by_id(struct schema *schema, uint32_t id)
{
	const struct table *t = table_by_id(schema, id);

	return t ? schema_find(schema, t->name) : NULL;
}

/* Nothing but the record is deleted; see change_delete. Whose it was stays. */
static int drop(struct change *c, struct table *t)
{
	int err = table_check_drop(t);

	if (err == 0)
		err = change_delete(c, t->name);
	if (err == 0)
		err = dropped_note(c, t);
	if (err == 0)
		schema_remove_table(c->schema, t);
	return err;
}

int store_drop_table(struct store *s, struct bytes name, bool only_empty)
{
	struct change c;
	struct table *t = NULL;
	int err = change_begin(s, &c);

	if (err == 0) {
		t = schema_find(c.schema, name);
		err = t ? table_check_drop(t) : no_table(name);
	}
	if (err == 0 && only_empty)
		err = empty_table(s, name);
	if (err == 0)
		err = drop(&c, t);
	return change_end(&c, err);
}

/* Cells are kept by table id, so only the record moves. In the copy, the
 * content changes places with a new, empty table, which then goes: the array is
 * sorted by name. */
static int rename_table(struct change *c, struct table *t, struct bytes to)
{
	struct table *fresh;
	struct table moved;
	uint32_t id = t->id;
	int err;

	if (schema_find(c->schema, to))
		return fail(ERR_table_exists, "table \"%s\" already exists",
			    err_name(to));
	err = schema_add_table(c->schema, to, &fresh);
	if (err < 0)
		return err;
	t = find_by_id(c->schema, id);
	moved = *t;
	*t = *fresh;
	*fresh = moved;
	moved.name = t->name;
	t->name = fresh->name;
	fresh->name = moved.name;
	err = change_put(c, fresh);
	if (err == 0)
		err = change_delete(c, t->name);
	if (err == 0)
		schema_remove_table(c->schema, t);
	return err;
}

int store_rename_table(struct store *s, struct bytes from, struct bytes to)
{
	struct change c;
	struct table *t;
	int err = store_check_table_name(to);

	if (err < 0)
		return err;
	err = change_begin(s, &c);
	if (err == 0) {
		t = schema_find(c.schema, from);
		err = t ? table_check_drop(t) : no_table(from);
	}
	if (err == 0)
		err = rename_table(&c, t, to);
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
	int err = table_check_drop(t);

	if (err < 0)
		return err;
	if (!f)
		return no_family("can't delete unknown", *name);
	removed_note_table(&s->removed, t->id);
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
	f->rules_seq = 0; /* see schema_set_births */
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

static int dropped_meanwhile(void)
{
	return fail(ERR_no_table, "the table was dropped meanwhile");
}

/* Without a policy nothing is hidden that the first one could show again. */
static int set_first_gc(struct table *t, const struct family_spec *family)
{
	struct family *f = table_find_family(t, family->name);

	if (!f)
		return no_family("no such", family->name);
	if (f->gc)
		return 0;
	f->rules_seq = 0; /* see schema_set_births */
	return gc_policy_copy(family->gc, &f->gc);
}

int store_finish_table(struct store *s, uint32_t id,
		       const struct table_spec *last)
{
	struct change c;
	struct table *t = NULL;
	size_t i;
	int err = store_check_table_name(last->name);

	if (err < 0)
		return err;
	err = change_begin(s, &c);
	if (err == 0) {
		t = find_by_id(c.schema, id);
		err = t ? 0 : dropped_meanwhile();
	}
	for (i = 0; i < last->family_count && err == 0; i++)
		err = set_first_gc(t, &last->families[i]);
	if (err == 0)
		err = change_attributes(&c, &t->attributes, last->attributes,
					last->attribute_count);
	if (err == 0)
		err = rename_table(&c, t, last->name);
	return change_end(&c, err);
}

int store_discard_table(struct store *s, uint32_t id)
{
	struct change c;
	struct table *t;
	int err = change_begin(s, &c);

	if (err == 0) {
		t = find_by_id(c.schema, id);
		err = t ? drop(&c, t) : dropped_meanwhile();
	}
	return change_end(&c, err);
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
			    "family \"%s\" keeps its aggregate type",
			    err_name(f->name));
	f->type = change->type;
	if (!family_is_aggregate(f))
		return 0;
	f->rules_seq = 0; /* how it merges is one of them */
	if (look_holds(&change->look, t->id, f->birth_seq))
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

/* The store's own attributes have a record each, as nothing bounds how long
 * their list would be. */
int store_set_attributes(struct store *s, struct bytes table,
			 const struct attribute *changes, size_t count)
{
	struct change c;
	struct table *t = NULL;
	size_t i;
	int err;

	if (count == 0)
		return 0;
	err = change_begin(s, &c);
	if (err < 0)
		return change_end(&c, err);
	if (table.size > 0) {
		t = schema_find(c.schema, table);
		if (!t)
			return change_end(&c, no_table(table));
	}
	err = change_attributes(&c, t ? &t->attributes : &c.schema->attributes,
				changes, count);
	if (err == 0 && t)
		err = change_put(&c, t);
	for (i = 0; !t && i < count && err == 0; i++)
		err = change_put_attribute(&c, &changes[i]);
	return change_end(&c, err);
}

int store_set_attribute(struct store *s, struct bytes table, struct bytes name,
			struct bytes value)
{
	const struct attribute change = { name, value };

	return store_set_attributes(s, table, &change, 1);
}
