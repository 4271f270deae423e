#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/threads/reference.h"
#include "store/engine/files/manifest_name.h"
#include "store/engine/files/runs.h"
#include "store/engine/files/version.h"

struct version *version_get(struct version *v)
{
	if (v)
		reference_take(&v->references);
	return v;
}

struct sst_file *sst_file_get(struct sst_file *f)
{
	reference_take(&f->references);
	return f;
}

void sst_file_put(struct sst_file *f)
{
	if (!f || !reference_drop(&f->references))
		return;
	/* Closed first: the owner may remove the file at once. */
	sst_close(f->sst);
	if (atomic_load(&f->obsolete))
		f->owner->unused(f->owner, f->id, f->size);
	free(f->bounds);
	free(f);
}

void version_put(struct version *v)
{
	unsigned int i;
	size_t j;

	if (!v || !reference_drop(&v->references))
		return;
	for (i = 0; i < LEVEL_COUNT; i++) {
		for (j = 0; j < v->levels[i].count; j++)
			sst_file_put(v->levels[i].files[j]);
		free(v->levels[i].files);
		free(v->levels[i].heads);
	}
	version_drop_runs(v);
	for (j = 0; j < v->blob_count; j++)
		blob_file_put(v->blobs[j]);
	free(v->blobs);
	for (j = 0; j < v->past_count; j++)
		past_file_put(v->pasts[j]);
	free(v->pasts);
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
	/* Copies, since the properties' bytes are wherever the sst has them and
	 * these are compared by every lookup. One more byte, since both may be
	 * empty and malloc(0) NULL. */
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
	/* The entries of a loaded file are stored with sequence 0. */
	f->smallest_seq = seq ? seq : p->smallest_seq;
	f->largest_seq = seq ? seq : p->largest_seq;
	f->max_timestamp = p->max_timestamp;
	f->id = id;
	f->size = size;
	f->sst = sst;
	if (seq)
		sst_set_seq(sst, seq);
	f->owner = owner;
	reference_init(&f->references);
	*out = f;
	return 0;
}

struct blob_file *blob_file_get(struct blob_file *f)
{
	reference_take(&f->references);
	return f;
}

void blob_file_put(struct blob_file *f)
{
	if (!f || !reference_drop(&f->references))
		return;
	f->reader->ops->reader_close(f->reader);
	if (atomic_load(&f->obsolete))
		f->owner->unused_blob(f->owner, f->id, atomic_load(&f->size));
	free(f);
}

int blob_file_new(struct reader *reader, uint64_t id, uint64_t size,
		  struct file_owner *owner, struct blob_file **out)
{
	struct blob_file *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	f->id = id;
	atomic_init(&f->size, size);
	reference_init(&f->references);
	f->reader = reader;
	f->owner = owner;
	return 0;
}

int blob_file_open(struct reader *reader, uint64_t id, uint64_t size,
		   struct file_owner *owner, struct blob_file **out)
{
	uint8_t header[BLOB_HEADER_SIZE];
	int err;

	*out = NULL;
	if (reader->size < size || reader->size < sizeof(header))
		return fail(ERR_blob_damaged,
			    "%s: has %llu bytes, the manifest says %llu",
			    reader->path, (unsigned long long)reader->size,
			    (unsigned long long)size);
	err = reader->ops->pread(reader, 0, header, sizeof(header));
	if (!err)
		err = blob_header_check(header, id, reader->path);
	return err < 0 ? err : blob_file_new(reader, id, size, owner, out);
}

/* For level 0: what is found first hides what is found later. Equal sequences
 * are those of one bulk load, whose files hold different versions; their ids
 * make the order one and the same for all. */
static int by_newest(const void *a, const void *b)
{
	const struct sst_file *x = *(struct sst_file *const *)a;
	const struct sst_file *y = *(struct sst_file *const *)b;

	if (x->largest_seq != y->largest_seq)
		return x->largest_seq < y->largest_seq ? 1 : -1;
	return (x->id < y->id) - (x->id > y->id);
}

/* For sorted levels, whose files are disjoint: by either bound. */
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
	reference_init(&v->references);
	return 0;
}

