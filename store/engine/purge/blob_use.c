#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/purge/blob_use.h"
#include "store/engine/run/unit.h"
#include "store/format/key.h"
#include "store/format/sst/sst_iter.h"

/* Chunks that entries refer to, each as often as they do. */
struct uses {
	struct buf chunks; /* struct blob_chunk */
	const struct erasing *erasing;
	struct engine *engine;
};

static int add_list(struct uses *u, struct bytes value)
{
	struct blob_list list;
	int err = blob_list_decode(value, &list);

	if (err == -ERR_blob_damaged)
		err = fail(ERR_blob_damaged,
			   "%s: what refers to a large value is damaged; "
			   "tabletfs check names the file",
			   u->engine->volume->path);
	if (err == 0)
		err = buf_add(&u->chunks, list.chunks,
			      list.count * sizeof(*list.chunks));
	blob_list_release(&list);
	return err;
}

static int add_sst(struct uses *u, struct sst *t)
{
	struct iter *it;
	int at = engine_yield(u->engine);

	if (at == 0)
		at = sst_iter_new(t, false, &it);

	if (at < 0)
		return at;
	for (at = iter_seek(it, BYTES_NONE); at > 0;) {
		int err = 0;

		if (key_kind(it->key) == KEY_BLOB &&
		    !erasing_takes(u->erasing, it->key))
			err = add_list(u, it->value);
		at = err < 0 ? err : iter_next(it);
	}
	iter_close(it);
	return at;
}

static int add_all(struct uses *u, const struct version *v)
{
	unsigned int level;
	struct sst *sst;
	size_t i;
	int err = 0;

	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count && err == 0; i++) {
			sst = v->levels[level].files[i]->sst;
			if (sst_properties(sst)->blob_count > 0)
				err = add_sst(u, sst);
		}
	for (i = 0; i < v->past_count && err == 0; i++) {
		if (v->pasts[i]->facts->blob_count == 0)
			continue;
		err = past_file_open(v->pasts[i], &sst);
		if (err == 0)
			err = add_sst(u, sst);
	}
	return err;
}

static int by_place(const void *a, const void *b)
{
	const struct blob_chunk *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Takes the chunks of the file with this id, and of those before it, off the
 * front of what is sorted: the bytes of the file that they are. */
static uint64_t take_live(struct bytes *sorted, uint64_t file)
{
	struct blob_chunk last = { 0 }, c;
	uint64_t size = 0;

	while (sorted->size >= sizeof(c)) {
		memcpy(&c, sorted->data, sizeof(c));
		if (c.file > file)
			break;
		if (c.file == file && !blob_chunk_equal(&c, &last))
			size += blob_stored_size(&c);
		last = c;
		*sorted = bytes_after(*sorted, sizeof(c));
	}
	return size;
}

/* Adds f if any byte of it is of no use. What a crash has left behind its end
 * is none either. */
static void judge(struct blob_use *u, struct blob_file *f, uint64_t live)
{
	uint64_t size = atomic_load(&f->size);

	if (size <= BLOB_HEADER_SIZE + live && f->reader->size <= size)
		return;
	u->dirty[u->dirty_count++] = f;
	u->live_size += live;
}

int blob_use_find(struct blob_use *u, struct engine *e, const struct erasing *g,
		  uint64_t before_id)
{
	struct uses uses = { .erasing = g, .engine = e };
	const struct version *v = g->version;
	struct bytes sorted;
	uint64_t live;
	size_t i;
	int err;

	*u = (struct blob_use){ 0 };
	if (v->blob_count == 0)
		return 0;
	u->dirty = malloc(v->blob_count * sizeof(struct blob_file *));
	err = u->dirty ? add_all(&uses, v) : -ENOMEM;
	if (err == 0 && uses.chunks.size > 0)
		qsort(uses.chunks.data,
		      uses.chunks.size / sizeof(struct blob_chunk),
		      sizeof(struct blob_chunk), by_place);
	sorted = buf_bytes(&uses.chunks);
	for (i = 0; i < v->blob_count && err == 0; i++) {
		live = take_live(&sorted, v->blobs[i]->id);
		if (v->blobs[i]->id < before_id &&
		    atomic_load(&v->blobs[i]->size) > 0)
			judge(u, v->blobs[i], live);
	}
	buf_release(&uses.chunks);
	return err;
}

void blob_use_release(struct blob_use *u)
{
	free(u->dirty);
	*u = (struct blob_use){ 0 };
}

bool blob_use_is_dirty(const struct blob_use *u,
		       const struct blob_share *shares, size_t count)
{
	size_t i, j;

	for (i = 0; i < u->dirty_count; i++)
		for (j = 0; j < count; j++)
			if (shares[j].file == u->dirty[i]->id)
				return true;
	return false;
}
