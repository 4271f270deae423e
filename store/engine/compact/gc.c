#include <assert.h>
#include <stdlib.h>

#include "store/base/threads/reference.h"
#include "store/engine/compact/gc.h"

struct gc_rules *gc_rules_get(struct gc_rules *r)
{
	if (r)
		reference_take(&r->references);
	return r;
}

static void family_release(struct gc_family *f)
{
	gc_policy_free(f->policy);
	/* Bytes are borrowed everywhere else, and so const. */
	free((void *)(uintptr_t)f->name.data);
}

void gc_rules_put(struct gc_rules *r)
{
	size_t i, j;

	if (!r || !reference_drop(&r->references))
		return;
	for (i = 0; i < r->table_count; i++) {
		for (j = 0; j < r->tables[i].family_count; j++)
			family_release(&r->tables[i].families[j]);
		free(r->tables[i].families);
	}
	free(r->tables);
	if (r->put_schema)
		r->put_schema(r->schema);
	free(r);
}

const struct gc_table *gc_rules_first(const struct gc_rules *r, uint32_t id,
				      uint32_t last)
{
	size_t low = 0, high = r->table_count;

	assert(id <= last);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->tables[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->table_count && r->tables[low].id <= last
		       ? &r->tables[low]
		       : NULL;
}

const struct gc_table *gc_rules_table(const struct gc_rules *r, uint32_t id)
{
	return gc_rules_first(r, id, id);
}

const struct gc_family *gc_table_family(const struct gc_table *t,
					struct bytes name)
{
	size_t low = 0, high = t->family_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = bytes_compare(t->families[middle].name, name);

		if (order == 0)
			return &t->families[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint64_t gc_rules_birth(const struct gc_rules *r, uint32_t table,
			struct bytes family)
{
	const struct gc_table *t = gc_rules_table(r, table);
	const struct gc_family *f = t ? gc_table_family(t, family) : NULL;

	if (!f)
		return UINT64_MAX;
	return t->birth_seq > f->birth_seq ? t->birth_seq : f->birth_seq;
}

void gc_column_start(struct gc_column *c, const struct gc_family *family,
		     uint64_t now_us, uint64_t counted_us)
{
	assert(family && counted_us <= now_us);
	c->family = family;
	c->now_us = now_us;
	c->counted_us = counted_us;
	c->rank = 0;
}

/* What is hidden does not count. So it makes no difference whether a compaction
 * has dropped it already. */
bool gc_column_keep(struct gc_column *c, uint64_t timestamp_us)
{
	if (!gc_keep(c->family->policy, c->rank, timestamp_us, c->counted_us))
		return false;
	if (c->counted_us < c->now_us &&
	    !gc_column_keep_newest(c, timestamp_us))
		return false;
	c->rank++;
	return true;
}

bool gc_column_keep_newest(const struct gc_column *c, uint64_t timestamp_us)
{
	return gc_keep(c->family->policy, 0, timestamp_us, c->now_us);
}
