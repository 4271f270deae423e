#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/follow/follower.h"

/*
 * From logs to memtables. A memtable is begun with each log, and where one is
 * full; it is written to by the follower alone, beside readers who see no more
 * than what was published.
 */

/* One log that is read. */
struct reading {
	struct follower *f;
	struct followed_log *log;
	bool began; /* the last memtable is of this log */
};

int follow_fail_lost(const struct follower *f, uint64_t seq)
{
	return fail(
		ERR_store_lost,
		"%s: has lost what was not durable, and was shown: %llu was "
		"its last commit then, of %llu; mount it again",
		f->e->volume->path, (unsigned long long)seq,
		(unsigned long long)atomic_load(&f->e->visible_seq));
}

static void drop_tables(struct follower *f, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		memtable_put(f->tables[i]);
	for (; i < f->table_count; i++)
		f->tables[i - count] = f->tables[i];
	f->table_count -= count;
}

void follow_logs_anew(struct follower *f)
{
	drop_tables(f, f->table_count);
	f->log_count = 0;
	f->written_seq = 0;
	f->schema = true;
}

/* A memtable that holds at least batch, which may be NULL. */
static int begin_table(struct follower *f, const struct batch *batch)
{
	size_t size = engine_unflushed_size(f->e, f->table_count);
	size_t need = batch ? memtable_need(batch) : 0;
	int err;

	if (f->table_count == IMMUTABLES_MAX + 1)
		return fail(ENOMEM,
			    "%s: too much log to follow in memory; a larger "
			    "memory= holds it",
			    f->e->volume->path);
	err = memtable_new(size < need ? need : size,
			   &f->tables[f->table_count]);
	if (err < 0)
		return err;
	memtable_count(f->tables[f->table_count], f->e->memory);
	f->table_count++;
	return 0;
}

/* Whether the version has a large value's blob files: 0 or FOLLOW_MOVED. */
static int check_large(void *context, const struct blob_list *list)
{
	const struct follower *f = context;
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if (!version_blob(f->names->current, list->chunks[i].file))
			return FOLLOW_MOVED;
	return 0;
}

/* Whether all that the record supposes has been read: 0, FOLLOW_MOVED or an
 * error. The files of a bulk load are named before the log has its mark. */
static int check_record(struct follower *f, const struct batch *batch,
			uint64_t seq)
{
	const struct manifest *m = f->names;
	int mark = batch_is_mark(batch);

	if (mark < 0)
		return mark;
	if (seq != f->written_seq + 1)
		return FOLLOW_MOVED;
	if (mark && seq > m->given_seq && seq > m->last_seq &&
	    seq > version_largest_seq(m->current))
		return FOLLOW_MOVED;
	return batch_each_large(batch, check_large, f);
}

/* For wal_follow. What came with former edits, or is a mark of a load that they
 * tell of, is there already. */
static int take_record(void *context, struct bytes record)
{
	struct reading *r = context;
	struct follower *f = r->f;
	struct memtable *last;
	struct batch batch;
	uint64_t seq;
	int err, fits = 0;

	err = batch_parse(record, r->log->place.is_old, &batch, &seq);
	/* A log that nothing was shown of has only what came since: unless its
	 * owner found less than that. */
	if (err == 0 && r->log->id > f->shown_log && f->shown_log > 0 &&
	    seq <= atomic_load(&f->e->visible_seq))
		return follow_fail_lost(f, seq - 1);
	if (err < 0 || seq + batch.count - 1 <= f->written_seq)
		return err;
	err = check_record(f, &batch, seq);
	if (err != 0)
		return err;
	if (r->began)
		fits = memtable_reserve(f->tables[f->table_count - 1], &batch);
	if (fits == 0) {
		err = begin_table(f, &batch);
		if (err < 0)
			return err;
		r->began = true;
		fits = memtable_reserve(f->tables[f->table_count - 1], &batch);
	}
	if (fits < 0)
		return fits;
	last = f->tables[f->table_count - 1];
	last->log_id = r->log->id;
	memtable_apply(last, &batch, seq);
	f->written_seq = seq + batch.count - 1;
	f->schema |= last->schema_seq >= seq;
	return 0;
}

static int follow_log(struct follower *f, struct followed_log *log,
		      uint64_t final_size)
{
	struct reading r = { .f = f, .log = log };
	char name[VOLUME_NAME_MAX + 1];
	const struct memtable *last;

	manifest_name(log->id, "log", name);
	last = f->table_count > 0 ? f->tables[f->table_count - 1] : NULL;
	r.began = last && (last->first_seq == 0 || last->log_id == log->id);
	return wal_follow(f->e->volume, name, log->id, final_size, take_record,
			  &r, &log->place);
}

/* The list of names, with the places of those that were read. */
static int list_logs(struct follower *f)
{
	const struct manifest *m = f->names;
	struct followed_log *logs = calloc(m->log_count + 1, sizeof(*logs));
	size_t i, j;

	if (!logs)
		return -ENOMEM;
	for (i = 0; i < m->log_count; i++) {
		logs[i].id = m->logs[i].id;
		for (j = 0; j < f->log_count; j++)
			if (f->logs[j].id == logs[i].id)
				logs[i] = f->logs[j];
	}
	free(f->logs);
	f->logs = logs;
	f->log_count = m->log_count;
	return 0;
}

/* An empty one waits for the first record as the only one. */
static bool is_done(const struct follower *f, const struct memtable *m)
{
	return m->first_seq > 0 ? m->last_seq <= f->names->last_seq
				: f->table_count > 1;
}

/* Lets go of memtables all of which is in ssts. One of which a part is would
 * give that twice, so that the rest is read anew. */
static void drop_flushed(struct follower *f)
{
	uint64_t last_seq = f->names->last_seq;
	size_t count = 0;

	while (count < f->table_count && is_done(f, f->tables[count]))
		count++;
	drop_tables(f, count);
	if (f->table_count > 0 && f->tables[0]->first_seq > 0 &&
	    f->tables[0]->first_seq <= last_seq)
		follow_logs_anew(f);
	if (f->written_seq < last_seq)
		f->written_seq = last_seq;
}

int follow_logs(struct follower *f)
{
	uint64_t loaded = version_largest_seq(f->names->current);
	size_t i;
	int err;

	drop_flushed(f);
	err = list_logs(f);
	for (i = 0; i < f->log_count && err == 0; i++)
		err = follow_log(f, &f->logs[i], f->names->logs[i].final_size);
	if (err != 0)
		return err;
	/* A bulk load whose mark is not in the log yet: the log had all before
	 * it when it was named. */
	if (loaded < f->names->given_seq)
		loaded = f->names->given_seq;
	if (f->written_seq < loaded)
		f->written_seq = loaded;
	return f->table_count == 0 ? begin_table(f, NULL) : 0;
}
