#include "store/engine/version.h"

#include <stdlib.h>

#include "store/base/err.h"

struct version *version_get(struct version *v)
{
	if (v)
		atomic_fetch_add(&v->references, 1);
	return v;
}

struct sst_file *sst_file_get(struct sst_file *f)
{
	atomic_fetch_add(&f->references, 1);
	return f;
}

void sst_file_put(struct sst_file *f)
{
	if (!f || atomic_fetch_sub(&f->references, 1) > 1)
		return;
	sst_close(f->sst);
	if (atomic_load(&f->obsolete))
		f->owner->unused(f->owner, f->id);
	free(f->bounds);
	free(f);
}

void version_put(struct version *v)
{
	unsigned int i;
	size_t j;

	if (!v || atomic_fetch_sub(&v->references, 1) > 1)
		return;
	for (i = 0; i < LEVEL_COUNT; i++) {
		for (j = 0; j < v->levels[i].count; j++)
			sst_file_put(v->levels[i].files[j]);
		free(v->levels[i].files);
	}
	free(v);
}

int sst_file_open(struct sst *sst, uint64_t id, uint64_t size, uint64_t seq,
		  struct file_owner *owner, struct sst_file **out)
{
	const struct sst_properties *p = sst_properties(sst);
	struct sst_file *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->bounds = malloc(p->smallest.size + p->largest.size + 1);
	if (!f->bounds) {
		free(f);
		return -ENOMEM;
	}
	memcpy(f->bounds, p->smallest.data, p->smallest.size);
	memcpy(f->bounds + p->smallest.size, p->largest.data, p->largest.size);
	f->smallest = bytes_of(f->bounds, p->smallest.size);
	f->largest = bytes_of(f->bounds + p->smallest.size, p->largest.size);
	f->largest_exclusive = p->largest_exclusive;
	f->seq = seq;
	f->smallest_seq = seq ? seq : p->smallest_seq;
	f->largest_seq = seq ? seq : p->largest_seq;
	f->max_timestamp = p->max_timestamp;
	f->id = id;
	f->size = size;
	f->sst = sst;
	if (seq)
		sst_set_seq(sst, seq);
	f->owner = owner;
	atomic_init(&f->references, 1);
	*out = f;
	return 0;
}

/* Whether all of f comes before key. */
static bool is_before(const struct sst_file *f, struct bytes key)
{
	int order = bytes_compare(f->largest, key);

	return order < 0 || (order == 0 && f->largest_exclusive);
}

bool sst_file_overlaps(const struct sst_file *f, struct bytes start,
		       struct bytes end)
{
	return !is_before(f, start) &&
	       (end.size == 0 || bytes_compare(f->smallest, end) < 0);
}

size_t level_find(const struct level *level, struct bytes key)
{
	size_t low = 0, high = level->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (is_before(level->files[middle], key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int by_newest(const void *a, const void *b)
{
	const struct sst_file *x = *(struct sst_file *const *)a;
	const struct sst_file *y = *(struct sst_file *const *)b;

	if (x->largest_seq != y->largest_seq)
		return x->largest_seq < y->largest_seq ? 1 : -1;
	return (x->id < y->id) - (x->id > y->id);
}

static int by_key(const void *a, const void *b)
{
	const struct sst_file *x = *(struct sst_file *const *)a;
	const struct sst_file *y = *(struct sst_file *const *)b;

	return bytes_compare(x->smallest, y->smallest);
}

int version_new(struct version **out)
{
	struct version *v = calloc(1, sizeof(*v));

	*out = v;
	if (!v)
		return -ENOMEM;
	atomic_init(&v->references, 1);
	return 0;
}

int version_add(struct version *v, unsigned int level, struct sst_file *f)
{
	struct level *l = &v->levels[level];
	struct sst_file **grown;

	grown = realloc(l->files, (l->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->files = grown;
	l->files[l->count++] = sst_file_get(f);
	l->size += f->size;
	v->tombstone_count += sst_tombstones(f->sst)->count;
	return 0;
}

void version_sort(struct version *v)
{
	unsigned int i;

	for (i = 0; i < LEVEL_COUNT; i++)
		if (v->levels[i].count > 1)
			qsort(v->levels[i].files, v->levels[i].count,
			      sizeof(*v->levels[i].files),
			      i == 0 ? by_newest : by_key);
}

/* One file of the level is open at a time. */
struct level_iter {
	struct iter base;
	const struct level *level;
	size_t index; /* of the file that it reads */
	struct iter *it;
	int (*open)(struct sst *t, struct iter **out);
};

static int level_open(struct level_iter *l, size_t index)
{
	int err;

	if (l->it && l->index == index)
		return 0;
	iter_close(l->it);
	l->it = NULL;
	err = l->open(l->level->files[index]->sst, &l->it);
	if (err < 0)
		return err;
	l->index = index;
	return 0;
}

static int level_result(struct level_iter *l, int result)
{
	if (result == 1) {
		l->base.key = l->it->key;
		l->base.value = l->it->value;
	}
	return result;
}

/* Takes the first entry >= key of the file at index, or of those after it,
 * which hold only greater ones. A file may have no entry left: a tombstone
 * alone may reach that far. */
static int level_seek_from(struct level_iter *l, size_t index, struct bytes key)
{
	int result = 0;

	for (; index < l->level->count && result == 0; index++) {
		result = level_open(l, index);
		if (result == 0)
			result = iter_seek(l->it, key);
	}
	return level_result(l, result);
}

static int level_seek(struct iter *it, struct bytes key)
{
	struct level_iter *l = (struct level_iter *)it;

	return level_seek_from(l, level_find(l->level, key), key);
}

static int level_next(struct iter *it)
{
	struct level_iter *l = (struct level_iter *)it;
	int result = iter_next(l->it);

	if (result == 0)
		return level_seek_from(l, l->index + 1, BYTES_NONE);
	return level_result(l, result);
}

static int level_skip(struct iter *it, struct bytes key)
{
	struct level_iter *l = (struct level_iter *)it;
	int result;

	if (is_before(l->level->files[l->index], key))
		return level_seek(it, key);
	result = iter_skip(l->it, key);
	if (result == 0)
		return level_seek_from(l, l->index + 1, key);
	return level_result(l, result);
}

static int level_before(struct iter *it, struct bytes key)
{
	struct level_iter *l = (struct level_iter *)it;
	size_t index = level_find(l->level, key);
	int result = 0;

	if (index < l->level->count)
		index++;
	while (index-- > 0 && result == 0) {
		result = level_open(l, index);
		if (result == 0)
			result = iter_before(l->it, key);
	}
	return level_result(l, result);
}

static void level_close(struct iter *it)
{
	struct level_iter *l = (struct level_iter *)it;

	iter_close(l->it);
	free(l);
}

static const struct iter_ops level_iter_ops = {
	.seek = level_seek,
	.next = level_next,
	.skip = level_skip,
	.before = level_before,
	.close = level_close,
};

int level_iter_new(struct version *v, unsigned int level,
		   int (*open)(struct sst *t, struct iter **out),
		   struct iter **out)
{
	struct level_iter *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->base.ops = &level_iter_ops;
	l->level = &v->levels[level];
	l->open = open;
	*out = &l->base;
	return 0;
}