int version_add(struct version *v, unsigned int level, struct sst_file *f)
{
	struct level *l = &v->levels[level];
	struct sst_file **grown;

	assert(level < LEVEL_COUNT);
	assert(atomic_load(&v->references) == 1); /* not shared yet */
	grown = realloc(l->files, (l->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	free(l->heads);
	l->heads = NULL;
	l->files = grown;
	l->files[l->count++] = sst_file_get(f);
	l->size += f->size;
	v->tombstone_count += sst_properties(f->sst)->tombstone_count;
	return 0;
}

struct sst_file *version_sst(const struct version *v, uint64_t id)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < LEVEL_COUNT; i++)
		for (j = 0; j < v->levels[i].count; j++)
			if (v->levels[i].files[j]->id == id)
				return v->levels[i].files[j];
	return NULL;
}

int version_add_blob(struct version *v, struct blob_file *f)
{
	struct blob_file **grown;

	assert(atomic_load(&v->references) == 1);
	/* They are searched by bisection. An order that is broken came from an
	 * edit that was read. */
	if (v->blob_count > 0 && v->blobs[v->blob_count - 1]->id >= f->id)
		return fail(ERR_manifest_damaged,
			    "blob file %016llx is named after a later one",
			    (unsigned long long)f->id);
	grown = realloc(v->blobs, (v->blob_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	v->blobs = grown;
	v->blobs[v->blob_count++] = blob_file_get(f);
	return 0;
}

size_t version_blob_index(const struct version *v, uint64_t id)
{
	size_t low = 0, high = v->blob_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (v->blobs[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->blob_count && v->blobs[low]->id == id ? low
							      : v->blob_count;
}

struct blob_file *version_blob(const struct version *v, uint64_t id)
{
	size_t i = version_blob_index(v, id);

	return i < v->blob_count ? v->blobs[i] : NULL;
}

int version_add_past(struct version *v, struct past_file *f)
{
	struct past_file **grown =
		realloc(v->pasts, (v->past_count + 1) * sizeof(*grown));

	assert(atomic_load(&v->references) == 1);
	if (!grown)
		return -ENOMEM;
	v->pasts = grown;
	v->pasts[v->past_count++] = past_file_get(f);
	return 0;
}

struct past_file *version_past(const struct version *v, uint64_t id)
{
	size_t low = 0, high = v->past_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->pasts[middle]->facts->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->past_count && v->pasts[low]->facts->id == id
		       ? v->pasts[low]
		       : NULL;
}

/* A file that is not there any more is damage, which the reader of the value
 * tells. */
static void add_live(const struct version *v, const struct blob_share *blobs,
		     size_t count, uint64_t *live)
{
	size_t i, at;

	for (i = 0; i < count; i++) {
		at = version_blob_index(v, blobs[i].file);
		if (at < v->blob_count)
			live[at] += blobs[i].size;
	}
}

void version_blob_past(const struct version *v, uint64_t *past)
{
	size_t i;

	memset(past, 0, v->blob_count * sizeof(*past));
	for (i = 0; i < v->past_count; i++)
		add_live(v, v->pasts[i]->facts->blobs,
			 v->pasts[i]->facts->blob_count, past);
}

void version_blob_live(const struct version *v, uint64_t *live)
{
	unsigned int level;
	size_t i;

	version_blob_past(v, live);
	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			const struct sst_properties *p =
				sst_properties(v->levels[level].files[i]->sst);

			add_live(v, p->blobs, p->blob_count, live);
		}
}

uint64_t sst_file_blob_size(const struct sst_file *f)
{
	const struct sst_properties *p = sst_properties(f->sst);
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < p->blob_count; i++)
		size += p->blobs[i].size;
	return size;
}

static int by_past_id(const void *a, const void *b)
{
	const struct past_file *x = *(struct past_file *const *)a;
	const struct past_file *y = *(struct past_file *const *)b;

	return x->facts->id < y->facts->id ? -1 : x->facts->id > y->facts->id;
}

/* Each level has few files, and a version is made when one is added or
 * removed: sorting anew is simpler than merging. */
int version_sort(struct version *v)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < LEVEL_COUNT; i++)
		if (v->levels[i].count > 1)
			qsort(v->levels[i].files, v->levels[i].count,
			      sizeof(*v->levels[i].files),
			      i == 0 ? by_newest : by_key);
	if (v->past_count > 1)
		qsort(v->pasts, v->past_count, sizeof(*v->pasts), by_past_id);
	for (i = 1; i < LEVEL_COUNT && err == 0; i++)
		err = level_index(&v->levels[i]);
	return err < 0 ? err : version_make_runs(v);
}

