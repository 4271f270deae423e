#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blob_recover.h"
#include "store/engine/large/large.h"

/*
 * Large values after a crash. Chunks are synced before the log that names them,
 * so a record that was durable has its chunks; of one that was not, they may be
 * missing or torn, and then the log ends before it.
 */

/* Whether the chunk's place lies within its file. Compared without a sum, which
 * might overflow: both numbers were read. */
static bool is_in_file(const struct blob_file *f, const struct blob_chunk *c)
{
	return f && blob_stored_size(c) <= f->reader->size &&
	       c->offset <= f->reader->size - blob_stored_size(c);
}

/* Whether the chunks of list are where it says: 0 there, 1 not there, negative:
 * cannot tell. With read, also whether their content is whole. */
static int check_list(struct engine *e, const struct blob_list *list, bool read)
{
	const struct version *v = e->manifest->current;
	struct buf scratch = BUF_INIT;
	uint8_t *raw = NULL;
	uint32_t i;
	int err = 0;

	if (read) {
		raw = malloc(list->chunk_size);
		if (!raw)
			return -ENOMEM;
	}
	for (i = 0; i < list->count && err == 0; i++) {
		const struct blob_chunk *c = &list->chunks[i];
		struct blob_file *f = version_blob(v, c->file);

		if (!is_in_file(f, c))
			err = 1;
		else if (read)
			err = blob_read(f, c, blob_chunk_raw_size(list, i),
					&scratch, raw);
		if (err == -ERR_blob_damaged)
			err = 1;
	}
	free(raw);
	buf_release(&scratch);
	return err;
}

/* For batch_each_large. */
struct checking {
	struct engine *e;
	bool reads; /* what is there may be torn */
};

static int check_large(void *context, const struct blob_list *list)
{
	const struct checking *c = context;
	int err = check_list(c->e, list, c->reads);
	uint32_t i;

	for (i = 0; i < list->count && err == 0; i++)
		atomic_fetch_add(&c->e->fresh_large,
				 blob_stored_size(&list->chunks[i]));
	return err;
}

int blob_check_record(struct engine *e, const struct batch *batch,
		      bool record_synced)
{
	struct checking c = { e, !record_synced };

	return batch_each_large(batch, check_large, &c);
}

int blob_recover(struct engine *e)
{
	struct edit edit = EDIT_INIT;
	const struct version *v = e->manifest->current;
	char name[VOLUME_NAME_MAX + 1];
	size_t i;
	int err = 0;

	for (i = 0; i < v->blob_count && err == 0; i++) {
		struct blob_file *f = v->blobs[i];

		/* Size 0: it was growing when the process ended. */
		if (atomic_load(&f->size) > 0)
			continue;
		assert(f->holders == 0);
		manifest_name(f->id, "blob", name);
		/* What is in the page cache alone has to stay once the edit
		 * says that it is there. */
		err = e->volume->ops->log_keep(e->volume, name);
		if (err == 0)
			err = edit_add_blob(&edit, f->id, f->reader->size);
	}
	if (err == 0 && edit.blob_count > 0)
		err = engine_apply(e, &edit);
	edit_release(&edit);
	return err;
}
