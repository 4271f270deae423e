#include <errno.h>
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/pool_room.h"

/* An object that is there only to see whether it can be made. */
#define PROBE "probe"

/* So long what was told is not asked again: the monitor is told as seldom. */
#define KEEP_MS 1000

/* Of a pool of which nothing is known. */
#define UNKNOWN_SIZE (UINT64_C(1) << 50)

/* A pool that was full is asked by making an object: what is known of its space
 * is older than what it does. */
int pool_check_full(struct pool_volume *v)
{
	rados_write_op_t op;
	int err;

	if (!atomic_load(&v->full))
		return 0;
	op = rados_create_write_op();
	rados_write_op_create(op, LIBRADOS_CREATE_IDEMPOTENT, NULL);
	err = pool_write(v, op, PROBE, 0);
	if (err < 0)
		return pool_fail(v, "", err, "cannot hold room");
	op = rados_create_write_op();
	rados_write_op_remove(op);
	(void)pool_write(v, op, PROBE, LIBRADOS_OPERATION_FULL_FORCE);
	atomic_store(&v->full, false);
	return 0;
}

/* Needs lock. */
static void add(struct pool_spares *s, uint64_t size)
{
	size_t i = s->count++;

	for (; i > 0 && s->items[i - 1] < size; i--)
		s->items[i] = s->items[i - 1];
	s->items[i] = size;
}

/* The first piece that is missing, or too small; wanted_count: none is. Needs
 * lock. */
static size_t find_missing(const struct pool_spares *s)
{
	size_t i = 0;

	while (i < s->wanted_count && i < s->count &&
	       s->items[i] >= s->wanted[i])
		i++;
	return i;
}

void pool_spare_give(struct pool_volume *v)
{
	struct pool_spares *s = &v->spares;
	size_t i;

	pthread_mutex_lock(&v->lock);
	i = find_missing(s);
	if (i < s->wanted_count && s->count < VOLUME_SPARES_MAX)
		add(s, s->wanted[i]);
	pthread_mutex_unlock(&v->lock);
}

int pool_spare_take(struct pool_volume *v, const char *name, uint64_t size,
		    bool largest, uint64_t *room)
{
	struct pool_spares *s = &v->spares;
	size_t i;

	pthread_mutex_lock(&v->lock);
	i = s->count;
	while (i > 0 && s->items[i - 1] < size)
		i--;
	if (i == 0 && largest && s->count > 0)
		i = 1;
	if (i > 0) {
		*room = s->items[--i];
		s->count--;
		for (; i < s->count; i++)
			s->items[i] = s->items[i + 1];
		i = 1;
	}
	pthread_mutex_unlock(&v->lock);
	return i > 0 ? 0
		     : fail(ENOSPC, "%s/%s: no room is held for it", v->path,
			    name);
}

/* qsort's. */
static int larger_first(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? 1 : left > right ? -1 : 0;
}

/* Gives back what is not wanted, but not with keep; and takes what is missing,
 * where that is to be had. Needs lock. */
static void hold(struct pool_spares *s, bool keep, bool is_full)
{
	size_t i;

	for (i = 0; i < s->wanted_count; i++) {
		if (i < s->count && s->items[i] >= s->wanted[i])
			continue;
		if (is_full)
			break;
		if (i == s->count)
			s->count++;
		s->items[i] = s->wanted[i];
	}
	if (!keep && s->count > s->wanted_count)
		s->count = s->wanted_count;
}

int pool_spare_hold(struct volume *volume, const uint64_t *sizes, size_t count,
		    bool keep)
{
	struct pool_volume *v = pool(volume);
	struct pool_spares *s = &v->spares;
	int err = pool_guard(v), full;

	if (err < 0)
		return err;
	full = pool_check_full(v);
	pthread_mutex_lock(&v->lock);
	if (count > 0)
		memcpy(s->wanted, sizes, count * sizeof(*sizes));
	s->wanted_count = count;
	qsort(s->wanted, count, sizeof(*s->wanted), larger_first);
	hold(s, keep, full < 0);
	err = find_missing(s) < s->wanted_count ? full : 0;
	pthread_mutex_unlock(&v->lock);
	return err;
}

/* What was removed is gone, or is so when the registry says it. */
int pool_spare_wipe(struct volume *volume)
{
	return pool_guard(pool(volume));
}

