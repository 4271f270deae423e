#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/watch/cost.h"
#include "store/engine/large/large.h"
#include "store/base/coding.h"
#include "store/engine/read/cursor_state.h"
#include "store/engine/read/rest.h"

/*
 * The merged entries come by key, so a column's versions arrive newest first
 * and the writes of one version newest first. The cursor keeps the present
 * column's prefix; a change of it is noticed by comparing bytes, and only what
 * changed is decoded again.
 *
 * An entry is visible if it is the first of its version that the snapshot sees,
 * no deletion, of a family that is there and not older than it, not covered by
 * a range tombstone of any source, and if the GC rule keeps it, which is asked
 * last, as it counts the versions that are visible otherwise.
 */

/* Entries to step over before a seek is tried: a step costs some 30 ns, a seek
 * in several runs ten times that. */
#define STEPS_BEFORE_SEEK 8

/* A cursor without sources, which cursor_close takes as well. */
static int cursor_new(struct bytes start, struct bytes end, struct cursor **out)
{
	/* One allocation, and not calloc, which takes nothing that was just
	 * freed: a lookup in the filesystem opens a cursor. */
	struct cursor *c = malloc(sizeof(*c) + start.size + end.size);

	*out = c;
	if (!c)
		return -ENOMEM;
	*c = (struct cursor){ .until_us = UINT64_MAX };
	c->start = bytes_of(c->bounds, start.size);
	c->end = bytes_of(c->bounds + start.size, end.size);
	if (start.size > 0)
		memcpy(c->bounds, start.data, start.size);
	if (end.size > 0)
		memcpy(c->bounds + start.size, end.data, end.size);
	return 0;
}

/* Of a cursor whose sources were opened, or not. */
static int opened(int err, struct cursor **out)
{
	struct cursor *c = *out;

	if (err < 0) {
		cursor_close(c);
		*out = NULL;
	} else {
		sources_start_run(&c->sources, &c->run);
	}
	return err;
}

int cursor_open(struct engine *e, const struct engine_snapshot *snapshot,
		struct bytes start, struct bytes end, struct bytes prefix,
		struct cursor **out)
{
	int err = cursor_new(start, end, out);

	if (err < 0)
		return err;
	assert(bytes_starts_with(start, prefix));
	(*out)->prefix_size = prefix.size;
	err = sources_open(e, snapshot, start, end, prefix, &(*out)->sources);
	return opened(err, out);
}

int cursor_over(const struct sources *of, struct bytes start, struct bytes end,
		struct cursor **out)
{
	int err = cursor_new(start, end, out);

	if (err < 0)
		return err;
	err = sources_open_again(of, start, end, &(*out)->sources);
	return opened(err, out);
}

void cursor_show_hidden(struct cursor *c)
{
	assert(!c->started);
	c->show_hidden = true;
	c->run.gaps = NULL;
}

void cursor_stop(struct cursor *c, bool (*stop)(void))
{
	c->stop = stop;
}

void cursor_pause(struct cursor *c, bool (*pause)(void))
{
	c->pause = pause;
}

void cursor_since(struct cursor *c, uint64_t timestamp_us)
{
	assert(!c->started);
	if (timestamp_us == 0)
		return;
	/* What is older is passed over, and yet it is visible. */
	c->run.gaps = NULL;
	c->since_us = timestamp_us;
	if (c->sources.iter)
		iter_since(c->sources.iter, timestamp_us);
}

void cursor_until(struct cursor *c, uint64_t timestamp_us)
{
	assert(!c->started);
	if (timestamp_us == 0)
		return;
	/* What is newer is passed over, and yet it is visible. */
	c->run.gaps = NULL;
	c->until_us = timestamp_us;
}

void cursor_close(struct cursor *c)
{
	if (!c)
		return;
	gap_run_release(&c->run);
	version_run_release(&c->writes);
	sources_wake(&c->sources);
	sources_close(&c->sources);
	buf_release(&c->back);
	buf_release(&c->column);
	buf_release(&c->row);
	buf_release(&c->family);
	buf_release(&c->qualifier);
	aggregate_release(&c->merged);
	free(c);
}

/* Decodes the part of the present column that starts at offset. */
static int decode_part(struct cursor *c, size_t offset, struct buf *scratch,
		       struct bytes *part, size_t *end)
{
	return key_part(buf_bytes(&c->column), offset, scratch, part, end);
}

