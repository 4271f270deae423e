#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/batch.h"
#include "store/engine/files/edit.h"
#include "store/engine/log/wal_read.h"
#include "store/engine/inspect/inspect_log.h"
#include "store/engine/inspect/inspect_sst.h"

struct log_look {
	struct inspect *i;
	int (*show)(struct log_look *l, uint64_t offset, struct bytes record);
	uint64_t change_count;
	uint64_t next_seq; /* of the next record; 0: not known */
	struct wal_replay result;
};

/* Tells of a record that is whole, but not what it should be; -ENOMEM is no
 * fault of it. */
static int tell_record(struct log_look *l, uint64_t offset, size_t size,
		       int err)
{
	return err == -ENOMEM ? err
			      : inspect_problem(l->i, offset, offset + size,
						"record", inspect_reason(l->i));
}

static int show_range(struct inspect *i, const struct batch_record *r,
		      uint64_t seq)
{
	int err;

	inspect_begin(i);
	err = inspect_add(i, "tombstone from");
	if (err == 0)
		err = inspect_add_key(i, r->key);
	if (err == 0)
		err = inspect_add(i, " to");
	if (err == 0)
		err = inspect_add_key(i, r->value);
	if (err == 0)
		err = inspect_add(i, " seq %llu", (unsigned long long)seq);
	return err < 0 ? err : inspect_end(i);
}

static int show_change(struct inspect *i, const struct batch_record *r,
		       uint64_t seq)
{
	int err;

	if (r->kind == BATCH_RANGE)
		return show_range(i, r, seq);
	inspect_begin(i);
	err = inspect_add(i, "entry");
	if (err == 0)
		err = inspect_add_key(i, r->key);
	if (err == 0)
		err = inspect_add(i, " seq %llu", (unsigned long long)seq);
	if (err == 0)
		err = inspect_add_value(i, r->kind, r->value);
	if (err == 0)
		err = inspect_end(i);
	return err < 0 ? err : inspect_references(i, r->kind, r->value);
}

/* The changes of a batch, first the batch itself. */
static int show_changes(struct log_look *l, uint64_t offset, size_t size,
			const struct batch *b, uint64_t seq)
{
	struct batch_record r;
	size_t position = 0;
	int err = batch_is_mark(b);

	if (err >= 0 && inspect_wants(l->i))
		err = inspect_always(l->i,
				     "record offset %llu size %zu seq %llu "
				     "changes %u%s",
				     (unsigned long long)offset, size,
				     (unsigned long long)seq, b->count,
				     err ? " mark of a bulk load" : "");
	for (; err >= 0 && batch_next(b, &position, &r); seq++)
		if (inspect_wants(l->i))
			err = show_change(l->i, &r, seq);
	return err < 0 ? err : 0;
}

/* Sequences go on from record to record. */
static int show_batch(struct log_look *l, uint64_t offset, struct bytes record)
{
	struct batch b;
	uint64_t seq;
	int err = batch_parse(record, l->result.is_old, &b, &seq);

	if (err < 0) {
		l->next_seq = 0;
		return tell_record(l, offset, record.size, err);
	}
	if (l->next_seq > 0 && seq != l->next_seq) {
		err = fail(ERR_wal_malformed,
			   "begins at sequence %llu, the one before ends "
			   "before %llu",
			   (unsigned long long)seq,
			   (unsigned long long)l->next_seq);
		err = tell_record(l, offset, record.size, err);
	}
	l->change_count += b.count;
	l->next_seq = seq + b.count;
	return err < 0 ? err : show_changes(l, offset, record.size, &b, seq);
}

/* Ids as in names of files. */
#define ID_FORMAT "%08x-%08x"
#define ID_WORDS(id) (unsigned int)((id) >> 32), (unsigned int)(id)

