#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/log/wal_read.h"
#include "store/engine/repair/repair_find.h"
#include "store/engine/repair/repair_state.h"

/*
 * Which files a repair takes.
 *
 * Those that the manifest names; but its end may be missing. An edit log that
 * was cut between two edits, or an old one, looks whole. So every other file is
 * looked at. One is of no use for certain if it is of an earlier life than the
 * edit log, which began with all that there was, or if an edit removed it: what
 * it held is in other ssts by now, or was deleted or collected there together
 * with what hid it, and would come back. Of the rest
 *
 *   an sst with a later sequence than any that a named one holds was flushed
 *     after the last edit that is known, and is taken; but of these one that
 *     tells nothing newer than an earlier one with keys among its own is taken
 *     for what that one went into. (Those of one flush are apart, and what one
 *     of them goes into is, too, but for keys of named ones.)
 *   an sst without is the output of a compaction, which may not have ended: if
 *     all named ssts are there, they hold all that it does, and it is left.
 *     But it is taken if one with a smaller id is missing, as that may have
 *     gone into it: inputs are older than outputs, and so are their ids;
 *   an sst of a bulk load, whose sequence only an edit tells, is taken if an
 *     edit is known to be lost, and then comes after all others. Else it is of
 *     a load that was not published;
 *   a log is taken if it has a record: it is named before it gets one;
 *   a blob file is taken; if nothing refers to it, the new store drops it.
 *
 * If an input of a lost compaction is taken together with the output, because
 * it was not removed yet, then what they deleted may be back. That cannot be
 * told from a lost file, and is the smaller loss; but it is told.
 */
struct finder {
	struct repair *r;
	struct manifest_history history;
	struct edit others;    /* files that the manifest does not name */
	uint64_t named_seq;    /* the newest in an sst that is named */
	uint64_t newest_seq;   /* in one that is named or taken */
	uint64_t missing_id;   /* the least of a named sst that is missing */
	uint64_t logged_seq;   /* the newest in a log that is named */
	uint64_t records;      /* of the log under way */
	struct wal_replay log; /* that log */
	uint64_t load_seq;     /* the newest bulk load that logs tell of */
	bool edit_lost;        /* for certain */
	uint64_t past_count;   /* files of history, which are left */
};

/* What an sst says of itself. */
struct sst_facts {
	bool is_readable;                   /* else the rest is 0 */
	bool is_taken;                      /* as one that was flushed */
	bool is_past;                       /* of history, which is left */
	struct buf smallest, largest;       /* keys */
	uint32_t level;                     /* at birth: 0 if it was flushed */
	uint64_t smallest_seq, largest_seq; /* 0: of a bulk load */
};

/* Ends the sentence about an sst that is left out although it might be needed:
 * without root and edits every file is taken. */
#define IN_DOUBT \
	"; to have it, repair a copy of the store without root and *.edits"

int repair_lose(struct repair *r, int err, struct bytes after,
		struct bytes before)
{
	char text[700];

	assert(err < 0);
	r->result->lost_count++;
	/* The store's own codes have sentences that say all; a plain errno's
	 * tells only where. */
	snprintf(text, sizeof(text), "%s%s%s", err_detail(),
		 -err < ERR_BASE ? ": " : "",
		 -err < ERR_BASE ? err_text(err) : "");
	return r->report->tell(r->report->context, text, after, before);
}

bool repair_is_final(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE ||
	       err == -ERR_format_newer;
}

/* For listing: sets *context if name is that of a store's file. */
static int is_of_a_store(void *context, const char *name)
{
	const char *suffix;
	uint64_t id;

	*(bool *)context |= manifest_parse_name(name, &id, &suffix);
	return 0;
}