/* A part that is as before; only the column's memory may have moved. */
static void keep_part(struct cursor *c, size_t offset,
		      const struct buf *scratch, struct bytes *part)
{
	if (part->data != scratch->data)
		part->data = c->column.data + offset;
}

/* Decodes the present column's parts but for those that are as before. */
static int decode_column(struct cursor *c, bool same_row, bool same_family)
{
	int err = 0;

	assert(same_row || !same_family);
	if (same_row)
		keep_part(c, KEY_TABLE_SIZE, &c->row, &c->row_part);
	else
		err = decode_part(c, KEY_TABLE_SIZE, &c->row, &c->row_part,
				  &c->parts.row_end);
	if (same_family)
		keep_part(c, c->parts.row_end, &c->family, &c->family_part);
	else if (err == 0)
		err = decode_part(c, c->parts.row_end, &c->family,
				  &c->family_part, &c->parts.family_end);
	if (err == 0)
		err = decode_part(c, c->parts.family_end, &c->qualifier,
				  &c->qualifier_part, &c->parts.column_end);
	return err;
}

/* Finds the family's rule; without rules nothing is hidden. A hidden family
 * gets a rule too, so that nobody has to ask whether there is one. */
static void find_rule(struct cursor *c)
{
	static const struct gc_family keep_all = { .policy = NULL };
	const struct gc_family *family = &keep_all;

	c->hidden = false;
	if (c->sources.rules) {
		family = c->table ? gc_table_family(c->table, c->family_part)
				  : NULL;
		c->hidden = !family;
	}
	c->gc.family = family ? family : &keep_all;
}

/* The entry's key begins another column, which shares so many bytes with the
 * one before: decode what differs. */
static int begin_column(struct cursor *c, struct bytes column, size_t shared)
{
	/* Prefixes end with a terminator, so shared bytes up to there mean that
	 * the part is the same, not that one is the beginning of the other. */
	bool same_row = c->column.size > 0 && shared >= c->parts.row_end;
	bool same_family = same_row && shared >= c->parts.family_end;
	uint32_t table =
		c->column.size > 0 ? key_table(buf_bytes(&c->column)) : 0;
	int err;

	err = buf_set(&c->column, column);
	if (err < 0)
		return err;
	if (!c->sources.rules)
		c->table = NULL;
	else if (!c->table || table != key_table(column))
		c->table = gc_rules_table(c->sources.rules, key_table(column));
	err = decode_column(c, same_row, same_family);
	if (err < 0)
		return err;
	if (c->parts.column_end != column.size)
		return fail(ERR_key_malformed,
			    "column prefix of %zu bytes ends at %zu",
			    column.size, c->parts.column_end);
	assert(c->parts.row_end < c->parts.family_end);
	assert(c->parts.family_end < c->parts.column_end);
	if (!same_family)
		find_rule(c);
	gc_column_start(&c->gc, c->gc.family, c->sources.gc_time_us,
			c->sources.gc_time_us);
	c->version_seen = c->rest_hidden = false;
	c->writes.steps = 0;
	return 0;
}

/* Whether the entry under the iterator is a visible cell: 1, 0 or an error. It
 * is to be asked about each entry once, in order: a deletion met here hides the
 * older writes of its version, and a version that is kept counts for the
 * rule. */
static int visible(struct cursor *c)
{
	struct bytes key = c->sources.iter->key;
	size_t tail = KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE, shared;
	struct bytes column;
	uint64_t seq, timestamp;
	int err;

	if (key.size <= tail)
		return fail(ERR_key_malformed, "key of %zu bytes", key.size);
	column = bytes_of(key.data, key.size - tail);
	shared = bytes_shared(column, buf_bytes(&c->column));
	if (shared < column.size || column.size != c->column.size) {
		err = begin_column(c, column, shared);
		if (err < 0)
			return err;
	}
	seq = key_seq(key);
	if (seq > c->sources.seq || c->hidden || seq < c->gc.family->birth_seq)
		return 0;
	timestamp = key_timestamp(key);
	if (timestamp > c->until_us &&
	    gc_rank_limit(c->gc.family->policy) == UINT64_MAX) {
		c->too_new = true;
		return 0;
	}
	/* An older write of a version that was judged already. */
	if (c->version_seen && timestamp == c->last_timestamp)
		return 0;
	c->version_seen = true;
	c->last_timestamp = timestamp;
	if (key_kind(key) == KEY_DELETE)
		return 0;
	if (c->sources.cover_count > 0) {
		err = sources_covered(&c->sources, key, seq);
		if (err != 0)
			return err < 0 ? err : 0;
	}
	if (gc_column_keep(&c->gc, timestamp))
		return !c->show_hidden;
	c->rest_hidden = true;
	return c->show_hidden;
}

