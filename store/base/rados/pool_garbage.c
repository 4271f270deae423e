#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_registry.h"
#include "store/base/rados/pool_garbage.h"

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

/* Which files there are: nonces, in order; owned. */
struct known {
	uint64_t *nonces;
	size_t count, room;
};

/* pool_each's. */
static int know(void *context, const char *key, const struct pool_entry *e)
{
	struct known *k = context;
	size_t room = k->room ? 2 * k->room : 64;
	uint64_t *more;

	(void)key;
	if (k->count == k->room) {
		more = realloc(k->nonces, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		k->nonces = more;
		k->room = room;
	}
	k->nonces[k->count++] = e->nonce;
	return 0;
}

/* qsort's and bsearch's. */
static int order(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void sort(struct known *k)
{
	if (k->count > 0)
		qsort(k->nonces, k->count, sizeof(*k->nonces), order);
}

/* Of one that is sorted. */
static bool is_known(const struct known *k, uint64_t nonce)
{
	return k->count > 0 &&
	       bsearch(&nonce, k->nonces, k->count, sizeof(nonce), order);
}

/* The nonce in the name of a part: FILE.NONCE.PART. */
static bool nonce_of(const char *object, uint64_t *out)
{
	const char *dot = strrchr(object, '.');
	char *end;

	while (dot && dot > object && *--dot != '.')
		continue;
	if (!dot || dot == object)
		return false;
	*out = strtoull(dot + 1, &end, 16);
	return end - dot == POOL_NUMBER_SIZE && *end == '.';
}

/* Words, one behind the other, with a NUL each: parts that are not known. 0 or
 * a raw error. */
static int find_unknown(struct pool_volume *v, const struct known *k,
			struct buf *out)
{
	rados_list_ctx_t list;
	const char *object;
	uint64_t nonce;
	int err = rados_nobjects_list_open(v->io, &list);

	if (err < 0)
		return err;
	while ((err = rados_nobjects_list_next(list, &object, NULL, NULL)) == 0)
		if (nonce_of(object, &nonce) && !is_known(k, nonce) &&
		    (err = buf_add(out, object, strlen(object) + 1)) < 0)
			break;
	rados_nobjects_list_close(list);
	return err == -ENOENT ? 0 : err;
}

/* Of those that were unknown before, each that still is, and is there. */
static int tell_strays(struct pool_volume *v, const struct known *k,
		       struct bytes unknown,
		       int (*each)(void *context, const char *object),
		       void *context)
{
	uint64_t nonce, size;
	const char *object;
	int err = 0;

	while (unknown.size > 0 && err >= 0) {
		object = (const char *)unknown.data;
		unknown = bytes_after(unknown, strlen(object) + 1);
		nonce_of(object, &nonce);
		if (k->count > 0 &&
		    bsearch(&nonce, k->nonces, k->count, sizeof(nonce), order))
			continue;
		err = pool_size(v, object, &size);
		if (err == 0)
			err = each(context, object);
		else
			err = err == -ENOENT ? 0
					     : pool_fail(v, object, err,
							 "cannot look");
	}
	return err;
}

/* Files come and go meanwhile. One that came after the first look is known at
 * the second, and parts of one that went before it are gone by then, as they go
 * before its entry does. */
int pool_strays(struct volume *volume,
		int (*each)(void *context, const char *object), void *context)
{
	struct pool_volume *v = pool(volume);
	struct known known = { .nonces = NULL };
	struct buf unknown = BUF_INIT;
	int err = pool_each(v, know, &known), found = 0;

	if (err == 0) {
		sort(&known);
		found = find_unknown(v, &known, &unknown);
		known.count = 0;
		err = found < 0 ? pool_fail(v, "", found, "cannot be listed")
				: pool_each(v, know, &known);
	}
	if (err == 0) {
		sort(&known);
		err = tell_strays(v, &known, buf_bytes(&unknown), each,
				  context);
	}
	buf_release(&unknown);
	free(known.nonces);
	return err;
}
