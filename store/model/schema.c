#include <assert.h>
#include <stdlib.h>

#include "store/base/threads/reference.h"
#include "store/engine/read/snapshot.h"
#include "store/model/attributes.h"
#include "store/model/model.h"
#include "store/model/schema.h"

/*
 * Schemas as data structures: arrays sorted by name, in which a lookup is a
 * binary search. They are copied to change, as a whole but for attributes: a
 * schema has at most 1,000 tables of 1,000 families, changes are rare and cost
 * a sync anyway, and readers need no lock for what never changes.
 */

/* A copy to be freed by free_bytes; of no bytes too, so that data is not NULL.
 */
static int copy_bytes(struct bytes from, struct bytes *out)
{
	uint8_t *data = malloc(from.size + 1);

	if (!data)
		return -ENOMEM;
	if (from.size > 0)
		memcpy(data, from.data, from.size);
	*out = bytes_of(data, from.size);
	return 0;
}

/* Only of what copy_bytes made. */
static void free_bytes(struct bytes b)
{
	free((void *)(uintptr_t)b.data);
}

/* Frees what a family owns; its place is the array's. */
static void family_release(struct family *f)
{
	gc_policy_free(f->gc);
	free_bytes(f->name);
}

/* Frees what a table owns; its place is the array's. */
static void table_release(struct table *t)
{
	size_t i;

	for (i = 0; i < t->family_count; i++)
		family_release(&t->families[i]);
	free(t->families);
	attributes_release(&t->attributes);
	free_bytes(t->name);
}

/* Its sequence is 0, as of a store without tables. */
int schema_new(struct schema **out)
{
	struct schema *schema = calloc(1, sizeof(*schema));

	*out = schema;
	if (!schema)
		return -ENOMEM;
	reference_init(&schema->references);
	return 0;
}

/* The lock holds off install(), which could else put the last reference between
 * the reading of the pointer and the taking of one. */
struct schema *store_schema(struct store *s)
{
	struct schema *schema;

	pthread_mutex_lock(&s->schema_lock);
	schema = s->schema;
	assert(schema);
	reference_take(&schema->references);
	pthread_mutex_unlock(&s->schema_lock);
	return schema;
}

/* The rules of a moment keep its schema, see schema_rules. */
struct schema *store_schema_at(struct store *s, const struct snapshot *snapshot)
{
	const struct gc_rules *rules =
		snapshot ? engine_snapshot_rules(
				   (const struct engine_snapshot *)snapshot)
			 : NULL;
	struct schema *schema = rules ? rules->schema : NULL;

	if (!schema)
		return store_schema(s);
	reference_take(&schema->references);
	return schema;
}

/* The last reference frees it, without any lock: nobody can get it any more. */
void schema_put(struct schema *schema)
{
	size_t i;

	if (!schema || !reference_drop(&schema->references))
		return;
	for (i = 0; i < schema->table_count; i++)
		table_release(&schema->tables[i]);
	free(schema->tables);
	attributes_release(&schema->attributes);
	free(schema);
}

static_assert(offsetof(struct table, name) == 0,
	      "place_by_name reads it there");
static_assert(offsetof(struct family, name) == 0,
	      "place_by_name reads it there");

/* For whoever may change it; schema_table is for readers. */
struct table *schema_find(struct schema *schema, struct bytes name)
{
	bool found;
	size_t i = place_by_name(schema->tables, schema->table_count,
				 sizeof(*schema->tables), name, &found);

	return found ? &schema->tables[i] : NULL;
}

/* A binary search; nothing is locked, as the caller has a reference. */
const struct table *schema_table(const struct schema *schema, struct bytes name)
{
	bool found;
	size_t i = place_by_name(schema->tables, schema->table_count,
				 sizeof(*schema->tables), name, &found);

	return found ? &schema->tables[i] : NULL;
}

const struct attributes *schema_attributes(const struct schema *schema,
					   struct bytes table)
{
	const struct table *t;

