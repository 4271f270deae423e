#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/run/pending.h"
#include "store/engine/run/write.h"

/*
 * The records are applied to a memtable of their own, with the sequences that
 * they would get if they were written next. Readers take it as the newest of
 * their sources. A row that grows by rule after rule is shown after each, so
 * what is in the memtable stays and only what is new is added.
 */

/* Of the first memtable: most batches that are looked at hold a few cells. */
#define ARENA_SIZE_MIN 65536

void pending_release(struct pending *p)
{
	memtable_put(p->memtable);
	free(p->snapshot);
	*p = (struct pending){ 0 };
}

/* The records that are not in yet, as a batch that borrows them. */
static struct batch rest_of(const struct pending *p, const struct batch *batch)
{
	struct batch rest = *batch;

	assert(p->count <= batch->count);
	assert(p->range_count <= batch->range_count);
	rest.count -= p->count;
	rest.range_count -= p->range_count;
	if (p->count > 0)
		rest.start = p->position;
	return rest;
}

/* Makes room in p->memtable for what *rest then is: the records that are not
 * in, or all of batch in a new memtable if they do not fit into the old one.
 * Cursors may still read the old one. */
static int make_room(struct pending *p, const struct batch *batch,
		     struct batch *rest)
{
	size_t size;
	int fits, err;

	*rest = rest_of(p, batch);
	fits = p->memtable ? memtable_reserve(p->memtable, rest) : 0;
	if (fits != 0)
		return fits < 0 ? fits : 0;
	p->position = p->count = p->range_count = 0;
	memtable_put(p->memtable);
	p->memtable = NULL;
	*rest = *batch;
	/* Twice, so that a long row of additions is copied a few times only. */
	size = memtable_need(batch) * 2;
	err = memtable_new(size < ARENA_SIZE_MIN ? ARENA_SIZE_MIN : size,
			   &p->memtable);
	if (err == 0)
		err = memtable_reserve(p->memtable, rest);
	return err < 0 ? err : 0;
}

int pending_view(struct pending *p, struct engine *e, const struct batch *batch,
		 const struct engine_snapshot **out)
{
	struct batch rest;
	int err;

	if (!p->snapshot) {
		p->snapshot = calloc(1, sizeof(*p->snapshot));
		if (!p->snapshot)
			return -ENOMEM;
		pthread_mutex_lock(&e->lock);
		p->snapshot->gc_time_us = engine_gc_time(e);
		pthread_mutex_unlock(&e->lock);
	}
	/* The GC time stays that of the first view, so that no cell expires in
	 * the middle of an update. */
	if (batch->count > p->count) {
		err = make_room(p, batch, &rest);
		if (err < 0)
			return err;
		memtable_apply(p->memtable, &rest,
			       engine_visible_seq(e) + p->count + 1);
		assert(p->count + rest.count == batch->count);
		p->position = batch->data.size;
		p->count = batch->count;
		p->range_count = batch->range_count;
	}
	assert(p->count == batch->count);
	p->snapshot->seq = engine_visible_seq(e) + p->count;
	p->snapshot->pending = p->memtable;
	*out = p->snapshot;
	return 0;
}
