#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/pool_garbage.h"
#include "store/base/rados/pool_op.h"
#include "store/base/rados/pool_registry.h"

/* Parts that are removed at once. As more are not under way when a segment is
 * written, so many that are missing are its end. */
#define BATCH_SIZE 8

struct pool_garbage {
	struct pool_garbage *next;
	uint64_t nonce;
	uint64_t parts; /* 0: until none is there */
	char name[VOLUME_NAME_MAX + 1];
};

/* What is not noted for lack of memory stays in the registry for the next
 * holder. */
void pool_garbage_add(struct pool_volume *v, const char *name, uint64_t nonce,
		      uint64_t parts)
{
	struct pool_garbage *g = calloc(1, sizeof(*g));

	if (!g)
		return;
	g->nonce = nonce;
	g->parts = parts;
	snprintf(g->name, sizeof(g->name), "%s", name);
	pthread_mutex_lock(&v->lock);
	g->next = v->garbage;
	v->garbage = g;
	pthread_mutex_unlock(&v->lock);
	pool_garbage_look(v);
}

/* By the thread that renews, if there is one. */
void pool_garbage_look(struct pool_volume *v)
{
	char detail[256];

	if (v->renewer) {
		bg_wake(v->renewer);
		return;
	}
	if (atomic_load(&v->lease) != POOL_NEVER)
		return;
	snprintf(detail, sizeof(detail), "%s", err_detail());
	while (pool_garbage_step(v) > 0)
		continue;
	if (strcmp(detail, err_detail()) != 0)
		(void)fail(EIO, "%s", detail);
}

/* Needs lock. */
static bool is_read(const struct pool_volume *v, uint64_t nonce)
{
	const struct pool_reading *r = v->readings;

	while (r && r->nonce != nonce)
		r = r->next;
	return r != NULL;
}

/* Takes one that nobody reads. NULL: there is none. */
static struct pool_garbage *take(struct pool_volume *v)
{
	struct pool_garbage **at, *g;

	pthread_mutex_lock(&v->lock);
	for (at = &v->garbage; *at; at = &(*at)->next)
		if (!is_read(v, (*at)->nonce))
			break;
	g = *at;
	if (g)
		*at = g->next;
	pthread_mutex_unlock(&v->lock);
	return g;
}

/* Removes parts from first on: how many were there, or a raw error. */
static int remove_batch(struct pool_volume *v, const struct pool_garbage *g,
			uint64_t first, unsigned int count)
{
	rados_completion_t ends[BATCH_SIZE];
	char oid[POOL_PART_NAME_SIZE];
	unsigned int i, begun, removed = 0;
	int err = 0, result;

	for (begun = 0; begun < count; begun++) {
		pool_part_name(g->name, g->nonce, first + begun, oid);
		err = rados_aio_create_completion2(NULL, NULL, &ends[begun]);
		if (err < 0)
			break;
		err = rados_aio_remove(v->io, oid, ends[begun]);
		if (err < 0) {
			rados_aio_release(ends[begun]);
			break;
		}
	}
	for (i = 0; i < begun; i++) {
		rados_aio_wait_for_complete(ends[i]);
		result = rados_aio_get_return_value(ends[i]);
		rados_aio_release(ends[i]);
		removed += result == 0;
		if (result < 0 && result != -ENOENT)
			err = result;
	}
	return err < 0 ? err : (int)removed;
}

/* 0 or a raw error. */
static int remove_parts(struct pool_volume *v, const struct pool_garbage *g)
{
	uint64_t at = 0, left;
	int removed = 1;

	while (removed > 0 || (removed == 0 && at < g->parts)) {
		left = BATCH_SIZE;
		if (g->parts > 0 && g->parts - at < left)
			left = g->parts - at;
		if (left == 0)
			return 0;
		removed = remove_batch(v, g, at, (unsigned int)left);
		at += left;
	}
	return removed < 0 ? removed : 0;
}

/* Parts go first: what is garbage still, but has none, is garbage that was
 * removed before. */
int pool_garbage_step(struct pool_volume *v)
{
	struct pool_garbage *g = take(v);
	char key[POOL_KEY_SIZE];
	int err;

	if (!g)
		return 0;
	err = remove_parts(v, g);
	if (err < 0) {
		err = pool_fail(v, g->name, err, "cannot remove");
	} else {
		pool_garbage_key(g->name, g->nonce, key);
		err = pool_forget(v, key);
	}
	if (err == 0 || err == -ERR_store_lost) {
		free(g);
		return err == 0 ? 1 : err;
	}
	pthread_mutex_lock(&v->lock);
	g->next = v->garbage;
	v->garbage = g;
	pthread_mutex_unlock(&v->lock);
	return err;
}

/* There is no other thread any more, or none yet. */
void pool_garbage_end(struct pool_volume *v)
{
	struct pool_garbage *g;

	while ((g = v->garbage)) {
		v->garbage = g->next;
		free(g);
	}
}