	if (table.size == 0)
		return &schema->attributes;
	t = schema_table(schema, table);
	return t ? &t->attributes : NULL;
}

bool schema_attribute(const struct schema *schema, struct bytes table,
		      struct bytes name, struct bytes *value)
{
	const struct attributes *a = schema_attributes(schema, table);

	return a && attributes_find(a, name, value);
}

int table_check_drop(const struct table *table)
{
	if (!attributes_find(&table->attributes, BYTES_LITERAL(STORE_PROTECTED),
			     NULL))
		return 0;
	return fail(EPERM,
		    "table \"%s\" is protected against deletion: "
		    "`tabletfs protect %s off`, or UpdateTable without "
		    "deletion_protection, ends that",
		    err_name(table->name), err_name(table->name));
}

static uint32_t table_id(const struct schema *schema, struct bytes name)
{
	const struct table *table = schema_table(schema, name);

	return table ? table->id : 0;
}

uint32_t store_table_id(struct store *s, const struct snapshot *snapshot,
			struct bytes name)
{
	struct schema *now = store_schema(s), *then;
	uint32_t id = table_id(now, name), id_then;

	schema_put(now);
	if (!snapshot)
		return id;
	then = store_schema_at(s, snapshot);
	id_then = id && table_by_id(then, id) ? id : table_id(then, name);
	schema_put(then);
	return id_then ? id_then : id;
}

/* Asked at commits that a schema change has overtaken, by bulk loads, by repair
 * and once for each range that is read: rarely enough for a search from end to
 * end. */
const struct table *table_by_id(const struct schema *schema, uint32_t id)
{
	size_t i;

	for (i = 0; i < schema->table_count; i++)
		if (schema->tables[i].id == id)
			return &schema->tables[i];
	return NULL;
}

/* For whoever may change it; table_family is for readers. */
struct family *table_find_family(struct table *table, struct bytes name)
{
	bool found;
	size_t i = place_by_name(table->families, table->family_count,
				 sizeof(*table->families), name, &found);

	return found ? &table->families[i] : NULL;
}

const struct family *table_family(const struct table *table, struct bytes name)
{
	bool found;
	size_t i = place_by_name(table->families, table->family_count,
				 sizeof(*table->families), name, &found);

	return found ? &table->families[i] : NULL;
}

/* Policies are in force as soon as the schema is. */
const struct gc_policy *family_gc(const struct family *family)
{
	return family->gc;
}

/* The array grows by one, which is no matter: the schema was just copied whole.
 * On failure it is as it was, but for its room. */
int schema_add_table(struct schema *schema, struct bytes name,
		     struct table **out)
{
	struct table *grown;
	struct bytes copy;
	bool found;
	size_t i;
	int err;

