#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/model/admin/dropped.h"
#include "store/model/attributes.h"
#include "store/model/schema_load.h"

#define PREFIX BYTES_LITERAL(STORE_DROPPED)
#define NAME_SIZE sizeof("dropped/01234567")
#define VALUE_SIZE 20

static struct bytes name_of(uint32_t id, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, STORE_DROPPED "%08x", (unsigned int)id);
	return bytes_string(name);
}

/* The time of a drop; 0, as of one long ago, if the value is none. */
static uint64_t time_of(const struct attribute *a)
{
	return a->value.size == VALUE_SIZE ? get_u64le(a->value.data + 12) : 0;
}

bool schema_dropped_access(const struct schema *schema, uint32_t id,
			   struct table_access *out)
{
	char name[NAME_SIZE];
	struct bytes value;

	if (!attributes_find(&schema->attributes, name_of(id, name), &value) ||
	    value.size != VALUE_SIZE)
		return false;
	*out = (struct table_access){ get_u32le(value.data),
				      get_u32le(value.data + 4),
				      get_u32le(value.data + 8) };
	return true;
}

/* Those of drops before since_us, and if DROPPED_MAX are left the oldest, as
 * changes without values in out, which has room for all: how many. */
static size_t find_unwanted(const struct attributes *a, uint64_t since_us,
			    struct attribute *out)
{
	size_t i = attributes_from(a, PREFIX), count = 0, kept = 0;
	const struct attribute *oldest = NULL;

	for (; i < a->count && bytes_starts_with(a->items[i].name, PREFIX);
	     i++) {
		const struct attribute *at = &a->items[i];

		if (time_of(at) < since_us) {
			out[count++].name = at->name;
			continue;
		}
		kept++;
		if (!oldest || time_of(at) < time_of(oldest))
			oldest = at;
	}
	if (kept >= DROPPED_MAX)
		out[count++].name = oldest->name;
	return count;
}

size_t dropped_all(const struct attributes *a, struct attribute *out)
{
	size_t i = attributes_from(a, PREFIX), count = 0;

	for (; i < a->count && bytes_starts_with(a->items[i].name, PREFIX); i++)
		out[count++] = (struct attribute){ .name = a->items[i].name };
	return count;
}

/* Removes and sets, by one change. What there is no room for is not kept: then
 * nobody but the table's owner reads its past. */
static int put(struct change *c, struct attribute *changes, size_t count)
{
	struct attributes *a = &c->schema->attributes;
	struct attributes before = attributes_share(a);
	size_t i;
	int err = attributes_change(a, changes, count);

	/* The records follow, of names that the former set has. */
	for (i = 0; i < count && err == 0; i++)
		err = change_put_attribute(c, &changes[i]);
	attributes_release(&before);
	if (err != -ERR_attributes_full)
		return err;
	err_clear();
	return 0;
}

/* The time of the oldest moment; 0: there is none. */
static uint64_t oldest_moment(struct engine *e)
{
	uint64_t time_us;

	pthread_mutex_lock(&e->lock);
	time_us = e->moments->count > 0 ? e->moments->items[0].time_us : 0;
	pthread_mutex_unlock(&e->lock);
	return time_us;
}

int dropped_note(struct change *c, const struct table *table)
{
	const struct attributes *a = &c->schema->attributes;
	struct attribute *changes;
	char name[NAME_SIZE];
	uint8_t value[VALUE_SIZE];
	uint64_t keep_us, max_size;
	size_t count;
	int err;

	schema_history(c->schema, &keep_us, &max_size);
	if (keep_us == 0)
		return 0;
	changes = calloc(a->count + 2, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	count = find_unwanted(a, oldest_moment(c->s->engine), changes);
	put_u32le(value, table->access.mode);
	put_u32le(value + 4, table->access.uid);
	put_u32le(value + 8, table->access.gid);
	put_u64le(value + 12, engine_now(c->s->engine));
	changes[count++] = (struct attribute){ name_of(table->id, name),
					       bytes_of(value, sizeof(value)) };
	err = put(c, changes, count);
	free(changes);
	return err;
}