static int show_files(struct inspect *i, const struct edit *e)
{
	size_t n;
	int err = 0;

	for (n = 0; n < e->added_count && err == 0; n++)
		err = inspect_always(
			i, "add level %u " ID_FORMAT ".sst size %llu seq %llu",
			e->added[n].level, ID_WORDS(e->added[n].id),
			(unsigned long long)e->added[n].size,
			(unsigned long long)e->added[n].seq);
	for (n = 0; n < e->removed_count && err == 0; n++)
		err = inspect_always(i, "remove level %u " ID_FORMAT ".sst",
				     e->removed[n].level,
				     ID_WORDS(e->removed[n].id));
	for (n = 0; n < e->log_count && err == 0; n++)
		err = inspect_always(i, "log " ID_FORMAT ".log size %llu",
				     ID_WORDS(e->logs[n].id),
				     (unsigned long long)e->logs[n].final_size);
	for (n = 0; n < e->blob_count && err == 0; n++)
		err = inspect_always(
			i, "blob " ID_FORMAT ".blob size %llu",
			ID_WORDS(e->blobs[n].id),
			(unsigned long long)e->blobs[n].final_size);
	for (n = 0; n < e->dropped_count && err == 0; n++)
		err = inspect_always(i, "drop " ID_FORMAT ".blob",
				     ID_WORDS(e->dropped_blobs[n]));
	return err;
}

/* What an edit says of the recent past. */
static int show_history(struct inspect *i, const struct edit *e)
{
	size_t n;
	int err = 0;

	for (n = 0; n < e->moment_count && err == 0; n++)
		err = inspect_always(i, "moment %llu seq %llu size %llu%s",
				     (unsigned long long)e->moments[n].time_us,
				     (unsigned long long)e->moments[n].seq,
				     (unsigned long long)e->moments[n].size,
				     e->moments[n].flags & MOMENT_AFTER_GAP
					     ? " after a gap"
					     : "");
	for (n = 0; n < e->ended_count && err == 0; n++)
		err = inspect_always(i, "end moment seq %llu",
				     (unsigned long long)e->ended[n]);
	for (n = 0; n < e->past_count && err == 0; n++)
		err = inspect_always(
			i,
			"add history " ID_FORMAT ".sst size %llu seq %llu "
			"visible %llu",
			ID_WORDS(e->pasts[n]->id),
			(unsigned long long)e->pasts[n]->size,
			(unsigned long long)e->pasts[n]->seq,
			(unsigned long long)e->pasts[n]->visible_seq);
	for (n = 0; n < e->dropped_past_count && err == 0; n++)
		err = inspect_always(i, "drop history " ID_FORMAT ".sst",
				     ID_WORDS(e->dropped_pasts[n]));
	return err;
}

static int show_numbers(struct inspect *i, const struct edit *e)
{
	int err = 0;

	if (e->oldest_log)
		err = inspect_always(i, "oldest_log " ID_FORMAT ".log",
				     ID_WORDS(e->oldest_log));
	if (err == 0 && e->last_seq)
		err = inspect_always(i, "last_seq %llu",
				     (unsigned long long)e->last_seq);
	if (err == 0 && e->gc_time_us)
		err = inspect_always(i, "gc_time %llu",
				     (unsigned long long)e->gc_time_us);
	if (err == 0 && e->given_seq)
		err = inspect_always(i, "given_seq %llu",
				     (unsigned long long)e->given_seq);
	return err;
}

static int show_edit(struct log_look *l, uint64_t offset, struct bytes record)
{
	struct edit e;
	int err = edit_decode(record, &e);

	if (err < 0)
		return tell_record(l, offset, record.size, err);
	l->change_count += e.added_count + e.removed_count + e.log_count +
			   e.blob_count + e.dropped_count + e.moment_count +
			   e.ended_count + e.quiet_count + e.past_count +
			   e.dropped_past_count;
	if (inspect_wants(l->i)) {
		err = inspect_always(l->i, "edit offset %llu size %zu",
				     (unsigned long long)offset, record.size);
		if (err == 0)
			err = show_files(l->i, &e);
		if (err == 0)
			err = show_history(l->i, &e);
		if (err == 0)
			err = show_numbers(l->i, &e);
	}
	edit_release(&e);
	return err;
}

