#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/large/blob_verify.h"
#include "store/engine/large/large.h"

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

/* The references of all large values of it. */
static int collect(struct iter *it, struct references *r)
{
	struct blob_list list;
	uint32_t i;
	int result = iter_seek(it, BYTES_NONE), err = 0;

	for (; result > 0 && err == 0; result = iter_next(it)) {
		if (key_kind(it->key) != KEY_BLOB)
			continue;
		err = blob_list_decode(it->value, &list);
		for (i = 0; i < list.count && err == 0; i++)
			err = add_reference(r, &list.chunks[i],
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

int blob_verify(const struct version *v, struct iter *it,
		void (*tell)(void *context, int err), void *context)
{
	struct references r = { NULL, 0, 0 };
	struct buf scratch = BUF_INIT, raw = BUF_INIT;
	size_t i;
	int err = collect(it, &r);

	if (err == 0 && r.count > 0)
		qsort(r.items, r.count, sizeof(*r.items), by_place);
	for (i = 0; i < r.count && err == 0; i++) {
		if (i > 0 && by_place(&r.items[i - 1], &r.items[i]) == 0)
			continue;
		err = check_chunk(v, &r.items[i], &scratch, &raw);
		if (err < 0 && err != -ENOMEM) {
			tell(context, err);
			err = 0;
		}
	}
	free(r.items);
	buf_release(&scratch);
	buf_release(&raw);
	return err;
}
