#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_replay.h"

/* Notes a log that begins, or the size of one that ends. */
static int set_log(struct manifest *m, const struct manifest_log *log)
{
	struct manifest_log *grown;
	size_t i;

	for (i = 0; i < m->log_count; i++)
		if (m->logs[i].id == log->id) {
			m->logs[i] = *log;
			return 0;
		}
	grown = realloc(m->logs, (m->log_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->logs = grown;
	m->logs[m->log_count++] = *log;
	return 0;
}

/* Notes how long after moments that there are nothing came. */
static void apply_quiets(struct manifest *m, const struct edit *e)
{
	size_t i, j;

	for (i = 0; i < e->quiet_count; i++) {
		j = m->moment_count;
		while (j > 0 && m->moments[j - 1].seq > e->quiets[i].seq)
			j--;
		if (j > 0 && m->moments[j - 1].seq == e->quiets[i].seq)
			m->moments[j - 1].until_us = e->quiets[i].until_us;
	}
}

/* Brings the list of durable moments up to date with e. */
static int apply_moments(struct manifest *m, const struct edit *e)
{
	size_t size = (m->moment_count + e->moment_count) * sizeof(*m->moments);
	struct moment *grown;
	size_t i, kept = 0;

	if (e->moment_count > 0) {
		grown = realloc(m->moments, size);
		if (!grown)
			return -ENOMEM;
		m->moments = grown;
	}
	for (i = 0; i < m->moment_count; i++)
		if (!edit_ends_moment(e, m->moments[i].seq))
			m->moments[kept++] = m->moments[i];
	m->moment_count = kept;
	for (i = 0; i < e->moment_count; i++) {
		struct moment *last = m->moments + kept - 1;

		if (kept > 0 && (last->seq >= e->moments[i].seq ||
				 last->time_us > e->moments[i].time_us))
			return fail(ERR_manifest_damaged,
				    "%s: a moment is named after a later one",
				    m->volume->path);
		m->moments[kept++] = e->moments[i];
		m->moment_count = kept;
	}
	apply_quiets(m, e);
	return 0;
}

int manifest_apply_numbers(struct manifest *m, const struct edit *e)
{
	size_t i, kept = 0;
	int err = 0;

	for (i = 0; i < e->log_count && err == 0; i++)
		err = set_log(m, &e->logs[i]);
	for (i = 0; i < m->log_count; i++)
		if (m->logs[i].id >= e->oldest_log)
			m->logs[kept++] = m->logs[i];
	m->log_count = kept;
	/* Both never go back, whatever an edit says. */
	if (e->last_seq > m->last_seq)
		m->last_seq = e->last_seq;
	if (e->gc_time_us > m->gc_time_us)
		m->gc_time_us = e->gc_time_us;
	if (e->given_seq > m->given_seq)
		m->given_seq = e->given_seq;
	return err == 0 ? apply_moments(m, e) : err;
}

/* Brings the list of live blob files up to date with e: out, in, finished. */
static int replay_blobs(struct edit *files, const struct edit *e)
{
	size_t i, j, kept = 0;
	int err = 0;

	for (i = 0; i < files->blob_count; i++)
		if (!edit_drops_blob(e, files->blobs[i].id))
			files->blobs[kept++] = files->blobs[i];
	files->blob_count = kept;
	for (i = 0; i < e->dropped_count && err == 0; i++)
		err = edit_drop_blob(files, e->dropped_blobs[i]);
	for (i = 0; i < e->blob_count && err == 0; i++) {
		for (j = 0; j < kept; j++)
			if (files->blobs[j].id == e->blobs[i].id)
				break;
		if (j < kept)
			files->blobs[j] = e->blobs[i];
		else
			err = edit_add_blob(files, e->blobs[i].id,
					    e->blobs[i].final_size);
	}
	return err;
}

/* As replay_blobs, of history files. */
static int replay_pasts(struct edit *files, const struct edit *e)
{
	size_t i, kept = 0;
	int err = 0;

	for (i = 0; i < files->past_count; i++)
		if (edit_drops_past(e, files->pasts[i]->id))
			past_facts_free(files->pasts[i]);
		else
			files->pasts[kept++] = files->pasts[i];
	files->past_count = kept;
	for (i = 0; i < e->past_count && err == 0; i++)
		err = edit_add_past(files, e->pasts[i]);
	return err;
}

/* For repair: keeps which ssts e took out and the newest log that it names. */
static int note_history(struct manifest_replay *r, const struct edit *e)
{
	struct manifest_history *h = r->history;
	size_t i;
	int err = 0;

	for (i = 0; i < e->removed_count && err == 0; i++)
		err = edit_remove_file(&r->files, e->removed[i].level,
				       e->removed[i].id);
	for (i = 0; i < e->log_count; i++)
		if (e->logs[i].id > h->newest_log)
			h->newest_log = e->logs[i].id;
	return err;
}

int manifest_replay_edit(void *context, struct bytes record)
{
	struct manifest_replay *r = context;
	struct edit e;
	size_t i, j, kept = 0, gone = 0;
	int err;

	err = edit_decode(record, &e);
	if (err < 0)
		return err;
	for (i = 0; i < r->files.added_count; i++) {
		const struct manifest_file *f = &r->files.added[i];

		if (edit_removes(&e, f->level, f->id))
			gone++;
		else
			r->files.added[kept++] = *f;
	}
	r->files.added_count = kept;
	if (gone != e.removed_count)
		err = fail(ERR_manifest_damaged,
			   "%s: an edit removes %zu ssts, %zu are there",
			   r->m->volume->path, e.removed_count, gone);
	for (j = 0; j < e.added_count && err == 0; j++)
		err = edit_add_loaded(&r->files, e.added[j].level,
				      e.added[j].id, e.added[j].size,
				      e.added[j].seq);
	if (err == 0)
		err = replay_blobs(&r->files, &e);
	if (err == 0)
		err = replay_pasts(&r->files, &e);
	if (err == 0)
		err = manifest_apply_numbers(r->m, &e);
	if (err == 0 && r->history)
		err = note_history(r, &e);
	r->any = true;
	edit_release(&e);
	return err;
}
