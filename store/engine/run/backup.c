#include <assert.h>

#include "store/base/volume/volume_copy.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/backup.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"

/*
 * A backup is a store of its own: the files of one version, linked or copied,
 * and a manifest that names them. Everything written before is flushed first,
 * with the commit lock held, so that it needs no log. While files are copied
 * the version keeps them, and writers go on.
 */
struct backup {
	struct engine *e;
	struct volume *to;
	struct version *version; /* referenced: keeps what state names */
	struct edit state;       /* what the backup's manifest says */
	uint32_t epoch;          /* of e: its opening takes the next one */
	uint64_t edits_id;       /* of the backup's edit log, new in e, too */
	struct backup_result *result;
};

/* Fixes what belongs to the backup: all that was written before, in ssts and
 * finished blob files. With commit held nothing is written, so the second flush
 * leaves nothing out; it is short, as the first has taken most of it. */
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
	/* A compaction may move large values meanwhile, into a file of which a
	 * backup could not have all: there is none until the state is taken. */
	if (err == 0)
		err = blob_pause(e);
	else
		goto unlock;
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
	blob_resume(e);
	assert(err < 0 || b->version);
	/* The logs' content is in the ssts. */
	b->state.log_count = 0;
unlock:
	pthread_mutex_unlock(&e->commit);
	return err;
}

/* Links or copies one file, of this size, and counts it. */
static int bring(struct backup *b, uint64_t id, const char *suffix,
		 uint64_t size)
{
	char name[VOLUME_NAME_MAX + 1];
	int linked;

	manifest_name(id, suffix, name);
	linked = volume_bring(b->e->volume, name, size, b->to);
	b->result->linked_count += linked == 1;
	b->result->copied_count += linked == 0;
	b->result->size += size;
	return linked < 0 ? linked : 0;
}

int engine_backup(struct engine *e, struct volume *to,
		  struct backup_result *result)
{
	struct backup b = {
		.e = e, .to = to, .state = EDIT_INIT, .result = result
	};
	size_t i;
	int err;

	*result = (struct backup_result){ 0 };
	err = capture(&b);
	for (i = 0; i < b.state.added_count && err == 0; i++)
		err = bring(&b, b.state.added[i].id, "sst",
			    b.state.added[i].size);
	for (i = 0; i < b.state.blob_count && err == 0; i++)
		err = bring(&b, b.state.blobs[i].id, "blob",
			    b.state.blobs[i].final_size);
	/* Last, as it makes a store of the volume. */
	if (err == 0)
		err = manifest_write(to, b.epoch, b.edits_id, &b.state);
	edit_release(&b.state);
	version_put(b.version);
	return err;
}
