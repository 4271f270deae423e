#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/threads/reference.h"
#include "store/base/watch/cost.h"
#include "store/engine/core/space.h"
#include "store/engine/core/state.h"
#include "store/engine/large/large.h"

/*
 * A value is chunks of equal size but for the last, so the chunk that holds an
 * offset is found by division. A reader keeps the chunk that it read last,
 * since files are read in pieces much smaller than a chunk,
 * as long as there is memory for that. A writer makes a
 * new list, of which each chunk is put anew or borrowed from another value.
 */
struct large {
	struct engine *e; /* outlives it */
	/* Not changed once the value is shared. */
	struct blob_list list;
	struct blob_holds holds; /* of all files that list names */
	atomic_uint references;
	pthread_mutex_t lock; /* guards what follows; no other is taken */
	uint8_t *chunk;       /* the one read last, which counts as
				 MEMORY_VALUES; NULL: none */
	uint32_t index;       /* of chunk, if there is one */
	bool passing;         /* there was no memory to keep it */
};

int blob_read(const struct blob_file *f, const struct blob_chunk *c,
	      uint32_t raw_size, struct buf *scratch, void *raw)
{
	size_t size = (size_t)blob_stored_size(c);
	int err;

	assert(f && raw_size > 0);
	buf_reset(scratch);
	err = buf_reserve(scratch, size);
	thread_cost.bytes_read += size;
	if (err == 0)
		err = f->reader->ops->pread(f->reader, c->offset, scratch->data,
					    size);
	if (err == 0)
		err = blob_chunk_decode(bytes_of(scratch->data, size), c,
					raw_size, raw, f->reader->path);
	return err;
}

int blob_load(const struct version *v, struct bytes encoded, bool (*stop)(void),
	      struct buf *out)
{
	struct buf scratch = BUF_INIT;
	struct blob_list list;
	struct blob_file *f;
	uint32_t i, size;
	int err = blob_list_decode(encoded, &list);

	/* So that chunks are read in place. */
	if (err == 0)
		err = buf_reserve(out, (size_t)list.size);
	for (i = 0; i < list.count && err == 0; i++) {
		if (stop && stop()) {
			err = -EINTR;
			break;
		}
		f = version_blob(v, list.chunks[i].file);
		if (!f) {
			err = fail(ERR_blob_damaged,
				   "a large value refers to blob file %016llx, "
				   "which is not there",
				   (unsigned long long)list.chunks[i].file);
			break;
		}
		size = blob_chunk_raw_size(&list, i);
		err = blob_read(f, &list.chunks[i], size, &scratch,
				out->data + out->size);
		if (err == 0)
			out->size += size;
	}
	blob_list_release(&list);
	buf_release(&scratch);
	return err;
}

/* An empty value with one reference. 0 or -ENOMEM. */
static int value_new(struct engine *e, struct large **out)
{
	struct large *v = calloc(1, sizeof(*v));

	*out = v;
	if (!v)
		return -ENOMEM;
	v->e = e;
	reference_init(&v->references);
	pthread_mutex_init(&v->lock, NULL);
	return 0;
}

int large_open(struct engine *e, struct bytes list, struct large **out)
{
	int err = value_new(e, out);

	if (err < 0)
		return err;
	err = blob_list_decode(list, &(*out)->list);
	if (err == 0)
		err = blob_hold(e, &(*out)->holds, &(*out)->list);
	if (err < 0) {
		large_put(*out);
		*out = NULL;
	}
	return err;
}

struct large *large_get(struct large *v)
{
	if (v)
		reference_take(&v->references);
	return v;
}

/* Frees the chunk, if there is one. Needs v->lock, or nobody else has v. */
static void drop_chunk(struct large *v)
{
	if (!v->chunk)
		return;
	free(v->chunk);
	v->chunk = NULL;
	memory_give(v->e->memory, MEMORY_VALUES, v->list.chunk_size);
}

