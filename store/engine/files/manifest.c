#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest.h"
#include "store/engine/files/manifest_next.h"
#include "store/engine/files/manifest_replay.h"
#include "store/engine/files/manifest_whole.h"
#include "store/engine/log/wal.h"
#include "store/engine/log/wal_read.h"

/*
 * The root (manifest_root.h) is the one thing on a volume that is replaced, by
 * compare and swap of the version beside it, and so where it is decided whose
 * store this is, and which. All else follows from it:
 *
 *   root -> edit log -> edit, edit, ... -> ssts, blob files, logs
 *
 * Applying an edit opens what it adds, appends it to the edit log, syncs that,
 * and only then makes the new version the current one: what readers see is
 * never more than what a crash would leave.
 */

/* An edit log is replaced by one that begins with the whole state when it has
 * grown by this much since it began; opening reads no more. */
#define EDITS_SIZE_MAX (UINT64_C(4) << 20)

/* Room held for edits that are to come, in steps of so many bytes. */
#define EDITS_STEP (UINT64_C(64) << 10)

uint64_t manifest_new_id(struct manifest *m)
{
	assert(m->next_number > 0);
	return (uint64_t)m->epoch << 32 | m->next_number++;
}

/* Runs through the edit log that root names. Its tail may be torn: then the
 * last edit was not known durable, so nothing had been done on the ground of
 * it. */
static int replay_edits(struct manifest_replay *r,
			const struct manifest_root *root,
			struct wal_replay *result)
{
	struct volume *v = r->m->volume;
	char name[VOLUME_NAME_MAX + 1];
	int err;

	manifest_name(root->edits_id, "edits", name);
	err = wal_replay(v, name, root->edits_id, 0, manifest_replay_edit, r,
			 result);
	if (err == -ENOENT)
		err = fail(ERR_manifest_damaged, "%s/%s: is missing", v->path,
			   name);
	if (err == 0 && !r->any)
		err = fail(ERR_manifest_damaged, "%s/%s: holds no edit",
			   v->path, name);
	return err;
}

/* Makes the state that root leads to the current one. m has only an empty
 * version before. */
static int replay(struct manifest *m, const struct manifest_root *root)
{
	struct manifest_replay r = { .m = m };
	char why[VERSION_WHY_SIZE];
	struct wal_replay result;
	struct version *v;
	int err = replay_edits(&r, root, &result);

	if (err == 0)
		err = manifest_next(m, &r.files, &v);
	if (err < 0)
		goto release;
	version_put(m->current);
	m->current = v;
	if (!version_in_order(v, why))
		err = fail(ERR_manifest_damaged, "%s: %s", m->volume->path,
			   why);
	if (err == 0)
		err = manifest_whole(m, root->edits_id, &r.files);
release:
	edit_release(&r.files);
	return err;
}

int manifest_read(struct volume *v, struct manifest_history *h)
{
	struct manifest m = { .volume = v };
	struct wal_replay result = { 0 };
	struct manifest_replay r = { .m = &m, .history = h };
	struct buf raw = BUF_INIT;
	struct manifest_root root = { .epoch = 0 };
	size_t i;
	int err;

	*h = (struct manifest_history){ .state = EDIT_INIT };
	err = v->ops->root_get(v, &m.root_version, &raw);
	if (err == 0)
		err = manifest_root_decode(v->path, buf_bytes(&raw), &root);
	if (err == 0)
		err = replay_edits(&r, &root, &result);
	for (i = 0; i < m.log_count && err == 0; i++)
		err = edit_add_log(&r.files, m.logs[i].id,
				   m.logs[i].final_size);
	h->state = r.files;
	h->state.last_seq = m.last_seq;
	h->state.gc_time_us = m.gc_time_us;
	h->state.given_seq = m.given_seq;
	h->edits_id = root.edits_id;
	h->identity = root.identity;
	h->cut_size = result.cut_size;
	free(m.logs);
	free(m.moments);
	buf_release(&raw);
	return err;
}

