#include <assert.h>

#include "store/base/err.h"
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
 * with the commit lock held, so that it needs no log. While files are brought
 * the version keeps them, and writers go on.
 *
 * Who brings them may be another process, which knows of the store what stands
 * in contents and nothing else:
 *
 *   the backup's root | edit, as in an edit log
 */
struct contents {
	/* With the store's epoch: the backup's opening takes the next; and an
	 * edit log that is new in the store, too. */
	struct manifest_root root;
	struct edit state; /* what the backup's manifest says */
};

static int encode(const struct contents *c, struct buf *out)
{
	uint8_t raw[MANIFEST_ROOT_SIZE];
	int err;

	manifest_root_encode(&c->root, raw);
	err = buf_add_bytes(out, bytes_of(raw, sizeof(raw)));
	return err == 0 ? edit_encode(&c->state, out) : err;
}

/* To be released, after an error, too. */
static int decode(struct bytes in, struct contents *c)
{
	int err = -ERR_manifest_damaged;

	c->state = (struct edit)EDIT_INIT;
	if (in.size >= MANIFEST_ROOT_SIZE)
		err = manifest_root_decode(
			"what is pinned", bytes_of(in.data, MANIFEST_ROOT_SIZE),
			&c->root);
	if (err == 0)
		err = edit_decode(bytes_after(in, MANIFEST_ROOT_SIZE),
				  &c->state);
	return err < 0 && err != -ENOMEM
		       ? fail(ERR_manifest_damaged,
			      "what is pinned is told in bytes that this "
			      "program does not know")
		       : err;
}

/* Takes the manifest's state, in which every blob file is finished, and a
 * reference on its version. */
static int take_state(struct engine *e, struct contents *c,
		      struct version **pin)
{
	int err;

	pthread_mutex_lock(&e->edits);
	err = manifest_state(e->manifest, &c->state);
	if (err == 0) {
		*pin = version_get(e->manifest->current);
		c->root = (struct manifest_root){
			e->manifest->epoch, manifest_new_id(e->manifest),
			identity_of_child(&e->manifest->identity,
					  c->state.last_seq)
		};
		/* What has expired here is not seen there. */
		pthread_mutex_lock(&e->lock);
		c->state.gc_time_us = engine_gc_time(e);
		pthread_mutex_unlock(&e->lock);
	}
	pthread_mutex_unlock(&e->edits);
	/* The logs' content is in the ssts. */
	c->state.log_count = 0;
	/* Of the past it has nothing. */
	c->state.moment_count = 0;
	while (c->state.past_count > 0)
		past_facts_free(c->state.pasts[--c->state.past_count]);
	return err;
}

/* Fixes what belongs to the backup: all that was written before, in ssts and
 * finished blob files. With commit held nothing is written, so the second flush
 * leaves nothing out; it is short, as the first has taken most of it. */
static int capture(struct engine *e, struct contents *c, struct version **pin)
{
	int err;

	err = engine_flush(e); /* most of it without the lock */
	if (err < 0)
		return err;
	pthread_mutex_lock(&e->commit);
	err = engine_writable(e);
	if (err == 0)
		err = engine_flush_waiting(e);
	if (err == 0 && e->memtable->last_seq > 0)
		err = engine_rotate(e, 0);
	if (err == 0)
		err = engine_flush_waiting(e);
	/* A compaction may move large values meanwhile, into a file of which a
	 * backup could not have all: there is none until the state is taken. */
	if (err == 0) {
		err = blob_pause(e);
		if (err == 0)
			err = take_state(e, c, pin);
		blob_resume(e);
	}
	pthread_mutex_unlock(&e->commit);
	return err;
}

int engine_pin(struct engine *e, struct buf *contents, struct version **pin)
{
	struct contents c = { .state = EDIT_INIT };
	uint64_t start = event_now(&e->events);
	int err;

	*pin = NULL;
	err = capture(e, &c, pin);
	assert(err < 0 || *pin);
	if (err == 0)
		err = encode(&c, contents);
	if (err < 0) {
		version_put(*pin);
		*pin = NULL;
	}
	if (err == 0)
		event_add(&e->events, EVENTS_MAIN,
			  "pinned ssts=%zu blobs=%zu us=%llu",
			  c.state.added_count, c.state.blob_count,
			  (unsigned long long)event_since(&e->events, start));
	edit_release(&c.state);
	return err;
}

void engine_unpin(struct engine *e, struct version *pin)
{
	if (!pin)
		return;
	version_put(pin);
	event_add(&e->events, EVENTS_MAIN, "unpinned");
}

/* As backup_source.pin. */
static int pin_own(void *context, struct buf *contents)
{
	struct engine_source *own = context;

	return engine_pin(own->engine, contents, &own->pin);
}

/* As backup_source.unpin: here nothing else ends it. */
static int unpin_own(void *context)
{
	struct engine_source *own = context;

	engine_unpin(own->engine, own->pin);
	return 0;
}

struct backup_source engine_source(struct engine *e, struct engine_source *own)
{
	*own = (struct engine_source){ .engine = e };
	return (struct backup_source){ e->volume, pin_own, unpin_own, own };
}

/* Links or copies one file, of this size, and counts it. */
static int bring(struct volume *from, uint64_t id, const char *suffix,
		 uint64_t size, struct volume *to, struct backup_result *result)
{
	char name[VOLUME_NAME_MAX + 1];
	int linked;

	manifest_name(id, suffix, name);
	linked = volume_bring(from, name, size, to);
	result->linked_count += linked == 1;
	result->copied_count += linked == 0;
	result->size += size;
	return linked < 0 ? linked : 0;
}

/* All files that the state names. */
static int bring_all(struct volume *from, const struct edit *state,
		     struct volume *to, struct backup_result *result)
{
	size_t i;
	int err = 0;

	for (i = 0; i < state->added_count && err == 0; i++)
		err = bring(from, state->added[i].id, "sst",
			    state->added[i].size, to, result);
	for (i = 0; i < state->blob_count && err == 0; i++)
		err = bring(from, state->blobs[i].id, "blob",
			    state->blobs[i].final_size, to, result);
	return err;
}

int backup_bring(const struct backup_source *from, struct volume *to,
		 struct backup_result *result)
{
	struct contents c = { .state = EDIT_INIT };
	struct buf bytes = BUF_INIT;
	int err, ended;

	*result = (struct backup_result){ 0 };
	err = from->pin(from->context, &bytes);
	if (err < 0)
		goto release;
	err = decode(buf_bytes(&bytes), &c);
	if (err == 0)
		err = bring_all(from->volume, &c.state, to, result);
	/* A pin that has ended is why a file is missing. */
	ended = from->unpin(from->context);
	if (ended < 0)
		err = ended;
	/* Last, as it makes a store of the volume. */
	if (err == 0)
		err = manifest_write(to, &c.root, &c.state);
	edit_release(&c.state);
release:
	buf_release(&bytes);
	return err;
}
