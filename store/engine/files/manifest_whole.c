#include <errno.h>

#include "store/base/err.h"
#include "store/engine/files/batch.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_whole.h"
#include "store/engine/log/wal_read.h"
#include "store/format/blob.h"

/*
 * An edit log that was cut between two edits, or an old one, looks whole: a
 * crash before the next edit would have left the same. What comes after an edit
 * tells the two apart, since it waits until the edit is durable:
 *
 *   the root takes an epoch before there is a file of it, but an edit log;
 *   a log is named before anything is appended to it, and one that is closed
 *     ends with a promise, so that none is empty;
 *   a blob file is named before it gets a chunk;
 *   a bulk load is named before the log gets its mark;
 *   files that an edit makes obsolete are removed after it. One that is named
 *     and missing is told of where it is opened, a log here.
 *
 * Of a store that was closed, all that could be lost with edits is noticed so.
 * What is not noticed is the loss of an edit that nothing of this followed:
 *
 *   that a log or a blob file was finished, which it tells itself;
 *   a flush or a compaction, while all that it replaced is there;
 *   a bulk load, if the process ended before the log had its mark;
 *   edits about a log that came and went, if the process ended before the next
 *     log was synced, and a power cut brought back the one before.
 */
struct search {
	const struct manifest *m;
	uint64_t edits_id;
	const struct edit *all; /* has dropped blob files */
	uint64_t newest_log;   /* that m names, or 0; older ones are obsolete */
	bool any_sst;          /* there is one of this epoch that m lacks */
	uint64_t mark_seq;     /* of the newest bulk load that logs tell of */
	struct wal_replay log; /* the one that is read */
};

/* Of a file that m must have lost the edit for. */
static int not_named(const struct search *s, const char *name, const char *what)
{
	return fail(ERR_manifest_damaged,
		    "%s/%s: %s, so %08x-%08x.edits or the root must be old or "
		    "cut short; run tabletfs repair",
		    s->m->volume->path, name, what,
		    (unsigned int)(s->edits_id >> 32),
		    (unsigned int)s->edits_id);
}

static int pass(void *context, struct bytes record)
{
	(void)context;
	(void)record;
	return 0;
}

/* A log that m does not name has no chunk, not even the promise that ends it.
 */
static int check_log(const struct search *s, const char *name, uint64_t id)
{
	struct wal_replay result;
	int err;

	if (id <= s->newest_log)
		return 0;
	err = wal_replay(s->m->volume, name, id, 0, pass, NULL, &result);
	if (err == -ERR_wal_damaged || (err == 0 && result.good_size > 0))
		return not_named(s, name,
				 "is a log that was written to and is "
				 "not in the manifest");
	return err;
}

/* One that m does not name has no chunk, unless an edit has dropped it: then it
 * was removed, and may be back. */
static int check_blob(const struct search *s, const char *name, uint64_t id)
{
	struct volume *v = s->m->volume;
	struct reader *reader;
	int err = v->ops->open(v, name, &reader);
	uint64_t size;

	if (err < 0)
		return err;
	size = reader->size;
	v->ops->reader_close(reader);
	return size <= BLOB_HEADER_SIZE || edit_drops_blob(s->all, id)
		       ? 0
		       : not_named(s, name,
				   "holds large values and is not in the "
				   "manifest");
}

static bool is_named(const struct manifest *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->log_count; i++)
		if (m->logs[i].id == id)
			return true;
	return version_sst(m->current, id) || version_blob(m->current, id) ||
	       version_past(m->current, id);
}

/* For listing. What is older than the edit log was known when that began with
 * the whole state, but for a log or a blob file that was about to be named. */
static int check_file(void *context, const char *name)
{
	struct search *s = context;
	const char *suffix;
	uint64_t id;

	if (!manifest_parse_name(name, &id, &suffix) ||
	    strcmp(suffix, "edits") == 0 || id >> 32 < s->edits_id >> 32 ||
	    is_named(s->m, id))
		return 0;
	if (id >> 32 > s->edits_id >> 32)
		return not_named(s, name, "is of a later epoch than the root");
	if (strcmp(suffix, "log") == 0)
		return check_log(s, name, id);
	if (id < s->edits_id)
		return 0;
	if (strcmp(suffix, "blob") == 0)
		return check_blob(s, name, id);
	s->any_sst = true;
	return 0;
}

/* For wal_replay. What is wrong with a record is told when it is replayed to be
 * applied. */
static int note_mark(void *context, struct bytes record)
{
	struct search *s = context;
	struct batch batch;
	uint64_t seq;
	int err = batch_parse(record, s->log.is_old, &batch, &seq);

	if (err == 0)
		err = batch_is_mark(&batch);
	if (err > 0 && seq > s->mark_seq)
		s->mark_seq = seq;
	return err == -ENOMEM ? err : 0;
}

/* One log that m names: read only if there are ssts that may be of a bulk load
 * with a mark in it. */
static int check_named_log(struct search *s, const struct manifest_log *log)
{
	struct volume *v = s->m->volume;
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	int err;

	manifest_name(log->id, "log", name);
	if (s->any_sst) {
		err = wal_replay(v, name, log->id, log->final_size, note_mark,
				 s, &s->log);
	} else {
		err = v->ops->open(v, name, &reader);
		if (err == 0)
			v->ops->reader_close(reader);
	}
	return err == -ENOENT ? fail(ERR_wal_damaged, "%s/%s: is missing",
				     v->path, name)
			      : err;
}

/* Bulk loads have the latest sequences in ssts, or they were merged with what
 * was flushed later, or m tells their sequence. */
static bool knows_mark(const struct search *s)
{
	const struct manifest *m = s->m;

	return s->mark_seq <= m->last_seq || s->mark_seq <= m->given_seq ||
	       s->mark_seq <= version_largest_seq(m->current);
}

/* For listing. A store begins with its root, but for the edit log that the root
 * is to name. */
static int refuse_file(void *context, const char *name)
{
	struct volume *v = context;
	const char *suffix;
	uint64_t id;

	if (!manifest_parse_name(name, &id, &suffix) ||
	    strcmp(suffix, "edits") == 0)
		return 0;
	return fail(ERR_manifest_damaged,
		    "%s/%s: is a file of a store, but there is no root; run "
		    "tabletfs repair",
		    v->path, name);
}

int manifest_no_root(struct volume *v)
{
	int err = v->ops->list(v, refuse_file, v);

	return err < 0 ? err
		       : fail(ERR_not_a_store, "%s: there is no store in it",
			      v->path);
}

int manifest_whole(const struct manifest *m, uint64_t edits_id,
		   const struct edit *all)
{
	struct search s = { .m = m, .edits_id = edits_id, .all = all };
	char name[VOLUME_NAME_MAX + 1];
	size_t i;
	int err;

	for (i = 0; i < m->log_count; i++)
		if (m->logs[i].id > s.newest_log)
			s.newest_log = m->logs[i].id;
	err = m->volume->ops->list(m->volume, check_file, &s);
	for (i = 0; i < m->log_count && err == 0; i++)
		err = check_named_log(&s, &m->logs[i]);
	manifest_name(s.newest_log, "log", name);
	if (err == 0 && !knows_mark(&s))
		err = not_named(&s, name,
				"tells of a bulk load that is not in "
				"the manifest");
	return err;
}
