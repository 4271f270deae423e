#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/watch/cost.h"
#include "store/engine/read/cursor_back.h"
#include "store/engine/read/rest.h"
#include "store/engine/read/rows.h"
#include "store/engine/read/sources.h"
#include "store/format/sst/rowdir.h"

/*
 * A row lives for certain if no source knows of a point delete in it, no range
 * tombstone touches it, and one source has a put that the snapshot sees, of a
 * family that is there, and which its GC rule would keep as a column's newest:
 * should newer versions hide it, then one of those is visible. A write that
 * overwrites it is a put that is visible as well.
 */
struct rows {
	struct sources sources; /* iter is over rows */
	struct cursor *look;    /* over the same sources; NULL: not yet */
	struct buf start, end;  /* encoded; empty end: unbounded */
	struct buf row;         /* prefix of the present row */
	/* The family that was looked up last: neighbours often have the
	 * same. */
	struct buf family_name;         /* as in keys: escaped */
	const struct gc_family *family; /* of rules; NULL: there is none */
	uint32_t table;                 /* of family */
	bool (*stop)(void);             /* or NULL */
	unsigned int passed;            /* rows since it was asked */
	struct gap_run run;             /* of rows that do not live */
	bool started;                   /* the iterator has been placed */
	int at;                         /* what the iterator returned last */
};

int rows_open(struct engine *e, const struct engine_snapshot *snapshot,
	      struct bytes start, struct bytes end, struct rows **out)
{
	struct rows *r = calloc(1, sizeof(*r));
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	err = buf_add_bytes(&r->start, start);
	if (err == 0)
		err = buf_add_bytes(&r->end, end);
	if (err == 0)
		err = sources_open_rows(e, snapshot, start, end, &r->sources);
	if (err < 0) {
		rows_close(r);
		return err;
	}
	sources_start_run(&r->sources, &r->run);
	*out = r;
	return 0;
}

void rows_stop(struct rows *r, bool (*stop)(void))
{
	r->stop = stop;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	cursor_close(r->look);
	gap_run_release(&r->run);
	sources_wake(&r->sources);
	sources_close(&r->sources);
	buf_release(&r->start);
	buf_release(&r->end);
	buf_release(&r->row);
	buf_release(&r->family_name);
	free(r);
}

/* Sets r->family to that of the present row's table, or NULL. name is as in
 * keys, so one with a 00 byte, which is escaped there, is not found: then the
 * row is looked at, which is slower and as right. */
static int find_family(struct rows *r, struct bytes name)
{
	uint32_t id = key_table(buf_bytes(&r->row));
	const struct gc_table *table;

	assert(r->sources.rules);
	if (id == r->table && bytes_equal(name, buf_bytes(&r->family_name)))
		return 0;
	r->table = id;
	table = gc_rules_table(r->sources.rules, id);
	r->family = table ? gc_table_family(table, name) : NULL;
	return buf_set(&r->family_name, name);
}

/* Whether the summary's put is visible if nothing deletes it: 1, 0 or an error.
 * The rule is asked as about a column's newest, rank 0; see above. */
static int is_certain(struct rows *r, const struct row_summary *s)
{
	const struct gc_family *f;
	int err;

	if (!(s->flags & ROW_HAS_PUT) || s->seq > r->sources.seq)
		return 0;
	if (!r->sources.rules)
		return 1;
	err = find_family(r, s->family);
	if (err < 0)
		return err;
	f = r->family;
	return f && s->seq >= f->birth_seq &&
	       gc_keep(f->policy, 0, s->timestamp, r->sources.gc_time_us);
}

/* Takes the entries of all sources for the row that the iterator is at, which
 * becomes the present one, and leaves the iterator at the next row: 1 if they
 * prove that it lives but for range tombstones, 0 if not, or an error. */
static int gather(struct rows *r)
{
	struct iter *it = r->sources.iter;
	bool certain = false, has_delete = false;
	int err = buf_set(&r->row, it->key);

	while (err == 0) {
		struct row_summary summary;

		thread_cost.cells++;
		err = row_summary_decode(it->value, &summary);
		if (err < 0)
			break;
		has_delete |= summary.flags & ROW_HAS_DELETE;
		if (!certain) {
			err = is_certain(r, &summary);
			if (err < 0)
				break;
			certain = err > 0;
		}
		r->at = iter_next(it);
		err = r->at < 0 ? r->at : 0;
		if (r->at <= 0 || !bytes_equal(it->key, buf_bytes(&r->row)))
			break;
	}
	return err < 0 ? err : certain && !has_delete;
}

