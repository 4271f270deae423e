#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/state.h"

/*
 * A backup is a store of its own: the files of one version, linked or copied,
 * and a manifest that names them. Everything written before is flushed first,
 * with the commit lock held, so that it needs no log. While files are copied
 * the version keeps them, and writers go on.
 */
#define COPY_SIZE (1 << 20)

struct backup {
	struct engine *e;
	struct volume *to;
	struct version *version; /* referenced */
	struct edit state;
	uint32_t epoch;
	uint64_t edits_id;
	struct engine_backup_result *result;
};

/* Blob files that still grow hold nothing that is flushed. */
static void forget_growing(struct edit *state)
{
	size_t i, kept = 0;

	for (i = 0; i < state->blob_count; i++)
		if (state->blobs[i].final_size > 0)
			state->blobs[kept++] = state->blobs[i];
	state->blob_count = kept;
}

/* Fixes what belongs to the backup. */
static int capture(struct backup *b)
{
	struct engine *e = b->e;
	int err;

	err = engine_flush(e); /* most of it without the lock */
	if (err < 0)
		return err;
	pthread_mutex_lock(&e->commit);
	err = engine_writable(e);
	if (err == 0)
		err = engine_flush_waiting(e);
	if (err == 0 && e->memtable->last_seq > 0)
		err = engine_rotate(e, e->options.memtable_size);
	if (err == 0)
		err = engine_flush_waiting(e);
	if (err == 0)
		err = blob_finish(e);
	pthread_mutex_lock(&e->edits);
	if (err == 0)
		err = manifest_state(e->manifest, &b->state);
	if (err == 0) {
		b->version = version_get(e->manifest->current);
		b->epoch = e->manifest->epoch;
		b->edits_id = manifest_new_id(e->manifest);
		/* What has expired here is not seen there. */
		pthread_mutex_lock(&e->lock);
		b->state.gc_time_us = engine_gc_time(e);
		pthread_mutex_unlock(&e->lock);
	}
	pthread_mutex_unlock(&e->edits);
	pthread_mutex_unlock(&e->commit);
	b->state.log_count = 0;
	forget_growing(&b->state);
	return err;
}

static int copy_bytes_of(struct reader *r, uint64_t size,
			 struct segment_writer *w)
{
	uint8_t *part = malloc(COPY_SIZE);
	uint64_t at = 0;
	size_t n;
	int err = part ? 0 : -ENOMEM;

	for (; err == 0 && at < size; at += n) {
		n = size - at < COPY_SIZE ? (size_t)(size - at) : COPY_SIZE;
		err = r->ops->pread(r, at, part, n);
		if (err == 0)
			err = w->ops->segment_append(w, bytes_of(part, n));
	}
	free(part);
	return err;
}

static int copy_file(struct volume *from, const char *name, uint64_t size,
		     struct volume *to)
{
	struct segment_writer *w;
	struct reader *r;
	int err = from->ops->open(from, name, &r);

	if (err < 0)
		return err;
	err = to->ops->segment_create(to, name, &w);
	if (err == 0) {
		err = copy_bytes_of(r, size, w);
		if (err == 0)
			err = to->ops->segment_finish(w);
		else
			to->ops->segment_abandon(w);
	}
	from->ops->reader_close(r);
	return err;
}

static int bring(struct backup *b, uint64_t id, const char *suffix,
		 uint64_t size)
{
	char name[VOLUME_NAME_MAX + 1];
	struct volume *from = b->e->volume;
	int err;

	manifest_name(id, suffix, name);
	err = from->ops->link(from, name, b->to);
	if (err == 0) {
		b->result->linked_count++;
	} else if (err == -EXDEV) {
		err = copy_file(from, name, size, b->to);
		b->result->copied_count++;
	}
	b->result->size += size;
	return err;
}

int engine_backup(struct engine *e, struct volume *to,
		  struct engine_backup_result *result)
{
	struct backup b = {
		.e = e, .to = to, .state = EDIT_INIT, .result = result
	};
	size_t i;
	int err;

	*result = (struct engine_backup_result){ 0 };
	err = capture(&b);
	for (i = 0; i < b.state.added_count && err == 0; i++)
		err = bring(&b, b.state.added[i].id, "sst",
			    b.state.added[i].size);
	for (i = 0; i < b.state.blob_count && err == 0; i++)
		err = bring(&b, b.state.blobs[i].id, "blob",
			    b.state.blobs[i].final_size);
	if (err == 0)
		err = manifest_write(to, b.epoch, b.edits_id, &b.state);
	edit_release(&b.state);
	version_put(b.version);
	return err;
}
