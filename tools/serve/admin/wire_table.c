#include <stdio.h>

#include "tools/serve/admin/cluster_admin.h"
#include "tools/serve/admin/wire_family.h"
#include "tools/serve/admin/wire_table.h"
#include "tools/serve/method/attributes.h"

#define MILLIS 1 /* of TimestampGranularity */
#define READY 4  /* of ReplicationState */

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
	out->granularity = t->millis ? MILLIS : 0;
	out->deletion_protection = attributes_find(
		&t->attributes, BYTES_LITERAL(STORE_PROTECTED), NULL);
	return err;
}

static int add_states(struct proto_arena *arena, struct proto_table *out)
{
	struct proto_cluster_state_entry *entry;
	struct proto_cluster_state *state;
	int err = 0;

	entry = proto_alloc(arena, sizeof(*entry), &err);
	state = proto_alloc(arena, sizeof(*state), &err);
	if (!entry || !state)
		return err;
	state->replication_state = READY;
	entry->key = BYTES_LITERAL(DEFAULT_CLUSTER);
	entry->value = state;
	out->cluster_states.at = entry;
	out->cluster_states.count = 1;
	return 0;
}

int wire_table(const struct table *t, struct bytes instance,
	       enum table_view view, struct proto_arena *arena,
	       struct proto_table *out)
{
	int err = add_name(t, instance, arena, &out->name);

	if (!err && (view == TABLE_SCHEMA || view == TABLE_FULL))
		err = add_families(t, arena, out);
	if (!err && (view == TABLE_REPLICATION || view == TABLE_FULL ||
		     view == TABLE_ENCRYPTION))
		err = add_states(arena, out);
	return err;
}
