#include <assert.h>

#include "store/base/err.h"
#include "store/base/invariant.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_next.h"

/* A file that the manifest names: one that is missing is damage. */
static int open_named(struct manifest *m, uint64_t id, const char *suffix,
		      struct reader **out)
{
	char name[VOLUME_NAME_MAX + 1];
	int err;

	manifest_name(id, suffix, name);
	err = m->volume->ops->open(m->volume, name, out);
	return err == -ENOENT ? fail(ERR_manifest_damaged, "%s/%s: is missing",
				     m->volume->path, name)
			      : err;
}

/* The object of a file: that of the present version if it only moves, else a
 * newly opened one. One reference is the caller's. */
static int open_file(struct manifest *m, const struct manifest_file *f,
		     struct sst_file **out)
{
	struct sst_file *known = version_sst(m->current, f->id);
	struct reader *reader;
	struct sst *sst;
	int err;

	*out = NULL;
	if (known) {
		*out = sst_file_get(known);
		return 0;
	}
	err = open_named(m, f->id, "sst", &reader);
	if (err < 0)
		return err;
	/* It cannot have changed: not whole, or not the same file. */
	if (reader->size != f->size) {
		err = fail(ERR_sst_malformed,
			   "%s: has %llu bytes, the manifest says %llu",
			   reader->path, (unsigned long long)reader->size,
			   (unsigned long long)f->size);
		goto close_reader;
	}
	err = sst_open(reader, m->cache, f->id, &sst);
	if (err < 0)
		goto close_reader;
	err = sst_file_open(sst, f->id, f->size, f->seq, m->owner, out);
	if (err < 0)
		sst_close(sst);
	return err;

close_reader:
	m->volume->ops->reader_close(reader);
	return err;
}

/* The object of a blob file: that of the present version, or a newly opened
 * one. One reference is the caller's. */
static int open_blob(struct manifest *m, const struct manifest_log *f,
		     struct blob_file **out)
{
	struct blob_file *known = version_blob(m->current, f->id);
	struct reader *reader;
	int err;

	*out = NULL;
	if (known) {
		*out = blob_file_get(known);
		return 0;
	}
	err = open_named(m, f->id, "blob", &reader);
	if (err < 0)
		return err;
	err = blob_file_open(reader, f->id, f->final_size, m->owner, out);
	if (err < 0)
		m->volume->ops->reader_close(reader);
	return err;
}

/* The blob files that e makes of the present ones. */
static int next_blobs(struct manifest *m, const struct edit *e,
		      struct version *v)
{
	const struct version *old = m->current;
	struct blob_file *f;
	size_t i;
	int err = 0;

	for (i = 0; i < old->blob_count && err == 0; i++)
		if (!edit_drops_blob(e, old->blobs[i]->id))
			err = version_add_blob(v, old->blobs[i]);
	for (i = 0; i < e->blob_count && err == 0; i++) {
		if (version_blob(v, e->blobs[i].id))
			continue; /* it ends */
		err = open_blob(m, &e->blobs[i], &f);
		if (err < 0)
			break;
		err = version_add_blob(v, f);
		blob_file_put(f);
	}
	return err;
}

/* The history files that e makes of the present ones. */
static int next_pasts(struct manifest *m, const struct edit *e,
		      struct version *v)
{
	const struct version *old = m->current;
	char name[VOLUME_NAME_MAX + 1];
	struct past_file *f;
	size_t i;
	int err = 0;

	for (i = 0; i < old->past_count && err == 0; i++)
		if (!edit_drops_past(e, old->pasts[i]->facts->id))
			err = version_add_past(v, old->pasts[i]);
	for (i = 0; i < e->past_count && err == 0; i++) {
		manifest_name(e->pasts[i]->id, "sst", name);
		err = past_file_new(e->pasts[i], name, m->volume, m->cache,
				    m->owner, &f);
		if (err < 0)
			break;
		err = version_add_past(v, f);
		past_file_put(f);
	}
	return err;
}

/* The ssts of the present version that e leaves where they are. */
static int keep_ssts(struct manifest *m, const struct edit *e,
		     struct version *v)
{
	size_t kept = 0, all = 0, i;
	unsigned int level;
	int err = 0;