/* An empty end is unbounded. */
static bool is_past(struct bytes key, struct bytes end)
{
	return end.size > 0 && bytes_compare(key, end) >= 0;
}

/* Counts an entry that is to be looked at: 0, -EINTR, or -EAGAIN. Before a
 * limit nothing pauses: whoever set it begins there anew. */
static int pass(struct cursor *c)
{
	thread_cost.cells++;
	if (++c->passed < CURSOR_STOP_CELLS)
		return 0;
	c->passed = 0;
	if (c->stop && c->stop())
		return -EINTR;
	return c->pause && c->limit.size == 0 && c->pause() ? -EAGAIN : 0;
}

/* Whether the iterator is at an older write of the present version that what
 * was written after it is added to: 1, 0 or an error. */
static int at_older_write(struct cursor *c)
{
	struct bytes key = c->sources.iter->key;
	size_t tail = KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE;
	int covered;

	if (key.size != c->column.size + tail ||
	    memcmp(key.data, c->column.data, c->column.size) != 0 ||
	    key_timestamp(key) != c->last_timestamp ||
	    key_seq(key) < c->gc.family->birth_seq ||
	    (key_kind(key) != KEY_PUT && key_kind(key) != KEY_MERGE))
		return 0;
	covered = sources_covered(&c->sources, key, key_seq(key));
	return covered < 0 ? covered : !covered;
}

/* Merges the visible version that the iterator is at: all writes down to one
 * that does not add, or to what was deleted. The iterator may be past the
 * version then, which ahead tells; the cell's names are in column and the
 * buffers beside it, which stay. */
static int merge_version(struct cursor *c, struct cell *cell)
{
	struct iter *it = c->sources.iter;
	int err = 0, more = 0;

	aggregate_start(&c->merged, c->gc.family->merge);
	c->ahead = true;
	do {
		bool adds = key_kind(it->key) == KEY_MERGE;

		/* A version that is half merged is no place to pause. */
		err = pass(c);
		if (err == -EAGAIN)
			err = 0;
		if (!err && !adds)
			err = aggregate_add(&c->merged, it->value);
		if (err < 0 || !adds)
			break;
		c->at = iter_merge(it, c->gc.family->birth_seq, &c->merged);
		more = c->at > 0 ? at_older_write(c) : 0;
	} while (more > 0);
	if (err < 0 || more < 0)
		c->at = err < 0 ? err : more;
	cell->value = buf_bytes(&c->merged.state);
	cell->blob = BYTES_NONE;
	return c->at < 0 ? c->at : 1;
}

/* Leaves the prefix that the column's first size bytes are. A row is left by
 * iter_skip, which the blocks' own marks of rows make cheap; a family or column
 * by steps at first, as most have few versions, then by seeking its
 * successor. */
static void leave(struct cursor *c, size_t size, bool row)
{
	struct iter *it = c->sources.iter;
	struct bytes target;
	unsigned int steps;

	assert(size > KEY_TABLE_SIZE && size <= c->column.size);
	for (steps = row ? STEPS_BEFORE_SEEK : 0; steps < STEPS_BEFORE_SEEK;
	     steps++) {
		c->at = iter_next(it);
		if (c->at <= 0 || it->key.size < size ||
		    memcmp(it->key.data, c->column.data, size) != 0)
			return;
		/* It is left, too, and not looked at. */
		thread_cost.cells++;
	}
	/* The successor of a prefix has its final 01 changed to 02. The buffer
	 * is put right again, so that begin_column can compare with it. */
	c->column.data[size - 1]++;
	target = bytes_of(c->column.data, size);
	c->at = row ? iter_skip(it, target) : iter_seek(it, target);
	c->column.data[size - 1]--;
}

