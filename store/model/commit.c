#include <assert.h>

#include "store/base/coding.h"
#include "store/base/threads/mutex.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/write.h"
#include "store/model/bury.h"
#include "store/model/commit.h"
#include "store/model/look.h"
#include "store/model/schema.h"

/*
 * A commit, under s->writing: the records are checked once more if the schema
 * has changed since they were added; timestamps that were left open become the
 * time of now; what deletions would bring back is deleted before them; the
 * batch goes to the engine's log and memtable. The sync, which may take
 * milliseconds, comes after the lock, so that commits that wait for one are
 * synced together.
 */

/* What a record puts into the family of this name, which may be another one
 * than when it was added: it must be there and take what is put. A family that
 * was dropped and made anew with the same type is as good. */
static int revalidate_put(const struct table *table, struct bytes name,
			  const struct batch_record *record)
{
	const struct family *family = table_family(table, name);
	enum aggregate_kind kind;

	if (!family)
		return write_unknown_family(name);
	kind = family_aggregate(family);
	if (record->kind == KEY_MERGE
		    ? kind && aggregate_is_state(kind, record->value)
		    : !kind)
		return 0;
	return fail(ERR_type_mismatch,
		    "family \"%s\" was made anew with another type",
		    err_name(name));
}

/* A timestamp that was given has to be one that the table takes now; one that
 * was left open, which *now is then the note of, will be. */
static int revalidate_time(struct write *w, const struct table *table,
			   struct bytes key, size_t *now)
{
	size_t place = (size_t)(key.data - w->batch.data.data) + key.size -
		       KEY_TIMESTAMP_SIZE;
	uint8_t *at = w->now_places.data + *now;
	uint64_t note = *now < w->now_places.size ? get_u64le(at) : 0;

	if (write_note_place(note) != place)
		return write_check_timestamp(
			table, ~get_u64be(w->batch.data.data + place));
	note &= ~(uint64_t)WRITE_NOTE_TABLE;
	put_u64le(at, note | (table->millis ? WRITE_NOTE_TABLE : 0));
	*now += sizeof(uint64_t);
	return 0;
}

/* Checks every record against the schema of now: its table, and of what it puts
 * the family, must still be there and the time be right. The table is known by
 * its id, so a renamed one is the same. Deletions of a family that is gone do
 * no harm. */
static int revalidate(struct write *w)
{
	const struct schema *schema = w->s->schema;
	struct buf scratch = BUF_INIT;
	struct batch_record record;
	const struct table *table;
	size_t position = 0, now = 0, end;
	struct bytes family;
	int err = 0;

	while (err == 0 && batch_next(&w->batch, &position, &record)) {
		table = table_by_id(schema, key_table(record.key));
		if (!table) {
			err = fail(ERR_no_table, "the table was dropped");
			break;
		}
		if (!key_kind_is_put(record.kind))
			continue;
		err = key_part(record.key, key_row_end(record.key), &scratch,
			       &family, &end);
		if (err == 0)
			err = revalidate_put(table, family, &record);
		if (err == 0)
			err = revalidate_time(w, table, record.key, &now);
	}
	buf_release(&scratch);
	return err;
}

/* Gives all records whose time was left open the same one, in the batch's bytes
 * where the timestamp lies inverted; of a table in milliseconds rounded down.
 */
static void patch_now(struct write *w)
{
	uint64_t now = store_now(w->s), note;
	struct bytes notes = buf_bytes(&w->now_places);

	while (take_u64le(&notes, &note)) {
		bool in_millis = note & (WRITE_NOTE_TABLE | WRITE_NOTE_ALWAYS);
		size_t place = write_note_place(note);

		assert(place + KEY_TIMESTAMP_SIZE <= w->batch.data.size);
		put_u64be(w->batch.data.data + place,
			  ~(in_millis ? write_millis(now, note >> 32) : now));
	}
}

/* Whether the records of both are no more than one batch takes, with the header
 * counted twice. */
static bool fit_together(const struct batch *a, const struct batch *b)
{
	return a->count <= BATCH_RECORDS_MAX - b->count &&
	       a->data.size <= BATCH_SIZE_MAX - b->data.size;
}

/* A column whose policy ranked nothing when it was noted needs no look, unless
 * the schema has changed since. The records of both are put together if one
 * batch takes them, so that what deletes and what is deleted commit as one; if
 * not, what deletes goes first, of which nobody sees anything. */