/* A number of a pool's stats; 0: there is none. */
static uint64_t number(yajl_val stats, const char *name)
{
	const char *path[] = { name, NULL };
	yajl_val v = yajl_tree_get(stats, path, yajl_t_number);

	if (!v)
		return 0;
	return YAJL_IS_INTEGER(v) && YAJL_GET_INTEGER(v) > 0
		       ? (uint64_t)YAJL_GET_INTEGER(v)
		       : 0;
}

/* The stats of the pool of this id in what "df" told, or NULL. */
static yajl_val find_pool(yajl_val all, int64_t id)
{
	static const char *const pools[] = { "pools", NULL };
	static const char *const ids[] = { "id", NULL };
	static const char *const stats[] = { "stats", NULL };
	yajl_val list = yajl_tree_get(all, (const char **)pools, yajl_t_array);
	yajl_val v;
	size_t i;

	for (i = 0; list && i < YAJL_GET_ARRAY(list)->len; i++) {
		v = yajl_tree_get(YAJL_GET_ARRAY(list)->values[i],
				  (const char **)ids, yajl_t_number);
		if (v && YAJL_GET_INTEGER(v) == id)
			return yajl_tree_get(YAJL_GET_ARRAY(list)->values[i],
					     (const char **)stats,
					     yajl_t_object);
	}
	return NULL;
}

/* What is not to be found is unknown. */
static void parse(struct pool_volume *v, const char *text,
		  struct volume_space *out)
{
	char wrong[64];
	yajl_val all = yajl_tree_parse(text, wrong, sizeof(wrong));
	yajl_val stats = all ? find_pool(all, rados_ioctx_get_id(v->io)) : NULL;
	uint64_t stored, left, quota;

	*out = (struct volume_space){ UNKNOWN_SIZE, UNKNOWN_SIZE,
				      UNKNOWN_SIZE };
	stored = stats ? number(stats, "stored") : 0;
	left = stats ? number(stats, "max_avail") : 0;
	quota = stats ? number(stats, "quota_bytes") : 0;
	if (stored + left > 0) {
		if (quota > 0 && quota < stored + left)
			left = quota > stored ? quota - stored : 0;
		*out = (struct volume_space){ stored + left, left, left };
	}
	yajl_tree_free(all);
}

/* 0 or a raw error. */
static int ask(struct pool_volume *v, struct volume_space *out)
{
	const char *command = "{\"prefix\":\"df\",\"detail\":\"detail\","
			      "\"format\":\"json\"}";
	char *text = NULL, *status = NULL, *string;
	size_t size = 0, status_size = 0;
	int err = rados_mon_command(v->cluster, &command, 1, "", 0, &text,
				    &size, &status, &status_size);

	string = err == 0 ? strndup(text, size) : NULL;
	if (string)
		parse(v, string, out);
	else if (err == 0)
		err = -ENOMEM;
	free(string);
	rados_buffer_free(text);
	rados_buffer_free(status);
	return err;
}

void pool_space_used(struct pool_volume *v, uint64_t size)
{
	uint64_t second = pool_now_ms() / 1000;
	struct pool_written *w = &v->written[second % POOL_SPACE_LAG];

	pthread_mutex_lock(&v->lock);
	if (w->second != second)
		*w = (struct pool_written){ .second = second };
	w->size += size;
	pthread_mutex_unlock(&v->lock);
}

/* What was told, less what it may not know of. Needs lock. */
static struct volume_space present_space(const struct pool_volume *v,
					 uint64_t now)
{
	struct volume_space space = v->space;
	uint64_t recent = 0;
	size_t i;

	for (i = 0; i < POOL_SPACE_LAG; i++)
		if (v->written[i].second + POOL_SPACE_LAG > now / 1000)
			recent += v->written[i].size;
	recent = recent < space.free_size ? recent : space.free_size;
	space.free_size -= recent;
	space.available_size -= recent;
	return space;
}

int pool_space(struct volume *volume, struct volume_space *out)
{
	struct pool_volume *v = pool(volume);
	uint64_t now = pool_now_ms();
	struct volume_space space;
	int err = 0;
	bool old;

	pthread_mutex_lock(&v->lock);
	old = v->space_ms == 0 || now - v->space_ms > KEEP_MS;
	pthread_mutex_unlock(&v->lock);
	if (old)
		err = ask(v, &space);
	if (err < 0)
		return pool_fail(v, "", err, "cannot tell its space");
	pthread_mutex_lock(&v->lock);
	if (old) {
		v->space = space;
		v->space_ms = now;
	}
	*out = present_space(v, now);
	pthread_mutex_unlock(&v->lock);
	return 0;
}