	for (level = 0; level < LEVEL_COUNT && err == 0; level++) {
		const struct level *old = &m->current->levels[level];

		all += old->count;
		for (i = 0; i < old->count && err == 0; i++) {
			if (edit_removes(e, level, old->files[i]->id))
				continue;
			kept++;
			err = version_add(v, level, old->files[i]);
		}
	}
	/* An edit that does not fit the state would lose files or bring them
	 * back: whoever wrote it, it is not applied. */
	if (err == 0 && all - kept != e->removed_count)
		err = fail(ERR_manifest_damaged,
			   "%s: an edit removes %zu ssts, %zu are there",
			   m->volume->path, e->removed_count, all - kept);
	return err;
}

static int add_ssts(struct manifest *m, const struct edit *e, struct version *v)
{
	struct sst_file *f;
	size_t i;
	int err = 0;

	for (i = 0; i < e->added_count && err == 0; i++) {
		err = open_file(m, &e->added[i], &f);
		if (err < 0)
			break;
		err = version_add(v, e->added[i].level, f);
		sst_file_put(f);
	}
	return err;
}

/* Ends the making of a version, with its files in order, or fails with err. */
static int made(struct version *v, int err, struct version **out)
{
	if (err == 0)
		err = version_sort(v);
	if (err < 0)
		version_put(v);
	else
		*out = v;
	return err;
}

int manifest_next(struct manifest *m, const struct edit *e,
		  struct version **out)
{
	struct version *v;
	int err;

	*out = NULL;
	err = version_new(&v);
	if (err < 0)
		return err;
	err = keep_ssts(m, e, v);
	if (err == 0)
		err = add_ssts(m, e, v);
	if (err == 0)
		err = next_blobs(m, e, v);
	if (err == 0)
		err = next_pasts(m, e, v);
	return made(v, err, out);
}

/* The blob files of whole, as open_blob has them. What has ended since is told
 * to the object that is there. */
static int add_blobs(struct manifest *m, const struct edit *whole,
		     struct version *v)
{
	struct blob_file *f;
	size_t i;
	int err = 0;

	for (i = 0; i < whole->blob_count && err == 0; i++) {
		err = open_blob(m, &whole->blobs[i], &f);
		if (err < 0)
			break;
		atomic_store(&f->size, whole->blobs[i].final_size);
		err = version_add_blob(v, f);
		blob_file_put(f);
	}
	return err;
}

/* The history files of whole: those of the present version, or new objects. */
static int add_pasts(struct manifest *m, const struct edit *whole,
		     struct version *v)
{
	char name[VOLUME_NAME_MAX + 1];
	struct past_file *f;
	size_t i;
	int err = 0;

	for (i = 0; i < whole->past_count && err == 0; i++) {
		f = version_past(m->current, whole->pasts[i]->id);
		if (f) {
			err = version_add_past(v, f);
			continue;
		}
		manifest_name(whole->pasts[i]->id, "sst", name);
		err = past_file_new(whole->pasts[i], name, m->volume, m->cache,
				    m->owner, &f);
		if (err < 0)
			break;
		err = version_add_past(v, f);
		past_file_put(f);
	}
	return err;
}

int manifest_version_of(struct manifest *m, const struct edit *whole,
			struct version **out)
{
	struct version *v;
	int err;

	*out = NULL;
	err = version_new(&v);
	if (err < 0)
		return err;
	err = add_ssts(m, whole, v);
	if (err == 0)
		err = add_blobs(m, whole, v);
	if (err == 0)
		err = add_pasts(m, whole, v);
	return made(v, err, out);
}

/*
 * What e adds was in memtables up to e's last_seq, or in ssts that are there
 * already. Those may be ahead of last_seq, by bulk loads: such a file has the
 * sequence of its own moment, and what is made of it keeps that.
 */
static int check_sequences(const struct manifest *m, const struct edit *e,
			   const struct version *v)
{
	uint64_t limit = version_largest_seq(m->current);
	const struct sst_file *f;
	size_t i;
	int err = 0;

	if (m->last_seq > limit)
		limit = m->last_seq;
	if (e->last_seq > limit)
		limit = e->last_seq;
	for (i = 0; i < e->added_count && err == 0; i++) {
		f = version_sst(v, e->added[i].id);
		assert(f); /* v was made of e */
		err = invariant(f->seq > 0 || f->largest_seq <= limit,
				"sst %016llx has sequence %llu, and all before "
				"it end at %llu",
				(unsigned long long)f->id,
				(unsigned long long)f->largest_seq,
				(unsigned long long)limit);
	}
	return err;
}

int manifest_check(const struct manifest *m, const struct edit *e,
		   const struct version *v)
{
	char why[VERSION_WHY_SIZE];

	if (!version_in_order(v, why))
		return invariant(false, "%s", why);
	return check_sequences(m, e, v);
}
