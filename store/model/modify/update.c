#include <assert.h>

#include "store/base/coding.h"
#include "store/engine/large/large.h"
#include "store/engine/read/get.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/write.h"
#include "store/model/commit.h"
#include "store/model/write.h"
#include "store/update.h"

/*
 * Updates: reading and writing under the lock that every commit takes, so that
 * nobody writes between the two. What the update has collected so far is seen
 * through an overlay, see pending.h: a memtable of the batch's records on top
 * of the engine's, which grows as the batch does.
 */

/* The clock is read once, under the lock, and stands for STORE_NOW in all that
 * decide does. What decide has collected when it fails is freed with w. The
 * sync comes after the lock, as in store_commit. */
int store_update_seq(struct store *s,
		     int (*decide)(void *context, struct write *w),
		     void *context, bool sync, uint64_t *seq)
{
	struct write *w;
	int err;

	err = write_new(s, &w);
	if (err < 0)
		return err;
	pthread_mutex_lock(&s->writing);
	w->now_us = store_now(s);
	err = decide(context, w);
	if (err >= 0)
		err = commit_locked(s, w, seq);
	commit_end(s, w);
	write_free(w);
	return err < 0 ? err : commit_wait(s, sync);
}

/* What deletions hide has to be in the batch before the view is made, because
 * it goes before all that is in the view already; so a view made earlier is
 * forgotten then. */
int write_view(struct write *w, const struct snapshot **out)
{
	const struct engine_snapshot *snapshot;
	int err = 0;

	*out = NULL;
	if (w->now_us == STORE_NOW)
		return fail(ERR_bad_argument, "not inside an update");
	if (w->hidden_count > 0) {
		pending_release(&w->pending);
		err = write_hidden(w);
	}
	if (err == 0)
		err = pending_view(&w->pending, w->s->engine, &w->batch,
				   &snapshot);
	if (err == 0)
		*out = (const struct snapshot *)snapshot;
	return err;
}

/* A value up to this is read where it is looked up. */
#define READ_AT_ONCE ((size_t)64 << 10)

/* The newest version of the column in w->key, as the view shows it: 1 with its
 * time and value, which is all of w->memory, 0 if there is none. A value that
 * is very large is *large instead, to be put; else that is NULL. */
static int newest(struct write *w, struct cell *cell, struct large **large)
{
	const struct snapshot *view;
	int result, err = write_view(w, &view);

	*large = NULL;
	buf_reset(&w->memory);
	if (err < 0)
		return err;
	result = cursor_get(w->s->engine, (const struct engine_snapshot *)view,
			    buf_bytes(&w->key), cell, &w->memory, large);
	if (!*large)
		return result;
	buf_reset(&w->memory);
	if (large_size(*large) > READ_AT_ONCE)
		return result;
	err = large_load(*large, &w->memory);
	large_put(*large);
	*large = NULL;
	return err < 0 ? err : result;
}

/* Puts w->memory as the new version of the column in w->key. The value stays
 * there for the caller. */
static int put(struct write *w, struct cell *cell)
{
	cell->value = buf_bytes(&w->memory);
	cell->blob = BYTES_NONE;
	return write_set(w, cell->family, cell->qualifier, cell->timestamp_us,
			 cell->value);
}

/* Begins the new version of a column: its value so far is in w->memory, or
 * *large. 1, or 0 if there is none. Its time is the update's, but never before
 * that of the newest, or it would not be the newest itself. */
static int begin(struct write *w, struct bytes family, struct bytes qualifier,
		 struct cell *cell, struct large **large)
{
	int err = write_plain_column(w, family, qualifier);
	uint64_t now;

	*large = NULL;
	if (err == 0)
		err = newest(w, cell, large);
	if (err < 0)
		return err;
	now = write_now(w);
	/* A newest version that lies ahead is replaced. */
	if (err == 0 || cell->timestamp_us < now)
		cell->timestamp_us = now;
	cell->row = BYTES_NONE;
	cell->family = family;
	cell->qualifier = qualifier;
	return err;
}

/* Puts a new version of base, which is put, and value: *large, to be put. */
static int append_to_large(struct write *w, struct large *base,
			   struct bytes value, const struct cell *cell,
			   struct large **large)
{
	int err = write_check_size(large_size(base) + value.size);

	if (err == 0)
		err = large_append(w->s->engine, base, value, large);
	large_put(base);
	if (err == 0)
		err = write_set_large(w, cell->family, cell->qualifier,
				      cell->timestamp_us, *large);
	if (err < 0) {
		large_put(*large);
		*large = NULL;
	}
	return err;
}

/* Appending nothing to a column that is not there makes an empty version. */
int write_append_large(struct write *w, struct bytes family,
		       struct bytes qualifier, struct bytes value,
		       struct cell *cell, struct large **large)
{
	struct large *base;
	int err = begin(w, family, qualifier, cell, &base);

	*large = NULL;
	if (err < 0)
		return err;
	cell->value = cell->blob = BYTES_NONE;
	if (base)
		return append_to_large(w, base, value, cell, large);
	err = buf_add_bytes(&w->memory, value);
	return err < 0 ? err : put(w, cell);
}

int write_append(struct write *w, struct bytes family, struct bytes qualifier,
		 struct bytes value, struct cell *cell)
{
	struct large *large;
	struct cell made;
	int err =
		write_append_large(w, family, qualifier, value, &made, &large);

	if (err == 0 && large && cell)
		err = large_load(large, &w->memory);
	if (err == 0 && large && cell)
		made.value = buf_bytes(&w->memory);
	large_put(large);
	if (err == 0 && cell)
		*cell = made;
	return err;
}

/* Added without sign, where an overflow is defined to wrap around. */
int write_increment(struct write *w, struct bytes family,
		    struct bytes qualifier, int64_t amount, struct cell *cell)
{
	struct cell made;
	uint64_t number = 0, size;
	uint8_t bytes[8];
	struct large *large;
	int err = begin(w, family, qualifier, &made, &large);

	size = large ? large_size(large) : w->memory.size;
	large_put(large);
	if (err < 0)
		return err;
	/* A value that is there has to be a number, even an empty one. */
	if (err == 1 && size != 8)
		return fail(ERR_not_a_number,
			    "increment on non-64-bit value: it has %llu bytes",
			    (unsigned long long)size);
	if (err == 1)
		number = get_u64be(w->memory.data);
	buf_reset(&w->memory);
	put_u64be(bytes, number + (uint64_t)amount);
	err = buf_add(&w->memory, bytes, sizeof(bytes));
	if (err == 0)
		err = put(w, &made);
	if (err == 0 && cell)
		*cell = made;
	return err;
}

/* Reads only the time: what is added merges with what is there at any later
 * time. */
int write_add_newest(struct write *w, struct bytes family,
		     struct bytes qualifier, const int64_t *numbers,
		     size_t count, uint64_t *timestamp_us)
{
	const struct snapshot *view;
	uint64_t timestamp;
	int err;

	if (count == 0)
		return fail(ERR_bad_argument, "no number was given");
	err = write_column(w, family, qualifier);
	if (err == 0)
		err = write_view(w, &view);
	if (err == 0)
		err = cursor_get_time(w->s->engine,
				      (const struct engine_snapshot *)view,
				      buf_bytes(&w->key), &timestamp);
	if (err < 0)
		return err;
	if (err == 0)
		timestamp = write_now(w);
	if (timestamp_us)
		*timestamp_us = timestamp;
	return write_add_all(w, family, qualifier, timestamp, numbers, count);
}