void large_put(struct large *v)
{
	if (!v || !reference_drop(&v->references))
		return;
	drop_chunk(v);
	blob_release(v->e, &v->holds);
	blob_list_release(&v->list);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

uint64_t large_size(const struct large *v)
{
	return v->list.size;
}

uint32_t large_chunk_size(const struct large *v)
{
	return v->list.chunk_size;
}

const struct blob_list *large_list(const struct large *v)
{
	return &v->list;
}

int large_hold(struct large *v, struct blob_holds *h)
{
	return blob_hold(v->e, h, &v->list);
}

/* The held file with this id. Each that the list names is held, so it is there.
 */
static struct blob_file *held_file(const struct large *v, uint64_t id)
{
	size_t i;

	for (i = 0; i < v->holds.count; i++)
		if (v->holds.files[i]->id == id)
			return v->holds.files[i];
	assert(!"held");
	return NULL;
}

/* Memory for a chunk: to keep it, if there is enough for that. */
static int new_chunk(struct large *v)
{
	v->chunk = malloc(v->list.chunk_size);
	if (!v->chunk)
		return -ENOMEM;
	v->passing = !memory_take(v->e->memory, MEMORY_VALUES,
				  v->list.chunk_size, 0);
	if (v->passing)
		memory_hold(v->e->memory, MEMORY_VALUES, v->list.chunk_size);
	return 0;
}

/* Makes the chunk with this index the one that is kept. Needs v->lock. */
static int load_chunk(struct large *v, uint32_t index)
{
	const struct blob_chunk *c = &v->list.chunks[index];
	struct buf scratch = BUF_INIT; /* not kept: many may be open */
	int err = 0;

	assert(index < v->list.count);
	if (v->chunk && v->index == index)
		return 0;
	if (!v->chunk)
		err = new_chunk(v);
	if (err < 0)
		return err;
	v->index = index;
	err = blob_read(held_file(v, c->file), c,
			blob_chunk_raw_size(&v->list, index), &scratch,
			v->chunk);
	buf_release(&scratch);
	/* What is there then is no chunk. */
	if (err < 0)
		drop_chunk(v);
	return err;
}

int large_read(struct large *v, uint64_t offset, void *data, size_t size)
{
	uint8_t *out = data;
	int err = 0;

	assert(offset <= v->list.size && size <= v->list.size - offset);
	pthread_mutex_lock(&v->lock);
	while (size > 0 && err == 0) {
		uint32_t index = (uint32_t)(offset / v->list.chunk_size);
		size_t from = (size_t)(offset % v->list.chunk_size);
		size_t part = blob_chunk_raw_size(&v->list, index) - from;

		if (part > size)
			part = size;
		err = load_chunk(v, index);
		if (err < 0)
			break;
		memcpy(out, v->chunk + from, part);
		out += part;
		offset += part;
		size -= part;
	}
	if (v->passing)
		drop_chunk(v);
	pthread_mutex_unlock(&v->lock);
	return err;
}

int large_load(struct large *v, struct buf *out)
{
	/* With a buffer of its own, so that others can read beside it. */
	struct buf scratch = BUF_INIT;
	uint32_t i, size;
	int err = buf_reserve(out, (size_t)v->list.size);

	for (i = 0; i < v->list.count && err == 0; i++) {
		const struct blob_chunk *c = &v->list.chunks[i];

		size = blob_chunk_raw_size(&v->list, i);
		err = blob_read(held_file(v, c->file), c, size, &scratch,
				out->data + out->size);
		if (err == 0)
			out->size += size;
	}
	buf_release(&scratch);
	return err;
}

/* One thread at a time uses it. */
struct large_writer {
	struct large *value; /* under way, not shared; a chunk of size 0 is not
				there yet */
	struct buf scratch;
};

/* Takes what base has in the same place, if it is as long, and holds its files.
 * Only the last chunk of the shorter one may differ in length. */
static int borrow(struct large *v, struct large *base)
{
	struct blob_list *to = &v->list, *from = &base->list;
	struct blob_list part; /* of to; borrows its chunks */
	uint32_t i, count = to->count < from->count ? to->count : from->count;

	while (count > 0 && blob_chunk_raw_size(to, count - 1) !=
				    blob_chunk_raw_size(from, count - 1))
		count--;
	for (i = 0; i < count; i++)
		to->chunks[i] = from->chunks[i];
	assert(to->chunk_size == from->chunk_size);
	part = *to;
	part.count = count;
	return blob_hold(v->e, &v->holds, &part);
}

int large_writer_new(struct engine *e, struct large *base, uint64_t size,
		     struct large_writer **out)
{
	struct large_writer *w = calloc(1, sizeof(*w));
	struct blob_list *list;
	int err;

	assert(size > 0 && size <= BLOB_VALUE_SIZE_MAX);
	*out = NULL;
	if (!w)
		return -ENOMEM;
	/* From here on large_writer_free knows what there is. */
	err = value_new(e, &w->value);
	if (err < 0)
		goto free_writer;
	list = &w->value->list;
	/* As base has it, whatever the options say now: else no chunk would lie
	 * where one of base does. */
	list->size = size;
	list->chunk_size =
		base ? base->list.chunk_size : e->options.blob_chunk_size;
	list->count =
		(uint32_t)((size + list->chunk_size - 1) / list->chunk_size);
	list->chunks = calloc(list->count, sizeof(*list->chunks));
	err = list->chunks ? 0 : -ENOMEM;
	if (err == 0 && base)
		err = borrow(w->value, base);
	if (err < 0)
		goto free_writer;
	*out = w;
	return 0;

free_writer:
	large_writer_free(w);
	return err;
}

void large_writer_free(struct large_writer *w)
{
	if (!w)
		return;
	large_put(w->value);
	buf_release(&w->scratch);
	free(w);
}

uint32_t large_writer_chunk_size(const struct large_writer *w)
{
	return w->value->list.chunk_size;
}

bool large_writer_has(const struct large_writer *w, uint32_t index)
{
	assert(index < w->value->list.count);
	return w->value->list.chunks[index].size > 0;
}

int large_writer_put(struct large_writer *w, uint32_t index, struct bytes raw)
{
	struct large *v = w->value;
	int err = engine_admit_data(v->e, raw.size);

	assert(index < v->list.count);
	assert(raw.size == blob_chunk_raw_size(&v->list, index));
	return err < 0 ? err
		       : blob_append(v->e, raw, &w->scratch, &v->holds,
				     &v->list.chunks[index]);
}

void large_writer_finish(struct large_writer *w, struct large **out)
{
	uint32_t i;

	/* A value with a hole could not be read: whoever wrote it has put or
	 * borrowed all. */
	for (i = 0; i < w->value->list.count; i++)
		assert(large_writer_has(w, i));
	*out = w->value;
	w->value = NULL;
	large_writer_free(w);
}

/* The chunk of so many bytes at offset, of what base has there and of tail, of
 * which the part is taken: in place if that is all, else in scratch. */
static int make_chunk(struct large *base, uint64_t offset, uint32_t size,
		      struct bytes *tail, struct buf *scratch,
		      struct bytes *out)
{
	uint64_t base_size = base ? large_size(base) : 0;
	size_t old = offset < base_size ? (size_t)(base_size - offset) : 0;
	int err;

	*out = bytes_of(tail->data, size);
	if (old > 0) {
		err = buf_fit(scratch, size);
		if (err == 0)
			err = large_read(base, offset, scratch->data, old);
		if (err < 0)
			return err;
		scratch->size = old;
		err = buf_add(scratch, tail->data, size - old);
		assert(err == 0);
		*out = buf_bytes(scratch);
	}
	*tail = bytes_after(*tail, size - old);
	return 0;
}

int large_append(struct engine *e, struct large *base, struct bytes tail,
		 struct large **out)
{
	uint64_t size = (base ? large_size(base) : 0) + tail.size, offset = 0;
	struct buf scratch = BUF_INIT;
	struct large_writer *w;
	struct bytes raw;
	uint32_t part, i;
	int err = large_writer_new(e, base, size, &w);

	*out = NULL;
	for (i = 0; err == 0 && offset < size; i++, offset += part) {
		part = blob_chunk_raw_size(&w->value->list, i);
		if (large_writer_has(w, i))
			continue;
		err = make_chunk(base, offset, part, &tail, &scratch, &raw);
		if (err == 0)
			err = large_writer_put(w, i, raw);
	}
	buf_release(&scratch);
	if (err == 0)
		large_writer_finish(w, out);
	else
		large_writer_free(w);
	return err;
}

int large_make(struct engine *e, struct bytes value, struct large **out)
{
	return large_append(e, NULL, value, out);
}
