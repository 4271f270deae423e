#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/core/view.h"

int view_new(struct version *version, struct memtable *const *memtables,
	     size_t count, struct engine_view **out)
{
	struct engine_view *v =
		malloc(sizeof(*v) + count * sizeof(*v->memtables));
	size_t i;

	*out = v;
	if (!v)
		return -ENOMEM;
	atomic_init(&v->references, 1);
	v->version = version_get(version);
	v->count = count;
	for (i = 0; i < count; i++)
		v->memtables[i] = memtable_get(memtables[i]);
	return 0;
}

struct engine_view *view_get(struct engine_view *v)
{
	if (v)
		atomic_fetch_add(&v->references, 1);
	return v;
}

void view_put(struct engine_view *v)
{
	size_t i;

	if (!v || atomic_fetch_sub(&v->references, 1) > 1)
		return;
	for (i = 0; i < v->count; i++)
		memtable_put(v->memtables[i]);
	version_put(v->version);
	free(v);
}

/* In this order: it may be seen newer at any time, and is never ahead of the
 * clock that is read after it. */
uint64_t engine_age_us(struct engine *e)
{
	uint64_t as_of_us = atomic_load(&e->as_of_us);

	return e->follower ? clock_now(&clock_steady) - as_of_us : 0;
}

uint64_t engine_fresh_us(struct engine *e)
{
	uint64_t most = (uint64_t)e->options.staleness_ms * 1000;
	uint64_t age = engine_age_us(e);

	if (!e->follower)
		return UINT64_MAX;
	return age < most ? most - age : 0;
}

int engine_fresh(struct engine *e)
{
	char why[sizeof(e->trouble_text)];

	if (engine_fresh_us(e) > 0)
		return 0;
	pthread_mutex_lock(&e->lock);
	snprintf(why, sizeof(why), "%s", e->trouble_text);
	pthread_mutex_unlock(&e->lock);
	return fail(
		ESTALE,
		"%s: what is known of it is %llu ms old, and staleness=%ums "
		"allows no more: %s",
		e->volume->path, (unsigned long long)engine_age_us(e) / 1000,
		e->options.staleness_ms,
		*why ? why : "it has not been looked at since");
}