/* Whether f's bounds are in order and, on a sorted level, all of left comes
 * before it. left is NULL for a level's first file. why is as that of
 * version_in_order. */
static bool file_in_order(unsigned int level, const struct sst_file *left,
			  const struct sst_file *f, char *why)
{
	int order = bytes_compare(f->smallest, f->largest);
	char name[VOLUME_NAME_MAX + 1], other[VOLUME_NAME_MAX + 1];

	manifest_name(f->id, "sst", name);
	if (order > 0 || (order == 0 && f->largest_exclusive)) {
		snprintf(why, VERSION_WHY_SIZE,
			 "level %u: %s ends before it begins", level, name);
		return false;
	}
	if (level == 0 || !left || sst_file_before(left, f->smallest))
		return true;
	manifest_name(left->id, "sst", other);
	snprintf(why, VERSION_WHY_SIZE, "level %u: %s overlaps %s", level,
		 other, name);
	return false;
}

bool version_in_order(const struct version *v, char *why)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < LEVEL_COUNT; i++) {
		const struct level *l = &v->levels[i];

		for (j = 0; j < l->count; j++)
			if (!file_in_order(i, j > 0 ? l->files[j - 1] : NULL,
					   l->files[j], why))
				return false;
	}
	return true;
}

uint64_t version_largest_seq(const struct version *v)
{
	uint64_t seq = 0;
	unsigned int i;
	size_t j;

	for (i = 0; i < LEVEL_COUNT; i++)
		for (j = 0; j < v->levels[i].count; j++)
			if (v->levels[i].files[j]->largest_seq > seq)
				seq = v->levels[i].files[j]->largest_seq;
	return seq;
}

/*
 * An iterator over a sorted level or run. Files are disjoint, so their entries
 * one file after the other are in order, and the place of a key is found by
 * bisection over bounds. One file is open at a time.
 */
struct level_iter {
	struct iter base; /* first, so that it can be cast */
	const struct level *level;
	size_t index;    /* of the file that it reads, if it is not NULL */
	struct iter *it; /* NULL: none is open */
	int (*open)(struct sst *t, struct iter **out);
	uint64_t since_us; /* older versions may be left out; 0: none */
};

/* Makes the file at index the one that is open. */
static int level_open(struct level_iter *l, size_t index)
{
	int err;

	assert(index < l->level->count);
	if (l->it && l->index == index)
		return 0;
	iter_close(l->it);
	l->it = NULL;
	err = l->open(l->level->files[index]->sst, &l->it);
	if (err < 0)
		return err;
	iter_since(l->it, l->since_us);
	l->index = index;
	return 0;
}

/* Shows the entry of the open file, if the step there found one. */
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
		if (l->level->files[index]->max_timestamp < l->since_us)
			continue;
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
	int result;

	assert(l->it); /* next is allowed at an entry only */
	result = iter_next(l->it);
	if (result == 0)
		return level_seek_from(l, l->index + 1, BYTES_NONE);
	return level_result(l, result);
}

static int level_skip(struct iter *it, struct bytes key)
{
	struct level_iter *l = (struct level_iter *)it;
	int result;

	assert(l->it);
	/* Another file: bisection, without reading the rest of this one. */
	if (sst_file_before(l->level->files[l->index], key))
		return level_seek(it, key);
	result = iter_skip(l->it, key);
	if (result == 0)
		return level_seek_from(l, l->index + 1, key);
	return level_result(l, result);
}

/* The last entry < key is in the file that holds key or, where that has none
 * before it, in the nearest one to the left that has an entry at all. */
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

static void level_since(struct iter *it, uint64_t timestamp_us)
{
	((struct level_iter *)it)->since_us = timestamp_us;
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
	.since = level_since,
	.close = level_close,
};

int level_iter_new(const struct level *level,
		   int (*open)(struct sst *t, struct iter **out),
		   struct iter **out)
{
	struct level_iter *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->base.ops = &level_iter_ops;
	l->level = level;
	l->open = open;
	*out = &l->base;
	return 0;
}