/* To the column's first version that is wanted. */
static void pass_newer(struct cursor *c)
{
	size_t size = c->column.size;
	int err = key_add_timestamp(&c->column, c->until_us);

	c->at = err < 0 ? err
			: iter_seek(c->sources.iter, buf_bytes(&c->column));
	c->column.size = size;
	c->too_new = false;
}

/* Passes the entry that the iterator is at, which is not visible: to the next
 * one that may be. */
static void pass_dead(struct cursor *c)
{
	struct bytes target;

	if (gap_run_pass(&c->run, c->sources.iter->key, &target))
		c->at = target.size == 0 ? 0
					 : iter_seek(c->sources.iter, target);
	else if (c->too_new)
		pass_newer(c);
	else if (c->rest_hidden && !c->show_hidden)
		leave(c, c->parts.column_end, false);
	else if (version_run_pass(&c->writes, c->sources.iter->key,
				  c->sources.seq, &target))
		c->at = iter_seek(c->sources.iter, target);
	else
		c->at = iter_next(c->sources.iter);
}

/* Looks for the first visible cell from where the iterator is, in the range and
 * before limit: 1, 0 if there is none, or an error. */
static int find_visible(struct cursor *c)
{
	int err = 0;

	while (c->at > 0) {
		if (is_past(c->sources.iter->key, c->end) ||
		    is_past(c->sources.iter->key, c->limit))
			return 0;
		err = pass(c);
		if (!err)
			err = visible(c);
		if (err != 0)
			return err;
		pass_dead(c);
	}
	return c->at;
}

/* The run of what is dead ends before all writes of the version that the
 * iterator is at, whose deletion would be one of them; or with the range. */
static void end_run(struct cursor *c)
{
	struct bytes next = c->end;

	if (c->at > 0 && !is_past(c->sources.iter->key, c->end)) {
		next = c->sources.iter->key;
		/* One that is malformed is no version's. */
		if (next.size > KEY_TRAILER_SIZE)
			next = key_version(next);
	}
	gap_run_end(&c->run, next);
}

/* Goes on from where the iterator is to the first visible cell, in the range
 * and before limit: 1 with *cell filled, 0 at the end, -EAGAIN, or an error.
 */
static int settle(struct cursor *c, struct cell *cell)
{
	int err = find_visible(c);

	c->paused = err == -EAGAIN;
	if (c->run.steps > 0) {
		if (err < 0 && !c->paused)
			gap_run_drop(&c->run);
		else
			end_run(c);
	}
	if (c->paused)
		return err;
	if (err <= 0) {
		c->at = err;
		return err;
	}
	assert(c->version_seen);
	cell->row = c->row_part;
	cell->family = c->family_part;
	cell->qualifier = c->qualifier_part;
	cell->timestamp_us = c->last_timestamp;
	cell->seq = key_seq(c->sources.iter->key);
	cell->aggregate = c->gc.family->merge;
	if (c->gc.family->merge && key_kind(c->sources.iter->key) == KEY_MERGE)
		return merge_version(c, cell);
	cell->value = c->sources.iter->value;
	cell->blob = BYTES_NONE;
	/* Of a large value the entry holds the references. */
	if (key_kind(c->sources.iter->key) == KEY_BLOB) {
		cell->blob = cell->value;
		cell->value = BYTES_NONE;
	}
	return 1;
}

int cursor_load(const struct cursor *c, const struct cell *cell,
		struct buf *out)
{
	assert(cell->blob.size > 0 && !c->sources.resting);
	/* The version has every blob file that its ssts and the memtables
	 * taken with it refer to. */
	return blob_load(c->sources.version, cell->blob, c->stop, out);
}

/* The first key after all writes of the present version, in place of target. */
static int after_version(const struct cursor *c, struct buf *target)
{
	uint8_t inverted[KEY_TIMESTAMP_SIZE];
	int err;

	/* Timestamps lie inverted, so the next older one is greater by one. */
	put_u64be(inverted, ~c->last_timestamp + 1);
	if (c->last_timestamp == 0)
		return key_successor(buf_bytes(&c->column), target);
	err = buf_set(target, buf_bytes(&c->column));
	return err < 0 ? err : buf_add(target, inverted, sizeof(inverted));
}

/* Opens the sources again, of which the rules may be others, and goes behind
 * the present version, whose column goes on with as many versions as counted.
 */