/* Whether the present row has a visible cell: 1, 0 or an error. One cursor
 * serves all rows, since opening one costs more than a seek. */
static int look_at_row(struct rows *r)
{
	struct cell cell;
	int err = 0;

	if (!r->look)
		err = cursor_over(&r->sources, buf_bytes(&r->start),
				  buf_bytes(&r->end), &r->look);
	if (err == 0)
		cursor_stop(r->look, r->stop);
	return err < 0 ? err
		       : cursor_row_at(r->look, buf_bytes(&r->row), &cell);
}

/* Counts a row that is looked at: 0, or -EINTR. */
static int pass(struct rows *r)
{
	if (!r->stop || ++r->passed < CURSOR_STOP_CELLS)
		return 0;
	r->passed = 0;
	return r->stop() ? -EINTR : 0;
}

/* The present row does not live. The iterator is at the next one, or past
 * several that do not either. */
static void pass_dead(struct rows *r)
{
	struct bytes target;

	if (!gap_run_pass(&r->run, buf_bytes(&r->row), &target) || r->at <= 0)
		return;
	/* The gap may end within a row, which lives then. */
	if (target.size > KEY_TABLE_SIZE && key_row_end(target) > 0)
		target.size = key_row_end(target);
	if (target.size == 0)
		r->at = 0;
	else if (bytes_compare(r->sources.iter->key, target) < 0)
		r->at = iter_seek(r->sources.iter, target);
}

/* Goes on from the row that the iterator is at to the first that lives, which
 * is the present one then: 1, 0 or an error. */
static int find_living(struct rows *r)
{
	struct bytes end = buf_bytes(&r->end);
	int err;

	while (r->at > 0) {
		if (end.size > 0 &&
		    bytes_compare(r->sources.iter->key, end) >= 0)
			return 0;
		err = pass(r);
		if (err == 0)
			err = gather(r);
		if (err > 0) {
			err = sources_may_cover(&r->sources, &r->row);
			err = err < 0 ? err : !err;
		}
		if (err == 0)
			err = look_at_row(r);
		if (err != 0)
			return err;
		pass_dead(r);
	}
	return r->at;
}

/* As rows_next, from the row that the iterator is at. */
static int settle(struct rows *r, struct bytes *row)
{
	int err;

	assert(r->started);
	err = find_living(r);
	if (r->run.steps > 0) {
		if (err < 0)
			gap_run_drop(&r->run);
		else
			gap_run_end(&r->run,
				    buf_bytes(err > 0 ? &r->row : &r->end));
	}
	if (err > 0)
		*row = buf_bytes(&r->row);
	else
		r->at = err;
	return err;
}

void rows_rest(struct rows *r)
{
	cursor_close(r->look);
	r->look = NULL;
	if (r->at >= 0)
		sources_rest(&r->sources);
}

/* Opens the sources again, of which the rules may be others, and goes behind
 * the present row: 0 or an error. */
static int find_place(struct rows *r)
{
	struct buf target = BUF_INIT;
	int err = sources_open_rows(r->sources.engine, r->sources.snapshot,
				    buf_bytes(&r->start), buf_bytes(&r->end),
				    &r->sources);

	if (err < 0)
		return err;
	gap_run_release(&r->run);
	sources_start_run(&r->sources, &r->run);
	/* No family is looked up yet. */
	buf_reset(&r->family_name);
	r->family = NULL;
	r->table = 0;
	if (r->at <= 0)
		return 0;
	err = key_successor(buf_bytes(&r->row), &target);
	if (err == 0)
		r->at = r->sources.iter
				? iter_seek(r->sources.iter, buf_bytes(&target))
				: 0;
	buf_release(&target);
	return err < 0 ? err : 0;
}

/* Before each use: 0 or an error. */
static int wake(struct rows *r)
{
	int err;

	if (!r->sources.resting || !sources_wake(&r->sources))
		return 0;
	err = find_place(r);
	if (err < 0)
		r->at = err;
	return err;
}

int rows_next(struct rows *r, struct bytes *row)
{
	int err = wake(r);

	if (err < 0)
		return err;
	if (!r->started)
		return rows_seek(r, buf_bytes(&r->start), row);
	return settle(r, row);
}

int rows_seek(struct rows *r, struct bytes key, struct bytes *row)
{
	int err = wake(r);

	if (err < 0)
		return err;
	if (bytes_compare(key, buf_bytes(&r->start)) < 0)
		key = buf_bytes(&r->start);
	r->started = true;
	/* Without an iterator there is nothing in the range. */
	r->at = r->sources.iter ? iter_seek(r->sources.iter, key) : 0;
	return settle(r, row);
}