int engine_repairable(struct volume *from)
{
	struct buf root = BUF_INIT;
	bool is = false;
	uint64_t version;
	int err = from->ops->list(from, is_of_a_store, &is);

	if (err == 0 && !is &&
	    from->ops->root_get(from, &version, &root) == -ENOENT)
		err = fail(ERR_not_a_store,
			   "%s: no store, there is no file of one in it",
			   from->path);
	buf_release(&root);
	return err;
}

/* For listing: lets the new store's epoch be after that of every file, so that
 * names of its own never meet those that it takes over. */
static int find_epoch(void *context, const char *name)
{
	struct repair *r = context;
	const char *suffix;
	uint64_t id;

	if (!manifest_parse_name(name, &id, &suffix) || id >> 32 < r->epoch)
		return 0;
	if (id >> 32 == UINT32_MAX)
		return fail(EOVERFLOW,
			    "%s/%s: there is no epoch after that of its name; "
			    "try again with the file moved elsewhere",
			    r->from->path, name);
	r->epoch = (uint32_t)(id >> 32) + 1;
	return 0;
}

/* For listing: a file that is there, when no manifest says which count. Sizes
 * are not known then; 0 stands for that. */
static int find_file(void *context, const char *name)
{
	struct repair *r = context;
	const char *suffix;
	uint64_t id;

	if (!manifest_parse_name(name, &id, &suffix))
		return 0;
	if (strcmp(suffix, "sst") == 0)
		return edit_add_file(&r->found, 0, id, 0);
	if (strcmp(suffix, "log") == 0)
		return edit_add_log(&r->found, id, 0);
	return strcmp(suffix, "blob") == 0 ? edit_add_blob(&r->found, id, 0)
					   : 0;
}

/* Ids grow with time within an epoch, and epochs do: this is the order in which
 * logs were written, and in which version_add_blob wants blob files. */