static int find_place(struct cursor *c)
{
	bool uses_gaps = c->run.gaps;
	struct buf target = BUF_INIT;
	int err = sources_open(c->sources.engine, c->sources.snapshot, c->start,
			       c->end, bytes_of(c->start.data, c->prefix_size),
			       &c->sources);

	if (err < 0)
		return err;
	gap_run_release(&c->run);
	sources_start_run(&c->sources, &c->run);
	if (!uses_gaps)
		c->run.gaps = NULL;
	if (c->since_us > 0 && c->sources.iter)
		iter_since(c->sources.iter, c->since_us);
	if (c->at <= 0)
		return 0;
	if (c->sources.rules)
		c->table = gc_rules_table(c->sources.rules,
					  key_table(buf_bytes(&c->column)));
	find_rule(c);
	err = after_version(c, &target);
	if (err == 0)
		c->at = c->sources.iter
				? iter_seek(c->sources.iter, buf_bytes(&target))
				: 0;
	c->ahead = true;
	buf_release(&target);
	return err < 0 ? err : c->at;
}

int cursor_wake(struct cursor *c)
{
	int err;

	if (!c->sources.resting || !sources_wake(&c->sources))
		return 0;
	err = find_place(c);
	if (err < 0)
		c->at = err;
	return err < 0 ? err : 0;
}

void cursor_rest(struct cursor *c)
{
	assert(!c->show_hidden);
	if (c->at >= 0 && !c->paused)
		sources_rest(&c->sources);
}

/* Places the iterator. As it may have come from anywhere, no column is present
 * any more. */
static int seek(struct cursor *c, struct bytes key)
{
	c->started = true;
	c->ahead = false;
	c->paused = false;
	c->back.size = 0;
	c->column.size = 0;
	c->table = NULL;
	if (!c->sources.iter)
		c->at = 0;
	else
		c->at = iter_seek(c->sources.iter, key);
	return c->at;
}

/* Whether merging a version has led beyond what the step is to leave. Writes of
 * the version itself are never visible once more. */
static bool has_left(const struct cursor *c, enum cursor_step step)
{
	const size_t sizes[] = { [CURSOR_ROW] = c->parts.row_end,
				 [CURSOR_FAMILY] = c->parts.family_end,
				 [CURSOR_COLUMN] = c->parts.column_end };

	return c->ahead &&
	       (step == CURSOR_VERSION ||
		!bytes_starts_with(c->sources.iter->key,
				   bytes_of(c->column.data, sizes[step])));
}

int cursor_next(struct cursor *c, enum cursor_step step, struct cell *cell)
{
	bool left;
	int err = cursor_wake(c);

	assert(step <= CURSOR_VERSION);
	if (err < 0)
		return err;
	if (c->paused)
		return settle(c, cell);
	left = c->at > 0 && has_left(c, step);
	c->ahead = false;
	if (!c->started) {
		seek(c, c->start);
	} else if (c->at > 0 && !left) {
		switch (step) {
		case CURSOR_ROW:
			leave(c, c->parts.row_end, true);
			break;
		case CURSOR_FAMILY:
			leave(c, c->parts.family_end, false);
			break;
		case CURSOR_COLUMN:
			leave(c, c->parts.column_end, false);
			break;
		case CURSOR_VERSION:
			c->at = iter_next(c->sources.iter);
			break;
		}
	}
	return settle(c, cell);
}

int cursor_seek(struct cursor *c, struct bytes key, struct cell *cell)
{
	int err = cursor_wake(c);

	if (err < 0)
		return err;
	if (bytes_compare(key, c->start) < 0)
		key = c->start;
	seek(c, key);
	return settle(c, cell);
}

bool cursor_is_part(const struct cursor *c)
{
	assert(c->at > 0 && !c->gc.family->merge);
	return key_kind(c->sources.iter->key) == KEY_MERGE;
}

struct bytes cursor_place(const struct cursor *c)
{
	assert(c->paused);
	return c->back.size > 0      ? buf_bytes(&c->back)
	       : c->column.size == 0 ? BYTES_NONE
				     : cursor_row_prefix(c);
}

struct bytes cursor_row_prefix(const struct cursor *c)
{
	assert(c->column.size > 0);
	return bytes_of(c->column.data, c->parts.row_end);
}

struct bytes cursor_column_prefix(const struct cursor *c)
{
	return buf_bytes(&c->column);
}