/* A moment and what is known of the time after it. */
static int add_moment(struct edit *e, const struct moment *m)
{
	int err = edit_add_moment(e, m);

	if (err == 0 && m->until_us > 0)
		err = edit_add_quiet(e, m->seq, m->until_us);
	return err;
}

int manifest_state(const struct manifest *m, struct edit *e)
{
	unsigned int level;
	size_t i;
	int err = 0;

	*e = (struct edit)EDIT_INIT;
	e->last_seq = m->last_seq;
	e->gc_time_us = m->gc_time_us;
	e->given_seq = m->given_seq > m->last_seq ? m->given_seq : 0;
	for (level = 0; level < LEVEL_COUNT; level++) {
		const struct level *l = &m->current->levels[level];

		for (i = 0; i < l->count && err == 0; i++)
			err = edit_add_loaded(e, level, l->files[i]->id,
					      l->files[i]->size,
					      l->files[i]->seq);
	}
	for (i = 0; i < m->log_count && err == 0; i++)
		err = edit_add_log(e, m->logs[i].id, m->logs[i].final_size);
	for (i = 0; i < m->moment_count && err == 0; i++)
		err = add_moment(e, &m->moments[i]);
	for (i = 0; i < m->current->past_count && err == 0; i++)
		err = edit_add_past(e, m->current->pasts[i]->facts);
	for (i = 0; i < m->current->blob_count && err == 0; i++)
		err = edit_add_blob(e, m->current->blobs[i]->id,
				    atomic_load(&m->current->blobs[i]->size));
	if (err < 0)
		edit_release(e);
	return err;
}

/* -ENOSPC if there is no room for a record of so many bytes. */
static int reserve(struct wal *wal, size_t size)
{
	int err = wal_reserve(wal, size, EDITS_STEP);

	return err == -ENOSPC ? wal_reserve(wal, size, 0) : err;
}

/* What fails after the append leaves the log with an edit that is not known to
 * be durable, *logged: nothing may follow it then. */
static int log_edit(struct wal *wal, const struct edit *e, bool *logged)
{
	struct buf record = BUF_INIT;
	int err = edit_encode(e, &record);

	if (err == 0)
		err = reserve(wal, record.size);
	if (err == 0)
		err = wal_append(wal, buf_bytes(&record));
	*logged = err == 0;
	if (err == 0)
		err = wal_sync(wal);
	buf_release(&record);
	return err;
}

/* Of an edit log that the root does not name; a failure is left for the next
 * open. What the caller may be failing of is what is to be told. */
static void remove_edits(const struct manifest *m, uint64_t id)
{
	char name[VOLUME_NAME_MAX + 1], detail[1024]; /* as err.c has it */

	snprintf(detail, sizeof(detail), "%s", err_detail());
	manifest_name(id, "edits", name);
	if (m->volume->ops->remove(m->volume, name) < 0)
		fail(EIO, "%s", detail);
}

/* Begins an edit log, the id of which it sets, that has room for size bytes and
 * an edit more: in a new file, or else in held room. */
static int create_edits(struct manifest *m, size_t size, uint64_t *id,
			struct wal **wal)
{
	char name[VOLUME_NAME_MAX + 1];
	int err;

	*id = manifest_new_id(m);
	manifest_name(*id, "edits", name);
	err = wal_create(m->volume, name, *id, wal);
	if (err == 0) {
		err = wal_reserve(*wal, size, EDITS_STEP);
		if (err == 0)
			return 0;
		wal_abandon(*wal);
		remove_edits(m, *id);
	}
	if (err != -ENOSPC)
		return err;
	*id = manifest_new_id(m);
	manifest_name(*id, "edits", name);
	return wal_from_spare(m->volume, name, *id, size + EDITS_STEP, wal);
}

/* Begins an edit log with the whole state and makes the root name it; the one
 * before, if there is one, is removed. After a failure the old one goes on, if
 * there is one, unless m is broken: then the root may name either. */