int write_hidden(struct write *w)
{
	bool changed = w->stale || w->schema != w->s->schema;
	struct batch before = BATCH_INIT;
	size_t i;
	int err = 0;

	/* What is not hidden now does not become so before the deletion is
	 * there that merges have to know of; see store/engine/compact/gc.h. */
	engine_hold_gc_time(w->s->engine, GC_HELD_BY_WRITE, true);
	w->holds_time = true;
	for (i = 0; i < w->hidden_count && err == 0; i++) {
		struct bytes column =
			bytes_of(w->prefixes.data + w->hidden[i].start,
				 w->hidden[i].size);

		/* In a changed schema, the policy may rank now what it did not.
		 */
		if (w->hidden[i].ranked || changed)
			err = bury_column(w->s, column, &before);
		if (err == 0 && before.count == BURIED_AT_ONCE)
			err = bury_now(w->s, &before);
	}
	/* A commit that is refused leaves this written; nobody sees a
	 * difference. */
	if (err == 0 && !fit_together(&before, &w->batch))
		err = bury_now(w->s, &before);
	if (err == 0 && before.count > 0)
		err = batch_append(&before, &w->batch);
	if (err == 0)
		w->hidden_count = w->prefixes.size = 0;
	if (err == 0 && before.count > 0) {
		batch_release(&w->batch);
		w->batch = before;
		return 0;
	}
	batch_release(&before);
	return err;
}

int write_settle(struct write *w, const struct batch **batch)
{
	int err = 0;

	assert(w->now_places.size % sizeof(uint64_t) == 0);
	if (w->stale || w->schema != w->s->schema)
		err = revalidate(w);
	if (err < 0)
		return err;
	patch_now(w);
	*batch = &w->batch;
	return 0;
}

/* The time is patched in before write_hidden, which moves the records, but not
 * their last one: its sequence is that of the caller's last change. */
int commit_locked(struct store *s, struct write *w, uint64_t *seq)
{
	const struct batch *batch;
	int err;

	if (seq)
		*seq = 0;
	if (w->batch.count == 0)
		return 0;
	err = write_settle(w, &batch);
	if (err < 0)
		return err;
	if (w->hidden_count > 0)
		err = write_hidden(w);
	if (err == 0 && !w->is_uncounted)
		removed_note(&s->removed, &w->batch);
	if (err == 0 && s->look)
		look_note(s->look, &w->batch);
	if (err == 0)
		row_guards_note(&s->guards, &w->batch);
	/* Of several rows the last: who writes more than one waits for none. */
	if (err == 0 && w->row_end > 0 && !w->table->millis && !w->in_millis)
		recent_note(&s->recent, bytes_of(w->key.data, w->row_end),
			    store_now(s));
	if (err == 0)
		err = engine_write(s->engine, &w->batch, false, seq);
	if (err == 0)
		sample_batch(s->sampler.heat, &w->batch);
	return err;
}

void commit_end(struct store *s, struct write *w)
{
	if (w->holds_time)
		engine_hold_gc_time(s->engine, GC_HELD_BY_WRITE, false);
	w->holds_time = false;
	pthread_mutex_unlock(&s->writing);
}

bool store_commit_waits(const struct store *s, bool sync)
{
	return sync || !s->volume->survives_kill;
}

int commit_wait(struct store *s, bool sync)
{
	return store_commit_waits(s, sync) ? engine_sync(s->engine) : 0;
}

/* Spins for the lock: others hold it for microseconds, see mutex_lock_spinning.
 * w is emptied whether or not it was committed. */
int store_commit_more(struct store *s, struct write *w)
{
	int err;

	mutex_lock_spinning(&s->writing);
	err = commit_locked(s, w, NULL);
	commit_end(s, w);
	write_reset(w);
	return err;
}

uint32_t store_removals(struct store *s, uint32_t table_id, struct bytes row)
{
	return removed_get(&s->removed, table_id, row);
}

void write_uncounted(struct write *w)
{
	w->is_uncounted = true;
}

uint32_t write_table_id(const struct write *w)
{
	return w->table_id;
}

/* The wait comes without the lock, so that others are served by it, too. */
int store_commit(struct store *s, struct write *w, bool sync)
{
	int err = store_commit_more(s, w);

	return err < 0 ? err : commit_wait(s, sync);
}

/* For who has committed more than once. */
int store_settle(struct store *s)
{
	return commit_wait(s, false);
}
