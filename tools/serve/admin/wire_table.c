#include <stdio.h>

#include "tools/serve/admin/cluster_admin.h"
#include "tools/serve/admin/wire_family.h"
#include "tools/serve/admin/wire_table.h"
#include "tools/serve/method/attributes.h"

#define READY 4 /* of ReplicationState */

static int add_name(const struct table *t, struct bytes instance,
		    struct proto_arena *arena, struct bytes *out)
{
	static const char middle[] = "/tables/";
	const uint8_t *tilde = memchr(t->name.data, '~', t->name.size);
	struct bytes id =
		tilde ? bytes_after(t->name, (size_t)(tilde + 1 - t->name.data))
		      : t->name;
	size_t size = instance.size + sizeof(middle) - 1 + id.size;
	int err = 0;
	char *p = proto_alloc(arena, size + 1, &err);

	if (!p)
		return err;
	snprintf(p, size + 1, "%.*s%s%.*s", (int)instance.size,
		 (const char *)instance.data, middle, (int)id.size,
		 (const char *)id.data);
	*out = bytes_of(p, size);
	return 0;
}

static int add_families(const struct table *t, struct proto_arena *arena,
			struct proto_table *out)
{
	struct proto_column_family_entry *entries;
	struct proto_column_family *families;
	size_t i;
	int err = 0;

	entries = proto_alloc(arena, t->family_count * sizeof(*entries), &err);
	families =
		proto_alloc(arena, t->family_count * sizeof(*families), &err);
	if (!entries || !families)
		return err;
	for (i = 0; i < t->family_count && !err; i++) {
		const struct family *f = &t->families[i];

		entries[i].key = f->name;
		entries[i].value = &families[i];
		err = wire_gc_answer(family_gc(f), arena, &families[i].gc_rule);
		if (!err)
			err = wire_type_answer(f->type, arena,
					       &families[i].value_type);
	}
	out->column_families.at = entries;
	out->column_families.count = t->family_count;
	out->granularity = t->millis ? TABLE_MILLIS : 0;
	out->deletion_protection = attributes_find(
		&t->attributes, BYTES_LITERAL(STORE_PROTECTED), NULL);
	return err;
}

/* The id of a cluster, if the attribute is of one of the instance. */
static bool is_cluster(struct bytes name, struct bytes instance,
		       struct bytes *id)
{
	struct bytes rest = bytes_after(name, sizeof(RECORD_CLUSTERS) - 1);

	if (!bytes_starts_with(rest, instance) || rest.size == instance.size ||
	    rest.data[instance.size] != '/')
		return false;
	*id = bytes_after(rest, instance.size + 1);
	return true;
}

/* Of each cluster of the instance: those that were made, and the one that an
 * instance has that nobody made. */
static int add_states(const struct schema *schema, const struct table *t,
		      struct bytes instance, struct proto_arena *arena,
		      struct proto_table *out)
{
	const struct bytes prefix = BYTES_LITERAL(RECORD_CLUSTERS);
	const struct attributes *all = schema_attributes(schema, BYTES_NONE);
	size_t first = attributes_from(all, prefix), end = first;
	const uint8_t *slash = memrchr(instance.data, '/', instance.size);
	struct bytes made =
		bytes_after(instance, (size_t)(slash + 1 - instance.data));
	struct proto_cluster_state_entry *entry;
	struct proto_cluster_state *state;
	int err = 0;

	while (end < all->count &&
	       bytes_starts_with(all->items[end].name, prefix))
		end++;
	entry = proto_alloc(arena, (end - first + 1) * sizeof(*entry), &err);
	state = proto_alloc(arena, sizeof(*state), &err);
	if (!entry || !state)
		return err;
	state->replication_state = READY;
	out->cluster_states.at = entry;
	if (!memchr(t->name.data, '~', t->name.size))
		(entry++)->key = BYTES_LITERAL(DEFAULT_CLUSTER);
	for (; first < end; first++)
		if (is_cluster(all->items[first].name, made, &entry->key))
			entry++;
	out->cluster_states.count = (size_t)(entry - out->cluster_states.at);
	while (entry > out->cluster_states.at)
		(--entry)->value = state;
	return 0;
}

int wire_table(const struct schema *schema, const struct table *t,
	       struct bytes instance, enum table_view view,
	       struct proto_arena *arena, struct proto_table *out)
{
	int err = add_name(t, instance, arena, &out->name);

	if (!err && (view == TABLE_SCHEMA || view == TABLE_FULL))
		err = add_families(t, arena, out);
	if (!err && (view == TABLE_REPLICATION || view == TABLE_FULL ||
		     view == TABLE_ENCRYPTION))
		err = add_states(schema, t, instance, arena, out);
	return err;
}