static int by_id(const void *a, const void *b)
{
	const struct manifest_log *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_file_id(const void *a, const void *b)
{
	const struct manifest_file *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* qsort must not be given NULL, which an empty list is. */
static void sort_ids(struct edit *e)
{
	if (e->added_count > 0)
		qsort(e->added, e->added_count, sizeof(*e->added), by_file_id);
	if (e->log_count > 0)
		qsort(e->logs, e->log_count, sizeof(*e->logs), by_id);
	if (e->blob_count > 0)
		qsort(e->blobs, e->blob_count, sizeof(*e->blobs), by_id);
}

/* Reads what an sst says of itself: 0, also if it is damaged, which is told
 * when it is taken; -ENOENT if it is missing; or a final error. */
static int look_at_sst(struct repair *r, uint64_t id, struct sst_facts *facts)
{
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	struct sst *sst;
	int err;

	*facts = (struct sst_facts){ .is_readable = false };
	manifest_name(id, "sst", name);
	err = r->from->ops->open(r->from, name, &reader);
	if (err < 0)
		return repair_is_final(err) || err == -ENOENT ? err : 0;
	err = sst_open(reader, NULL, id, &sst);
	if (err < 0) {
		r->from->ops->reader_close(reader);
		return repair_is_final(err) ? err : 0;
	}
	facts->is_readable = true;
	facts->is_past = sst_is_past(sst);
	facts->level = sst_properties(sst)->level;
	facts->smallest_seq = sst_properties(sst)->smallest_seq;
	facts->largest_seq = sst_properties(sst)->largest_seq;
	err = buf_set(&facts->smallest, sst_properties(sst)->smallest);
	if (err == 0)
		err = buf_set(&facts->largest, sst_properties(sst)->largest);
	sst_close(sst);
	return err;
}

static void facts_release(struct sst_facts *facts)
{
	buf_release(&facts->smallest);
	buf_release(&facts->largest);
}

/* Looks at the ssts that the manifest names, or without one at all: the newest
 * sequence in them, and the oldest that is missing. */
static int look_at_named(struct finder *f)
{
	struct edit *found = &f->r->found;
	struct sst_facts facts;
	size_t kept = 0, i;
	int err = 0;

	f->newest_seq = found->last_seq;
	f->missing_id = UINT64_MAX;
	for (i = 0; i < found->added_count && err == 0; i++) {
		const struct manifest_file *named = &found->added[i];

		err = look_at_sst(f->r, named->id, &facts);
		if (err == -ENOENT && named->id < f->missing_id)
			f->missing_id = named->id;
		if (err == -ENOENT)
			err = 0;
		facts_release(&facts);
		f->past_count += facts.is_past;
		if (facts.is_past)
			continue;
		found->added[kept++] = *named;
		named = &found->added[kept - 1];
		if (facts.largest_seq > f->newest_seq)
			f->newest_seq = facts.largest_seq;
		if (named->seq > f->newest_seq)
			f->newest_seq = named->seq;
	}
	if (err == 0)
		found->added_count = kept;
	f->named_seq = f->newest_seq;
	return err;
}

/* Notes the sequences of a log record, and whether it is a bulk load's mark;
 * for wal_replay. One that is no batch counts as if it was not there. */
static int look_at_record(void *context, struct bytes record)
{
	struct finder *f = context;
	struct batch batch;
	uint64_t seq;
	int err = batch_parse(record, f->log.is_old, &batch, &seq);

	if (err < 0 || batch.count == 0)
		return repair_is_final(err) ? err : 0;
	f->records++;
	err = batch_is_mark(&batch);
	if (err > 0) {
		f->load_seq = seq > f->load_seq ? seq : f->load_seq;
		err = buf_add_u64le(&f->r->marks, seq);
	}
	if (err < 0)
		return err;
	seq += batch.count - 1;
	if (seq > f->logged_seq)
		f->logged_seq = seq;
	return 0;
}

/* Notes what a log's records say, up to the first damage, which is told when
 * the log is taken. */
static int look_at_log(struct finder *f, const struct manifest_log *log)
{
	char name[VOLUME_NAME_MAX + 1];
	int err;

	f->records = 0;
	manifest_name(log->id, "log", name);
	err = wal_replay(f->r->from, name, log->id, log->final_size,
			 look_at_record, f, &f->log);
	if (repair_is_final(err))
		return err;
	f->r->logs_known &= err == 0 || err == -ENOENT;
	return 0;
}

/* Looks at the logs that the manifest names, or without one at all. */
static int look_at_logs(struct finder *f)
{
	size_t i;
	int err = 0;

	f->r->logs_known = true;
	for (i = 0; i < f->r->found.log_count && err == 0; i++)
		err = look_at_log(f, &f->r->found.logs[i]);
	return err;
}

/* Whether e adds a file with this id. */
static bool is_named(const struct edit *e, uint64_t id)
{
	size_t i;

	for (i = 0; i < e->added_count; i++)
		if (e->added[i].id == id)
			return true;
	for (i = 0; i < e->log_count; i++)
		if (e->logs[i].id == id)
			return true;
	for (i = 0; i < e->blob_count; i++)
		if (e->blobs[i].id == id)
			return true;
	return false;
}

/* Whether the manifest tells that a file is of no use any more. */
static bool is_gone(const struct finder *f, uint64_t id)
{
	const struct edit *e = &f->r->found;
	size_t i;

	if (id >> 32 < f->history.edits_id >> 32)
		return true;
	for (i = 0; i < e->removed_count; i++)
		if (e->removed[i].id == id)
			return true;
	for (i = 0; i < e->dropped_count; i++)
		if (e->dropped_blobs[i] == id)
			return true;
	return false;
}

/* Tells that a file is left out, and why; nothing is lost by it for certain. */
static int leave(struct finder *f, const char *name, const char *why)
{
	struct repair *r = f->r;
	char text[1000];

	r->result->left_count++;
	snprintf(text, sizeof(text), "%s/%s: left out: %s", r->from->path, name,
		 why);
	return r->report->tell(r->report->context, text, BYTES_NONE,
			       BYTES_NONE);
}

/* Tells of all history at once: a repair does not take it over, as what a lost
 * file held would be missing in it without a trace. */
static int leave_history(struct finder *f)
{
	struct repair *r = f->r;
	char text[1000];

	r->result->left_count += f->past_count;
	if (f->past_count == 0)
		return 0;
	snprintf(text, sizeof(text),
		 "%s: left out: history, in %llu files; what was deleted or "
		 "overwritten cannot be read in the new store",
		 r->from->path, (unsigned long long)f->past_count);
	return r->report->tell(r->report->context, text, BYTES_NONE,
			       BYTES_NONE);
}

/* For listing: collects a file that the manifest does not name, or leaves it if
 * it is of no use. An edit log is none of them: one that the root does not name
 * was replaced. */
static int find_other(void *context, const char *name)
{
	struct finder *f = context;
	const char *suffix;
	bool is_log;
	uint64_t id;

	if (!manifest_parse_name(name, &id, &suffix) ||
	    strcmp(suffix, "edits") == 0 || is_named(&f->r->found, id))
		return 0;
	if (edit_past(&f->r->found, id)) {
		f->past_count++;
		return 0;
	}
	is_log = strcmp(suffix, "log") == 0;
	if (is_gone(f, id) || (is_log && id <= f->history.newest_log))
		return leave(f, name,
			     "the manifest tells that it is of no use");
	if (is_log)
		return edit_add_log(&f->others, id, 0);
	if (strcmp(suffix, "sst") == 0)
		return edit_add_file(&f->others, 0, id, 0);
	return strcmp(suffix, "blob") == 0 ? edit_add_blob(&f->others, id, 0)
					   : 0;
}

/* Tells that a file is taken which the manifest does not name: an edit that
 * named it must be lost, and from then on that is known. */
static int take_other(struct finder *f, uint64_t id, const char *suffix,
		      const char *why)
{
	char name[VOLUME_NAME_MAX + 1];
	int err;

	manifest_name(id, suffix, name);
	err = fail(ERR_manifest_damaged,
		   "%s/%s: is not in the manifest, which must be old or cut "
		   "short; taken, as %s",
		   f->r->from->path, name, why);
	f->edit_lost = true;
	return repair_lose(f->r, err, BYTES_NONE, BYTES_NONE);
}

/* Takes each log that has a record; their order is settled at the end. */
static int take_logs(struct finder *f)
{
	uint64_t logged_seq = f->logged_seq;
	size_t i;
	int err = 0;

	for (i = 0; i < f->others.log_count && err == 0; i++) {
		err = look_at_log(f, &f->others.logs[i]);
		if (err < 0 || f->records == 0)
			continue;
		err = take_other(f, f->others.logs[i].id, "log",
				 "it has records");
		if (err == 0)
			err = edit_add_log(&f->r->found, f->others.logs[i].id,
					   0);
	}
	/* It is about named logs: it tells what a flush of those may have been
	 * about to hold. */
	f->logged_seq = logged_seq;
	return err;
}

/* Takes all, silently: if nothing refers to one, nothing was lost. */
static int take_blobs(struct finder *f)
{
	size_t i;
	int err = 0;

	for (i = 0; i < f->others.blob_count && err == 0; i++)
		err = edit_add_blob(&f->r->found, f->others.blobs[i].id, 0);
	return err;
}

static bool overlaps(const struct sst_facts *a, const struct sst_facts *b)
{
	return bytes_compare(buf_bytes(&a->smallest), buf_bytes(&b->largest)) <=
		       0 &&
	       bytes_compare(buf_bytes(&b->smallest), buf_bytes(&a->largest)) <=
		       0;
}

/* The newest sequence that all[at] has to tell more than to be taken: of named
 * ones, and of those before it that were taken and have keys among its own. */
static uint64_t seq_before(const struct finder *f, const struct sst_facts *all,
			   size_t at)
{
	uint64_t seq = f->named_seq;
	size_t i;

	for (i = 0; i < at; i++)
		if (all[i].is_taken && all[i].largest_seq > seq &&
		    overlaps(&all[i], &all[at]))
			seq = all[i].largest_seq;
	return seq;
}

/* Takes an sst, of which all[at] tells, and then sets its id to 0, or leaves it
 * for take_rest. They come in the order of their ids, which is that of their
 * making. */
static int take_sst(struct finder *f, struct manifest_file *file,
		    struct sst_facts *all, size_t at)
{
	struct sst_facts *facts = &all[at];
	uint64_t before;
	int err = 0;

	if (facts->is_past) {
		f->past_count++;
		file->id = 0;
		return 0;
	}
	if (!facts->is_readable || facts->largest_seq == 0)
		return 0;
	before = seq_before(f, all, at);
	if (facts->largest_seq > before) {
		/* A flush may have been under way, of what a log holds. */
		if (facts->level > 0 || facts->largest_seq > f->logged_seq)
			err = take_other(f, file->id, "sst",
					 "it is newer than all that is");
		if (facts->smallest_seq <= before)
			f->r->any_order = true;
		if (facts->largest_seq > f->newest_seq)
			f->newest_seq = facts->largest_seq;
		facts->is_taken = true;
	} else if (f->missing_id < file->id) {
		err = take_other(f, file->id, "sst",
				 "an older one that is named is missing; what "
				 "was deleted may be back");
		f->r->any_order = true;
	} else {
		return 0;
	}
	if (err == 0)
		err = edit_add_file(&f->r->found, 0, file->id, 0);
	file->id = 0;
	return err;
}

/* Takes or leaves an sst of which there is no telling how new it is: one of a
 * bulk load, one that cannot be read, or a compaction's output. */
static int take_rest(struct finder *f, uint64_t id,
		     const struct sst_facts *facts)
{
	bool is_loaded = facts->is_readable && facts->largest_seq == 0;
	bool load_lost = f->edit_lost || f->load_seq > f->newest_seq;
	char name[VOLUME_NAME_MAX + 1];
	int err;

	manifest_name(id, "sst", name);
	if (is_loaded && !load_lost)
		return leave(f, name,
			     "it is of a bulk load that did not end" IN_DOUBT);
	if (!is_loaded && (facts->is_readable || !f->edit_lost))
		return leave(f, name,
			     "what it holds should be in ssts that the "
			     "manifest names" IN_DOUBT);
	err = take_other(f, id, "sst",
			 is_loaded ? "there was a bulk load; what was deleted "
				     "or overwritten since then may be back"
				   : "it cannot be told how new it is; what "
				     "was deleted may be back");
	/* It may be older than what lies under it. */
	f->r->any_order = true;
	return err < 0 ? err
		       : edit_add_loaded(&f->r->found, 0, id, 0,
					 is_loaded ? f->r->load_seq : 0);
}

/* Bulk loads come after all that other ssts hold, and not before one that the
 * logs tell of. */
static void settle_load_seq(struct finder *f)
{
	f->r->load_seq =
		f->load_seq > f->newest_seq ? f->load_seq : f->newest_seq + 1;
}

/* First those that tell how new they are: only then it is known whether an edit
 * is lost, and after which sequence bulk loads come. */
static int take_ssts(struct finder *f)
{
	struct edit *others = &f->others;
	struct sst_facts *facts;
	size_t i;
	int err = 0;

	facts = calloc(others->added_count + 1, sizeof(*facts));
	if (!facts)
		return -ENOMEM;
	for (i = 0; i < others->added_count && err == 0; i++) {
		err = look_at_sst(f->r, others->added[i].id, &facts[i]);
		if (err == 0)
			err = take_sst(f, &others->added[i], facts, i);
	}
	settle_load_seq(f);
	for (i = 0; i < others->added_count && err == 0; i++)
		if (others->added[i].id != 0)
			err = take_rest(f, others->added[i].id, &facts[i]);
	for (i = 0; i < others->added_count; i++)
		facts_release(&facts[i]);
	free(facts);
	return err;
}

/* Decides about the files that the manifest does not name. If there are none,
 * nothing of the named ones need be known. */
static int find_others(struct finder *f)
{
	struct repair *r = f->r;
	int err = r->from->ops->list(r->from, find_other, f);

	if (err < 0 || f->others.added_count + f->others.log_count +
				       f->others.blob_count ==
			       0)
		return err;
	sort_ids(&f->others);
	err = look_at_named(f);
	if (err == 0)
		err = look_at_logs(f);
	if (err == 0)
		err = take_logs(f);
	if (err == 0)
		err = take_blobs(f);
	return err < 0 ? err : take_ssts(f);
}

/* An sst all of which a deletion hides goes as it is, or becomes a history file
 * as it is; only the manifest tells. */
static int doubt_ssts(struct repair *r)
{
	int err;

	if (r->found.added_count == 0)
		return 0;
	err = fail(ERR_manifest_damaged,
		   "%s: without root and edits nothing tells which ssts had "
		   "been dropped, or were kept as history alone; what was "
		   "deleted may be back",
		   r->from->path);
	return repair_lose(r, err, BYTES_NONE, BYTES_NONE);
}

/* Without a manifest every file counts, and only sequences tell which is
 * newer. */
static int find_all(struct finder *f)
{
	struct repair *r = f->r;
	int err = r->from->ops->list(r->from, find_file, r);

	if (err == 0 && r->found.added_count == 0 && r->found.log_count == 0)
		err = fail(ERR_not_a_store,
			   "%s: no sst and no log is left of the store",
			   r->from->path);
	r->any_order = true;
	if (err == 0)
		err = look_at_named(f);
	if (err == 0)
		err = doubt_ssts(r);
	if (err == 0)
		err = look_at_logs(f);
	settle_load_seq(f);
	return err;
}

/* Tells of an edit that is not whole. A crash may leave that, when nothing of
 * it counted yet, or it was cut later: which it was, nothing tells. */
static int lose_edit(struct repair *r, uint64_t size)
{
	int err = fail(ERR_manifest_damaged,
		       "%s: the manifest ends with %llu bytes of a change that "
		       "is not whole",
		       r->from->path, (unsigned long long)size);

	return repair_lose(r, err, BYTES_NONE, BYTES_NONE);
}

int repair_find(struct repair *r)
{
	struct finder f = { .r = r };
	size_t i;
	int err = r->from->ops->list(r->from, find_epoch, r);

	assert(r->found.added_count == 0 && r->found.log_count == 0);
	if (err < 0)
		return err;
	err = manifest_read(r->from, &f.history);
	r->identity = f.history.identity;
	r->has_manifest = err == 0;
	/* What is made of it is opened for writing, to be complete. */
	if (manifest_root_writable(r->from->path, &r->identity.features) < 0) {
		err = -ERR_format_newer;
	} else if (r->has_manifest) {
		r->found = f.history.state;
		f.history.state = (struct edit)EDIT_INIT;
		r->flushed_seq = r->found.last_seq;
		if (f.history.cut_size > 0)
			err = lose_edit(r, f.history.cut_size);
		if (err == 0)
			err = find_others(&f);
	} else {
		if (!repair_is_final(err))
			err = repair_lose(r, err, BYTES_NONE, BYTES_NONE);
		if (err == 0)
			err = find_all(&f);
	}
	if (err == 0)
		err = leave_history(&f);
	sort_ids(&r->found);
	for (i = 0; i < r->found.added_count && r->any_order; i++)
		r->found.added[i].level = 0;
	edit_release(&f.history.state);
	edit_release(&f.others);
	return err;
}