	grown = realloc(schema->tables,
			(schema->table_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	schema->tables = grown;
	err = copy_bytes(name, &copy);
	if (err < 0)
		return err;
	i = place_by_name(grown, schema->table_count, sizeof(*grown), name,
			  &found);
	assert(!found);
	memmove(&grown[i + 1], &grown[i],
		(schema->table_count - i) * sizeof(*grown));
	schema->table_count++;
	grown[i] = (struct table){
		.name = copy,
		.access = { TABLE_ACCESS_UNSET, TABLE_ACCESS_UNSET,
			    TABLE_ACCESS_UNSET },
	};
	*out = &grown[i];
	return 0;
}

/* Closes the gap; pointers to later tables are of their successors then. */
void schema_remove_table(struct schema *schema, struct table *table)
{
	size_t i = (size_t)(table - schema->tables);

	assert(i < schema->table_count);
	table_release(table);
	schema->table_count--;
	memmove(table, table + 1, (schema->table_count - i) * sizeof(*table));
}

/* Copies all before the array is changed, so that a failure leaves it as it
 * was. */
int table_add_family(struct table *table, const struct family_spec *spec,
		     struct family **out)
{
	struct family *grown;
	struct family family = { .type = spec->type };
	bool found;
	size_t i;
	int err;

	grown = realloc(table->families,
			(table->family_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table->families = grown;
	err = gc_policy_copy(spec->gc, &family.gc);
	if (err < 0)
		return err;
	err = copy_bytes(spec->name, &family.name);
	if (err < 0) {
		gc_policy_free(family.gc);
		return err;
	}
	i = place_by_name(grown, table->family_count, sizeof(*grown),
			  spec->name, &found);
	assert(!found);
	memmove(&grown[i + 1], &grown[i],
		(table->family_count - i) * sizeof(*grown));
	table->family_count++;
	grown[i] = family;
	*out = &grown[i];
	return 0;
}

/* Closes the gap; pointers to later families are of their successors then. */
void table_remove_family(struct table *table, struct family *family)
{
	size_t i = (size_t)(family - table->families);

	assert(i < table->family_count);
	family_release(family);
	table->family_count--;
	memmove(family, family + 1,
		(table->family_count - i) * sizeof(*family));
}

/* Adds a copy of from to table, births included. */
static int copy_family(const struct family *from, struct table *table)
{
	struct family_spec spec = {
		.name = from->name,
		.type = from->type,
		.gc = from->gc,
	};
	struct family *to;
	int err;

	err = table_add_family(table, &spec, &to);
	if (err == 0)
		to->birth_seq = from->birth_seq;
	if (err == 0)
		to->rules_seq = from->rules_seq;
	return err;
}

/* Adding in the order of names appends each time. */
int schema_copy(const struct schema *from, struct schema **out)
{
	struct schema *copy;
	struct table *table;
	size_t i, j;
	int err;

	*out = NULL;
	err = schema_new(&copy);
	if (err < 0)
		return err;
	copy->seq = from->seq;
	copy->attributes = attributes_share(&from->attributes);
	for (i = 0; i < from->table_count && err == 0; i++) {
		const struct table *old = &from->tables[i];

		err = schema_add_table(copy, old->name, &table);
		if (err < 0)
			break;
		table->id = old->id;
		table->birth_seq = old->birth_seq;
		table->record_seq = old->record_seq;
		table->millis = old->millis;
		table->access = old->access;
		table->attributes = attributes_share(&old->attributes);
		for (j = 0; j < old->family_count && err == 0; j++)
			err = copy_family(&old->families[j], table);
	}
	if (err < 0) {
		schema_put(copy);
		return err;
	}
	*out = copy;
	return 0;
}

/* By id, as gc_rules_table looks them up. */
static int compare_ids(const void *a, const void *b)
{
	const struct gc_table *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* What the engine has to know of a family: no type but how merges go. */
static int family_rules(const struct family *from, struct gc_family *to)
{
	int err = copy_bytes(from->name, &to->name);

	to->birth_seq = from->birth_seq;
	to->rules_seq = from->rules_seq;
	to->merge = family_aggregate(from);
	return err < 0 ? err : gc_policy_copy(from->gc, &to->policy);
}

/* The schema's own table keeps all of what it holds. Families are by name. */
static int schema_table_rules(struct gc_table *t)
{
	const struct bytes names[] = { SCHEMA_ATTRIBUTES_FAMILY,
				       SCHEMA_IDS_FAMILY, SCHEMA_FAMILY };
	enum { COUNT = sizeof(names) / sizeof(names[0]) };
	size_t i;
	int err = 0;

	t->id = SCHEMA_TABLE_ID;
	t->families = calloc(COUNT, sizeof(*t->families));
	if (!t->families)
		return -ENOMEM;
	t->family_count = COUNT;
	for (i = 0; i < COUNT && err == 0; i++)
		err = copy_bytes(names[i], &t->families[i].name);
	return err;
}

static void put_schema(void *schema)
{
	schema_put(schema);
}

/* What was made so far is freed by gc_rules_put on failure, for which the
 * counts always say how much of it there is. The schema sorts tables by name,
 * the rules by id. */
int schema_rules(struct schema *schema, struct gc_rules **out)
{
	struct gc_rules *rules = calloc(1, sizeof(*rules));
	size_t i, j;
	int err;

	*out = NULL;
	if (!rules)
		return -ENOMEM;
	reference_init(&rules->references);
	rules->tables = calloc(schema->table_count + 1, sizeof(*rules->tables));
	if (!rules->tables) {
		gc_rules_put(rules);
		return -ENOMEM;
	}
	rules->table_count = schema->table_count + 1;
	rules->seq = schema->seq;
	reference_take(&schema->references);
	rules->schema = schema;
	rules->put_schema = put_schema;
	err = schema_table_rules(&rules->tables[0]);
	for (i = 0; i < schema->table_count && err == 0; i++) {
		const struct table *from = &schema->tables[i];
		struct gc_table *to = &rules->tables[i + 1];

		to->id = from->id;
		to->birth_seq = from->birth_seq;
		to->families =
			calloc(from->family_count + 1, sizeof(*to->families));
		if (!to->families)
			err = -ENOMEM;
		for (j = 0; j < from->family_count && err == 0; j++) {
			to->family_count = j + 1;
			err = family_rules(&from->families[j],
					   &to->families[j]);
		}
	}
	if (err < 0) {
		gc_rules_put(rules);
		return err;
	}
	qsort(rules->tables, rules->table_count, sizeof(*rules->tables),
	      compare_ids);
	*out = rules;
	return 0;
}

/* Bigtable's letters for the names of tables and families. That a slash is none
 * is what lets a name be one of a file. */
static bool is_name_byte(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}

/* A name must not begin like an option or a hidden file. what is for the
 * message. */
static int check_name(struct bytes name, const char *what, size_t size_max)
{
	size_t i;

	if (name.size == 0 || name.size > size_max)
		return fail(name.size == 0 ? ERR_bad_name : ERR_name_too_long,
			    "%s name has %zu bytes, must have 1 to %zu", what,
			    name.size, size_max);
	for (i = 0; i < name.size && is_name_byte(name.data[i]); i++)
		;
	if (i < name.size || name.data[0] == '-' || name.data[0] == '.')
		return fail(ERR_bad_name,
			    "%s name \"%s\" must match "
			    "[_a-zA-Z0-9][-_.a-zA-Z0-9]*",
			    what, err_name(name));
	return 0;
}

/* Limits of names come from store.h. */
int store_check_table_name(struct bytes name)
{
	return check_name(name, "table", STORE_TABLE_NAME_MAX);
}

int store_check_instance_table_name(struct bytes name)
{
	const uint8_t *tilde = memchr(name.data, '~', name.size);
	size_t size = tilde ? (size_t)(tilde - name.data) : 0;
	int err;

	if (!tilde)
		return store_check_table_name(name);
	err = check_name(bytes_of(name.data, size), "instance",
			 STORE_INSTANCE_NAME_MAX);
	return err < 0 ? err
		       : store_check_table_name(bytes_after(name, size + 1));
}

int store_check_family_name(struct bytes name)
{
	return check_name(name, "family", STORE_FAMILY_NAME_MAX);
}

static void set_family_births(struct family *f, uint64_t seq)
{
	if (f->birth_seq == 0)
		f->birth_seq = seq;
	if (f->rules_seq == 0)
		f->rules_seq = seq;
}

/* So what is in memory is what a restart would read. */
void schema_set_births(struct schema *schema, uint64_t seq)
{
	size_t i, j;

	for (i = 0; i < schema->table_count; i++) {
		struct table *t = &schema->tables[i];

		if (t->birth_seq == 0)
			t->birth_seq = seq;
		if (t->record_seq == 0)
			t->record_seq = seq;
		for (j = 0; j < t->family_count; j++)
			set_family_births(&t->families[j], seq);
	}
}