static int take_record(void *context, uint64_t offset, struct bytes record)
{
	struct log_look *l = context;

	return l->show(l, offset, record);
}

static int tell_damage(void *context, uint64_t offset, uint64_t end,
		       const char *what)
{
	struct log_look *l = context;

	l->next_seq = 0;
	return inspect_problem(l->i, offset, end, "record", what);
}

static int tell_tail(void *context, uint64_t offset, uint64_t size,
		     const char *what)
{
	struct log_look *l = context;
	char text[200];

	if (size == 0)
		return inspect_line(l->i, "held_room offset %llu",
				    (unsigned long long)offset);
	snprintf(text, sizeof(text), "a torn tail, which opening cuts: %s",
		 what);
	return inspect_note(l->i, offset, offset + size, "record", text);
}

/* The log's id, by its name or by what is in it: 1, 0 after a line that says
 * that there is none, or an error. */
static int find_id(struct inspect *i, struct reader *reader, const uint64_t *id,
		   uint64_t *found)
{
	int err;

	if (id) {
		*found = *id;
		return 1;
	}
	err = wal_find_id(reader, found);
	if (err != 0)
		return err;
	return reader->size == 0
		       ? 0
		       : inspect_problem(i, 0, reader->size, "file",
					 "holds no whole chunk of a log");
}

static int look(struct log_look *l, struct reader *reader, const uint64_t *id,
		const struct inspect_facts *facts)
{
	const struct wal_walk walk = { take_record, tell_damage, tell_tail, l };
	uint64_t log_id;
	int err = find_id(l->i, reader, id, &log_id);

	if (err <= 0)
		return err;
	err = inspect_line(l->i, "id " ID_FORMAT, ID_WORDS(log_id));
	if (err == 0)
		err = wal_walk(reader, log_id, facts->size, &walk, &l->result);
	if (err == 0)
		err = inspect_line(l->i, "records %llu",
				   (unsigned long long)l->result.record_count);
	if (err == 0)
		err = inspect_line(l->i, "changes %llu",
				   (unsigned long long)l->change_count);
	if (err == 0)
		err = inspect_line(l->i, "good_bytes %llu",
				   (unsigned long long)l->result.good_size);
	return err < 0 ? err
		       : inspect_line(l->i, "finished %s",
				      l->result.finished ? "yes" : "no");
}

int inspect_log(struct inspect *i, struct reader *reader, const uint64_t *id,
		const struct inspect_facts *facts)
{
	struct log_look l = { .i = i, .show = show_batch };

	return look(&l, reader, id, facts);
}

int inspect_edits(struct inspect *i, struct reader *reader, const uint64_t *id,
		  const struct inspect_facts *facts)
{
	struct log_look l = { .i = i, .show = show_edit };

	return look(&l, reader, id, facts);
}

/* What the first record of a log shows. */
struct judgement {
	struct wal_replay result;
	bool is_edits;
};

/* Ends the walk with the first record. */
static int judge_record(void *context, uint64_t offset, struct bytes record)
{
	struct judgement *j = context;
	struct edit e;
	struct batch b;
	uint64_t seq;

	(void)offset;
	if (batch_parse(record, j->result.is_old, &b, &seq) < 0 &&
	    edit_decode(record, &e) == 0) {
		edit_release(&e);
		j->is_edits = true;
	}
	return -ECANCELED;
}

static int pass(void *context, uint64_t offset, uint64_t end, const char *what)
{
	(void)context;
	(void)offset;
	(void)end;
	(void)what;
	return 0;
}

int inspect_is_log(struct reader *reader, bool *is_edits)
{
	struct judgement j = { .is_edits = false };
	const struct wal_walk walk = { judge_record, pass, pass, &j };
	uint64_t id;
	int err = wal_find_id(reader, &id);

	*is_edits = false;
	if (err <= 0)
		return err;
	err = wal_walk(reader, id, 0, &walk, &j.result);
	*is_edits = j.is_edits;
	return err < 0 && err != -ECANCELED ? err : 1;
}