static int begin_edits(struct manifest *m)
{
	struct manifest_root root = { m->epoch, 0, m->identity };
	struct buf record = BUF_INIT;
	uint8_t raw[MANIFEST_ROOT_SIZE];
	struct edit state;
	struct wal *wal;
	bool logged;
	int err;

	err = manifest_state(m, &state);
	if (err < 0)
		return err;
	err = edit_encode(&state, &record);
	if (err == 0)
		err = create_edits(m, record.size, &root.edits_id, &wal);
	if (err < 0)
		goto release;
	err = log_edit(wal, &state, &logged);
	if (err == 0) {
		manifest_root_encode(&root, raw);
		err = m->volume->ops->root_swap(m->volume, m->root_version,
						bytes_of(raw, sizeof(raw)));
		/* A conflict has changed nothing, but then another process
		 * has taken the store. */
		m->broken = err < 0 && err != -ENOSPC;
	}
	if (err < 0) {
		wal_abandon(wal);
		if (!m->broken)
			remove_edits(m, root.edits_id);
		goto release;
	}
	if (m->edits) {
		wal_abandon(m->edits);
		remove_edits(m, m->edits_id);
	}
	m->root_version++;
	m->edits = wal;
	m->edits_id = root.edits_id;
	m->edits_begun_size = wal_size(wal);
release:
	buf_release(&record);
	edit_release(&state);
	return err;
}

/* An epoch is used up by each opening that dies before the root names it; so
 * many in a row mean that something else is wrong. */
#define EPOCHS_TRIED 1000

/* Reads what there is and, if the store is to be written, takes it over. */
static int open_root(struct manifest *m, bool create, bool read_only)
{
	struct buf raw = BUF_INIT;
	struct manifest_root root = { .epoch = 0 };
	int err;

	err = m->volume->ops->root_get(m->volume, &m->root_version, &raw);
	if (err == -ENOENT) {
		err = manifest_no_root(m->volume);
		if (err == -ERR_not_a_store && create && !read_only)
			err = 0;
	} else if (err == 0) {
		err = manifest_root_decode(m->volume->path, buf_bytes(&raw),
					   &root);
		if (err == 0 && !read_only)
			err = manifest_root_writable(m->volume->path,
						     &root.identity.features);
		if (err == 0)
			err = replay(m, &root);
	}
	buf_release(&raw);
	m->epoch = root.epoch;
	m->identity = root.identity;
	if (err < 0 || read_only)
		return err;
	if (store_id_is_none(&m->identity.id))
		arc4random_buf(&m->identity.id, sizeof(m->identity.id));
	/* Who died between making an edit log and naming it in the root has
	 * used up an epoch. */
	do {
		if (m->epoch == UINT32_MAX)
			return fail(
				EOVERFLOW,
				"%s: root: there is no epoch after %u; open "
				"the store for reading only, and put what "
				"it holds into another one",
				m->volume->path, m->epoch);
		m->epoch++;
		err = begin_edits(m);
	} while (err == -EEXIST && m->epoch - root.epoch < EPOCHS_TRIED);
	return err;
}

