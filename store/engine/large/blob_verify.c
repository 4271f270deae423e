#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/large/blob_verify.h"
#include "store/engine/large/large.h"
#include "store/format/sst/sst_iter.h"

/*
 * Checks chunks in the order in which they lie in their files, each once:
 * values share chunks, and reading a disk forward is many times faster than in
 * the order of keys.
 */
struct reference {
	struct blob_chunk chunk;
	uint32_t raw_size; /* bytes when unpacked */
};

struct references {
	struct reference *items; /* owned; room for so many */
	size_t count, room;
};

static int add_reference(struct references *r, const struct blob_chunk *c,
			 uint32_t raw_size)
{
	struct reference *grown;
	size_t room;

	assert(r->count <= r->room);
	if (r->count == r->room) {
		room = r->room * 2 + 64;
		grown = realloc(r->items, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->items = grown;
		r->room = room;
	}
	r->items[r->count++] = (struct reference){ *c, raw_size };
	return 0;
}

/* The references of all large values of it; with only, those to its files. */
static int collect(struct iter *it, const struct version *only,
		   struct references *r)
{
	struct blob_list list;
	uint32_t i;
	int result = iter_seek(it, BYTES_NONE), err = 0;

	for (; result > 0 && err == 0; result = iter_next(it)) {
		if (key_kind(it->key) != KEY_BLOB)
			continue;
		err = blob_list_decode(it->value, &list);
		for (i = 0; i < list.count && err == 0; i++)
			if (!only || version_blob(only, list.chunks[i].file))
				err = add_reference(
					r, &list.chunks[i],
					blob_chunk_raw_size(&list, i));
		blob_list_release(&list);
	}
	return err < 0 ? err : result;
}

/* Two references to one place are to one chunk: places are never used twice. */
static int by_place(const void *a, const void *b)
{
	const struct blob_chunk *x = &((const struct reference *)a)->chunk;
	const struct blob_chunk *y = &((const struct reference *)b)->chunk;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Reads it whole, which compares its checksum, its file and its place. */
static int check_chunk(const struct version *v, const struct reference *r,
		       struct buf *scratch, struct buf *raw)
{
	const struct blob_file *f = version_blob(v, r->chunk.file);
	int err;

	if (!f)
		return fail(ERR_blob_damaged,
			    "a large value refers to blob file %016llx, which "
			    "is not there",
			    (unsigned long long)r->chunk.file);
	buf_reset(raw);
	err = buf_reserve(raw, r->raw_size);
	return err < 0 ? err
		       : blob_read(f, &r->chunk, r->raw_size, scratch,
				   raw->data);
}

/* Checks them, and tells what is wrong of each. */
static int check_chunks(const struct version *v, struct references *r,
			void (*tell)(void *context, int err), void *context)
{
	struct buf scratch = BUF_INIT, raw = BUF_INIT;
	size_t i;
	int err = 0;

	if (r->count > 0)
		qsort(r->items, r->count, sizeof(*r->items), by_place);
	for (i = 0; i < r->count && err == 0; i++) {
		if (i > 0 && by_place(&r->items[i - 1], &r->items[i]) == 0)
			continue;
		err = check_chunk(v, &r->items[i], &scratch, &raw);
		if (err < 0 && err != -ENOMEM && tell) {
			tell(context, err);
			err = 0;
		}
	}
	buf_release(&scratch);
	buf_release(&raw);
	return err;
}

int blob_verify(const struct version *v, struct iter *it,
		void (*tell)(void *context, int err), void *context)
{
	struct references r = { NULL, 0, 0 };
	int err = collect(it, NULL, &r);

	if (err == 0)
		err = check_chunks(v, &r, tell, context);
	free(r.items);
	return err;
}

/* Adds a blob file of the volume to v. */
static int add_blob(struct version *v, struct volume *from,
		    const struct manifest_log *blob)
{
	char name[VOLUME_NAME_MAX + 1];
	struct blob_file *f;
	struct reader *r;
	int err;

	manifest_name(blob->id, "blob", name);
	err = from->ops->open(from, name, &r);
	if (err < 0)
		return err;
	err = blob_file_open(r, blob->id, blob->final_size, NULL, &f);
	if (err < 0) {
		r->ops->reader_close(r);
		return err;
	}
	err = version_add_blob(v, f);
	blob_file_put(f);
	return err;
}

/* Checks what an sst refers to in the blob files of v. */
static int verify_references(const struct version *v, struct sst *t)
{
	const struct sst_properties *p = sst_properties(t);
	struct references r = { NULL, 0, 0 };
	struct iter *it;
	size_t i = 0;
	int err;

	while (i < p->blob_count && !version_blob(v, p->blobs[i].file))
		i++;
	if (i == p->blob_count)
		return 0;
	err = sst_iter_new(t, false, &it);
	if (err < 0)
		return err;
	err = collect(it, v, &r);
	iter_close(it);
	if (err == 0)
		err = check_chunks(v, &r, NULL, NULL);
	free(r.items);
	return err;
}

static int verify_sst(const struct version *v, struct volume *from,
		      struct cache *cache, uint64_t id)
{
	char name[VOLUME_NAME_MAX + 1];
	struct reader *r;
	struct sst *t;
	int err;

	manifest_name(id, "sst", name);
	err = from->ops->open(from, name, &r);
	if (err < 0)
		return err;
	err = sst_open(r, cache, id, &t);
	if (err < 0) {
		r->ops->reader_close(r);
		return err;
	}
	err = verify_references(v, t);
	sst_close(t);
	return err;
}

int blob_verify_files(struct volume *from, const struct manifest_log *blobs,
		      size_t blob_count, const struct manifest_file *ssts,
		      size_t sst_count)
{
	struct version *v = NULL;
	struct cache *cache = NULL;
	size_t i;
	int err;

	if (blob_count == 0)
		return 0;
	err = cache_new(0, &cache);
	if (err == 0)
		err = version_new(&v);
	for (i = 0; i < blob_count && err == 0; i++)
		err = add_blob(v, from, &blobs[i]);
	for (i = 0; i < sst_count && err == 0; i++)
		err = verify_sst(v, from, cache, ssts[i].id);
	version_put(v);
	cache_free(cache);
	return err;
}