int manifest_open(struct volume *v, struct cache *cache,
		  struct file_owner *owner, bool create, bool read_only,
		  struct manifest **out)
{
	struct manifest *m = calloc(1, sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return -ENOMEM;
	m->volume = v;
	m->cache = cache;
	m->owner = owner;
	m->next_number = 1;
	err = version_new(&m->current);
	if (err == 0)
		err = open_root(m, create, read_only);
	if (err < 0) {
		manifest_close(m);
		return err;
	}
	*out = m;
	return 0;
}

void manifest_close(struct manifest *m)
{
	if (!m)
		return;
	if (m->edits)
		wal_abandon(m->edits);
	version_put(m->current);
	free(m->logs);
	free(m->moments);
	free(m);
}

/* Tells the objects of files what e, which is durable, says of them. v is the
 * version after it. */
static void mark_files(struct manifest *m, const struct edit *e,
		       const struct version *v)
{
	struct version *old = m->current;
	struct past_file *past;
	struct blob_file *blob;
	struct sst_file *file;
	size_t i;

	/* A file that moved is in v, too, maybe as a history file. */
	for (i = 0; i < e->removed_count; i++) {
		if (version_sst(v, e->removed[i].id) ||
		    version_past(v, e->removed[i].id))
			continue;
		file = version_sst(old, e->removed[i].id);
		atomic_fetch_add(&file->owner->obsolete_size, file->size);
		atomic_store(&file->obsolete, true);
	}
	for (i = 0; i < e->dropped_count; i++) {
		blob = version_blob(old, e->dropped_blobs[i]);
		if (!blob)
			continue;
		atomic_fetch_add(&blob->owner->obsolete_size,
				 atomic_load(&blob->size));
		atomic_store(&blob->obsolete, true);
	}
	for (i = 0; i < e->dropped_past_count; i++) {
		past = version_past(old, e->dropped_pasts[i]);
		if (!past)
			continue;
		atomic_fetch_add(&past->owner->obsolete_size,
				 past->facts->size);
		atomic_store(&past->obsolete, true);
	}
	for (i = 0; i < e->blob_count; i++)
		atomic_store(&version_blob(v, e->blobs[i].id)->size,
			     e->blobs[i].final_size);
}

/* The sequence of a bulk load all of which e drops, v being the version after
 * it, while nothing of that sequence was flushed: the log may lack its mark.
 * Else 0. */
static uint64_t dropped_seq(const struct manifest *m, const struct edit *e,
			    const struct version *v)
{
	uint64_t seq = version_largest_seq(m->current);

	return seq > version_largest_seq(v) && seq > m->last_seq &&
			       seq > e->last_seq
		       ? seq
		       : 0;
}

/* Appends e to the edit log, with what goes unsaid otherwise: *said. */
static int say(struct manifest *m, const struct edit *e, struct version *v,
	       struct edit *said)
{
	bool logged;
	int err;

	*said = *e;
	said->given_seq = dropped_seq(m, e, v);
	err = log_edit(m->edits, said, &logged);
	/* A full disk: the state without its history is short. An edit that is
	 * not known to be durable stays behind in the old log. */
	if (err == -ENOSPC && begin_edits(m) == 0)
		err = log_edit(m->edits, said, &logged);
	m->broken |= wal_broken(m->edits) || (err < 0 && logged);
	return err;
}

int manifest_apply(struct manifest *m, const struct edit *e)
{
	struct version *v;
	struct edit said;
	int err;

	assert(m->edits); /* not opened read-only */
	if (m->broken)
		return fail(ERR_store_readonly,
			    "%s: an earlier edit may be in the manifest or "
			    "not; open the store again",
			    m->volume->path);
	err = manifest_next(m, e, &v);
	if (err < 0)
		return err;
	err = manifest_check(m, e, v);
	if (err == 0)
		err = say(m, e, v, &said);
	if (err == 0) {
		err = manifest_apply_numbers(m, &said);
		m->broken |= err < 0;
	}
	if (err < 0) {
		version_put(v);
		return err;
	}
	mark_files(m, e, v);
	version_put(m->current);
	m->current = v;
	err = wal_size(m->edits) - m->edits_begun_size > EDITS_SIZE_MAX
		      ? begin_edits(m)
		      : 0;
	/* A new edit log that cannot be begun can wait for the next edit. */
	assert(err < 0 || !m->broken);
	return m->broken ? err : 0;
}

int manifest_renew(struct manifest *m)
{
	assert(m->edits); /* not opened read-only */
	return begin_edits(m);
}

int manifest_write(struct volume *to, const struct manifest_root *root,
		   const struct edit *state)
{
	char name[VOLUME_NAME_MAX + 1];
	uint8_t raw[MANIFEST_ROOT_SIZE];
	struct wal *wal;
	bool logged;
	int err;

	manifest_name(root->edits_id, "edits", name);
	err = wal_create(to, name, root->edits_id, &wal);
	if (err < 0)
		return err;
	err = log_edit(wal, state, &logged);
	wal_abandon(wal);
	if (err < 0)
		return err;
	manifest_root_encode(root, raw);
	return to->ops->root_swap(to, 0, bytes_of(raw, sizeof(raw)));
}
