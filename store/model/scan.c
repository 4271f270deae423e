#include <assert.h>
#include <stdlib.h>

#include "store/engine/large/large.h"
#include "store/engine/read/cursor_back.h"
#include "store/engine/read/rows.h"
#include "store/engine/read/snapshot.h"
#include "store/model/filter/filter_run.h"
#include "store/model/model.h"
#include "store/model/filter/scan_bounds.h"

static_assert(STORE_STOP_CELLS == CURSOR_STOP_CELLS, "as scan.h says");

/*
 * Reads: a range in the user's terms becomes a range of encoded keys, which a
 * cursor of the engine steps through, or its list of rows if rows are all that
 * is wanted. What is visible at the scan's moment the engine decides.
 *
 * Without a filter each step is one of the cursor (raw_next). With one, the
 * cursor's present cell is shown to it, copies are taken until there are none,
 * and the cursor goes on by the narrower of what the caller wants and what the
 * filter allows (settle, advance). A filter with conditions is first shown the
 * whole row as often as it asks (decide_row). What the filter can never want is
 * left out beforehand: rows by the bounds, columns by seeks, old blocks by
 * cursor_since.
 *
 * Backwards, rows come by their last entry, one by one; inside a row the cursor
 * goes forwards as ever, and stay_in_row stops it at the row's end.
 */
struct scan {
	struct engine *engine;
	struct heat *heat;     /* borrowed */
	uint32_t table;        /* its id */
	uint64_t unsampled;    /* bytes given since the last read was counted */
	uint64_t sample_at;    /* how many are a read; at first none */
	struct cursor *cursor; /* or */
	struct rows *rows;     /* if rows are all that is wanted */
	struct buf decoded;    /* row of rows, if escaped */
	struct buf start, end; /* encoded; end is never empty */
	struct buf row;        /* of a reverse scan: the present row's prefix */
	bool reverse;
	bool in_row; /* of a reverse scan: the cursor is in row */
	bool paused; /* the last raw step: the next is to go on with it */
	bool keep_large;

	/* With a filter. The present cell is the one the cursor is at. */
	struct filter_run *run;   /* NULL: no filter */
	struct regex_watch watch; /* asks stop and pause within matches */
	struct filter_need need;  /* its */
	int at;                   /* what the last raw step returned */
	struct cell raw;          /* the cell it gave: the present one */
	bool started;             /* there was a step */
	bool shown;               /* the filter has seen the present cell */
	bool held;     /* it paused over it: it is to be shown again */
	bool deciding; /* about the row: decide_row is under way */

	/* The step under way, which goes on if it paused. */
	struct filtered_step {
		enum cursor_step step;
		bool first, may_leave;
		uint64_t family, column; /* that it leaves: run's epochs */
	} step;
	bool (*pause)(void);

	/* The large value of the present cell, read once for all copies. */
	bool loaded;
	struct buf value;
	struct bytes blob; /* its references, when it is loaded; the cursor's */
	bool (*room)(uint64_t size); /* for it; NULL: it is */
	size_t counted;              /* as so many bytes of memory's */
	struct memory *memory;
	bool owes; /* owed is to be given, when there is room for its value */
	struct cell owed;

	/* Of the cell given last: the run's epochs, and its label. */
	uint64_t given_family, given_column;
	struct bytes label;
};

/* Bytes: a buffer that has grown larger is not kept for the next value. */
#define KEEP_SIZE (4 << 20)

/* Counts the memory of the value as it is now, unless others do. */
static void count_value(struct scan *scan)
{
	size_t now = scan->room ? 0 : scan->value.capacity;

	if (now == scan->counted)
		return;
	memory_hold(scan->memory, MEMORY_VALUES, now);
	memory_give(scan->memory, MEMORY_VALUES, scan->counted);
	scan->counted = now;
}

static void release_value(struct scan *scan)
{
	scan->loaded = false;
	buf_release(&scan->value);
	count_value(scan);
}

/* The present cell is left. */
static void forget_value(struct scan *scan)
{
	scan->loaded = scan->owes = false;
	if (scan->value.capacity > KEEP_SIZE)
		release_value(scan);
}

/* Memory for a large value, and no more. -EAGAIN if there is no room. */
static int fit_value(struct scan *scan, const struct cell *cell)
{
	size_t size = (size_t)cell_size(cell);
	int err;

	buf_reset(&scan->value);
	/* No value has more: reading it tells what is wrong. */
	if (size <= scan->value.capacity || size > BLOB_VALUE_SIZE_MAX)
		return 0;
	/* What is there goes first: the two are never there at once. */
	release_value(scan);
	if (scan->room && !scan->room(size))
		return -EAGAIN;
	err = buf_fit(&scan->value, size);
	count_value(scan);
	return err;
}

/* Brings the large value of the present cell, or of a copy, into memory, where
 * it stays until the cell is left. Also what filters call. */
static int load_value(void *context, struct cell *cell)
{
	struct scan *scan = context;
	int err = 0;

	if (!scan->loaded) {
		scan->blob = cell->blob;
		err = fit_value(scan, cell);
		if (err == 0)
			err = cursor_load(scan->cursor, cell, &scan->value);
		scan->loaded = err == 0;
	}
	if (err < 0)
		return err;
	cell->value = buf_bytes(&scan->value);
	cell->blob = BYTES_NONE;
	return 0;
}

/* A scan is a read where it begins, and then for as much as a block. */
static void sample(struct scan *scan, const struct cell *cell)
{
	scan->unsampled +=
		cell->row.size + cell->qualifier.size + cell->value.size;
	if (scan->unsampled < scan->sample_at)
		return;
	sample_row(scan->heat, scan->table, cell->row, HEAT_READS,
		   scan->unsampled);
	scan->sample_at = HEAT_BLOCK_SIZE;
	scan->unsampled = 0;
}

/* Ends each call that gives a cell: counts it, brings a large value into memory
 * or, if it is to be kept where it is, forgets it there again, which a filter
 * may have asked for. A cell for whose value there is no room is owed. 1, 0 or
 * an error. */
static int give(struct scan *scan, int result, struct cell *cell)
{
	int err = 0;

	if (result == 1 && cell->blob.size > 0 && !scan->keep_large)
		err = load_value(scan, cell);
	scan->owes = err == -EAGAIN;
	if (scan->owes)
		scan->owed = *cell;
	/* Who has paused over it goes on with it. */
	if (scan->loaded && scan->keep_large && result != -EAGAIN) {
		if (result == 1 && cell->value.size > 0 &&
		    cell->value.data == scan->value.data) {
			cell->value = BYTES_NONE;
			cell->blob = scan->blob;
		}
		forget_value(scan);
	}
	if (result == 1 && err == 0)
		sample(scan, cell);
	return err < 0 ? err : result;
}

/* The run is allocated apart: most scans have none. */
static int start_filter(struct scan *scan, const struct scan_range *range)
{
	assert(!scan->run);
	scan->run = malloc(sizeof(*scan->run));
	if (!scan->run)
		return -ENOMEM;
	filter_run_start(scan->run, range->filter);
	scan->watch.stop = range->stop;
	scan->watch.pause = range->pause;
	scan->run->watch = range->watch ? range->watch : &scan->watch;
	scan->run->load = load_value;
	scan->run->load_context = scan;
	scan->need = filter_need(range->filter);
	return 0;
}

/* Backwards, rows are found by their last entry, whatever it is: times cannot
 * leave any out there. */
static void bound_cursor(struct scan *scan, const struct scan_range *range)
{
	cursor_stop(scan->cursor, range->stop);
	cursor_pause(scan->cursor, range->pause);
	if (range->reverse)
		return;
	cursor_since(scan->cursor, range->since_us > scan->need.since_us
					   ? range->since_us
					   : scan->need.since_us);
	cursor_until(scan->cursor, range->until_us);
}

/* The schema is needed for the table's id only; what of it a reader may see the
 * engine knows by its rules. Rows come from the directories where nothing but
 * rows is asked for, forwards and of all. */
int scan_open(struct store *s, const struct snapshot *snapshot,
	      const struct scan_range *range, struct scan **out)
{
	uint32_t id = range->table_id
			      ? range->table_id
			      : store_table_id(s, snapshot, range->table);
	struct scan *scan;
	size_t prefix;
	int err = 0;

	*out = NULL;
	if (id == 0)
		return fail(ERR_no_table, "table \"%s\" not found",
			    err_name(range->table));
	scan = malloc(sizeof(*scan));
	if (!scan)
		return -ENOMEM;
	*scan = (struct scan){
		.engine = s->engine,
		.memory = store_memory(s),
		.room = range->room,
		.heat = s->sampler.heat,
		.table = id,
		.reverse = range->reverse,
		.keep_large = range->keep_large || range->rows_only,
		.pause = range->pause,
	};
	if (range->filter)
		err = start_filter(scan, range);
	if (err == 0)
		err = scan_bounds(range, &scan->need, id, &scan->start,
				  &scan->end, &prefix);
	if (err == 0 && range->rows_only && !range->reverse && prefix == 0 &&
	    !range->filter)
		err = rows_open(s->engine,
				(const struct engine_snapshot *)snapshot,
				buf_bytes(&scan->start), buf_bytes(&scan->end),
				&scan->rows);
	else if (err == 0)
		err = cursor_open(
			s->engine, (const struct engine_snapshot *)snapshot,
			buf_bytes(&scan->start), buf_bytes(&scan->end),
			bytes_of(scan->start.data, prefix), &scan->cursor);
	if (err == 0 && scan->rows)
		rows_stop(scan->rows, range->stop);
	if (err == 0 && scan->cursor)
		bound_cursor(scan, range);
	if (err < 0) {
		scan_close(scan);
		return err;
	}
	*out = scan;
	return 0;
}

/* Also of a scan that could not be opened all the way; NULL is allowed. */
void scan_close(struct scan *scan)
{
	if (!scan)
		return;
	cursor_close(scan->cursor);
	if (scan->run)
		filter_run_release(scan->run);
	free(scan->run);
	rows_close(scan->rows);
	buf_release(&scan->decoded);
	release_value(scan);
	buf_release(&scan->start);
	buf_release(&scan->end);
	buf_release(&scan->row);
	free(scan);
}

/* A filter that has something to give yet points at what would go. */
void scan_rest(struct scan *scan)
{
	if (scan->paused || scan->held || scan->owes)
		return;
	if (scan->run && ((scan->at > 0 && !scan->shown) ||
			  scan->run->taken < scan->run->count))
		return;
	release_value(scan);
	if (scan->rows)
		rows_rest(scan->rows);
	else
		cursor_rest(scan->cursor);
}

/* To the last row before key in a reverse scan, whose prefix is noted: the
 * cursor's is lost when it goes on. */
static int enter_row_before(struct scan *scan, struct bytes key,
			    struct cell *cell)
{
	int err = cursor_row_before(scan->cursor, key, cell);

	scan->in_row = err == 1;
	scan->paused = err == -EAGAIN;
	if (err == 1 &&
	    buf_set(&scan->row, cursor_row_prefix(scan->cursor)) < 0)
		return -ENOMEM;
	return err;
}

/* Ends a step of rows with this result: of a cell only the row is there. */
static int show_row(struct scan *scan, int result, struct bytes row,
		    struct cell *cell)
{
	size_t end;
	int err;

	if (result != 1)
		return result;
	*cell = (struct cell){ 0 };
	err = key_part(row, KEY_TABLE_SIZE, &scan->decoded, &cell->row, &end);
	return err < 0 ? err : 1;
}

/* What a step inside the row of a reverse scan has led to. Cursors go forwards,
 * so behind the row's last cell is a row that was given before: the end. */
static int stay_in_row(struct scan *scan, int err)
{
	scan->paused = err == -EAGAIN;
	if (scan->paused)
		return err;
	if (err == 1 &&
	    bytes_equal(cursor_row_prefix(scan->cursor), buf_bytes(&scan->row)))
		return 1;
	scan->in_row = false;
	return err < 0 ? err : 0;
}

/* What a step forwards has led to. */
static int stepped(struct scan *scan, int err)
{
	scan->paused = err == -EAGAIN;
	return err;
}

/* Goes on with the raw step that has paused. */
static int raw_resume(struct scan *scan, struct cell *cell)
{
	int err;

	if (scan->reverse && !scan->in_row)
		return enter_row_before(scan, BYTES_NONE, cell);
	err = cursor_next(scan->cursor, CURSOR_VERSION, cell);
	return scan->reverse ? stay_in_row(scan, err) : stepped(scan, err);
}

/* A step as if there were no filter. In a reverse scan that has left its row,
 * scan->row still says where the next one is to be looked for; that it is empty
 * means that there was no step yet. */
static int raw_next(struct scan *scan, enum cursor_step step, struct cell *cell)
{
	struct bytes row;
	int err;

	forget_value(scan);
	if (scan->rows) {
		err = rows_next(scan->rows, &row);
		return show_row(scan, err, row, cell);
	}
	if (scan->paused)
		return raw_resume(scan, cell);
	if (!scan->reverse)
		return stepped(scan, cursor_next(scan->cursor, step, cell));
	/* The first step: behind the range there is no row yet to go back from.
	 */
	if (!scan->in_row && scan->row.size == 0)
		return enter_row_before(scan, buf_bytes(&scan->end), cell);
	if (step == CURSOR_ROW)
		return enter_row_before(scan, buf_bytes(&scan->row), cell);
	if (!scan->in_row)
		return 0;
	return stay_in_row(scan, cursor_next(scan->cursor, step, cell));
}

/* To row or behind it; backwards to row or before it, which is before the key
 * that follows all of row's. */
static int raw_seek(struct scan *scan, struct bytes row, struct cell *cell)
{
	struct buf key = BUF_INIT, past = BUF_INIT;
	struct bytes found;
	int err;

	forget_value(scan);
	scan->paused = false;
	err = buf_add(&key, scan->start.data, KEY_TABLE_SIZE);
	if (err == 0)
		err = key_add_part(&key, row);
	if (err == 0 && scan->reverse)
		err = key_successor(buf_bytes(&key), &past);
	if (err == 0 && scan->rows) {
		err = rows_seek(scan->rows, buf_bytes(&key), &found);
		err = show_row(scan, err, found, cell);
	} else if (err == 0) {
		err = scan->reverse
			      ? enter_row_before(scan, buf_bytes(&past), cell)
			      : stepped(scan,
					cursor_seek(scan->cursor,
						    buf_bytes(&key), cell));
	}
	buf_release(&key);
	buf_release(&past);
	return err;
}

/* From the present cell, which lies before what the filter needs of its row, to
 * that. There may be none in this row: then it is to what comes next. */
static int seek_needed(struct scan *scan)
{
	struct buf key = BUF_INIT;
	int err = buf_add_bytes(&key, cursor_row_prefix(scan->cursor));

	forget_value(scan);
	if (err == 0)
		err = key_add_part(&key, scan->need.family);
	if (err == 0 && scan->need.has_qualifier)
		err = key_add_part(&key, scan->need.qualifier);
	if (err == 0)
		err = cursor_seek(scan->cursor, buf_bytes(&key), &scan->raw);
	buf_release(&key);
	return scan->reverse ? stay_in_row(scan, err) : stepped(scan, err);
}

/* Where the present cell lies from the columns that the filter needs: -1 before
 * them, 0 among them, 1 behind them. A qualifier is needed in one family only,
 * or it would come once in each. */
static int needed(const struct scan *scan)
{
	int order = 0;

	if (scan->need.has_family)
		order = bytes_compare(scan->raw.family, scan->need.family);
	if (order == 0 && scan->need.has_family && scan->need.has_qualifier)
		order = bytes_compare(scan->raw.qualifier,
				      scan->need.qualifier);
	return order;
}

/* Shows the present cell to the filter, if it is one that it needs. */
static int show(struct scan *scan)
{
	assert(scan->at == 1);
	scan->shown = true;
	return needed(scan) ? 0 : filter_run_cell(scan->run, &scan->raw);
}

/* From the present cell to the next that the filter has to see, skipping at
 * least what step does. Steps are compared by number: a wider one is smaller.
 * Behind what is needed, the row has nothing more. */
static void advance(struct scan *scan, enum cursor_step step)
{
	enum cursor_step wanted = CURSOR_ROW;
	int order = needed(scan);

	scan->shown = false;
	if (order < 0 && step != CURSOR_ROW) {
		scan->at = seek_needed(scan);
		return;
	}
	/* Outside of what is needed the filter has no state of this cell to go
	 * by. */
	if (order == 0)
		wanted = filter_run_step(scan->run);
	scan->at = raw_next(scan, wanted < step ? wanted : step, &scan->raw);
}

/* Whether the present cell is of the row that the filter is at. */
static bool in_filtered_row(const struct scan *scan)
{
	return scan->at == 1 &&
	       bytes_equal(scan->raw.row, buf_bytes(&scan->run->row));
}

/* Lets the filter decide about the row that begins with the present cell, which
 * is the present one again afterwards: each pass goes over the row and then
 * back to its start; but at a cell that is shown nothing pauses. 1, 0 if
 * nothing is left there (a moment's GC time is fixed, so that does not happen),
 * or an error: after -EAGAIN it goes on. */
static int decide_row(struct scan *scan)
{
	struct filter_run *run = scan->run;
	int err = scan->deciding ? 0 : filter_run_row(run, scan->raw.row);

	cursor_pause(scan->cursor, NULL);
	while (err == 0 && filter_run_decides(run)) {
		while (err == 0 && in_filtered_row(scan)) {
			err = show(scan);
			if (err == 0)
				advance(scan, CURSOR_VERSION);
		}
		if (err == 0 && scan->at >= 0)
			scan->at = raw_seek(scan, buf_bytes(&run->row),
					    &scan->raw);
		if (err < 0 || scan->at < 0)
			break;
		filter_run_again(run);
	}
	cursor_pause(scan->cursor, scan->pause);
	scan->deciding = err == -EAGAIN;
	return err < 0 ? err : scan->at;
}

/* To the next cell that passes, skipping at least what step does from the
 * present one. Only the first advance is as wide as step: after that, any cell
 * is behind it. Unless it may leave, a reverse scan ends with the row. */
static int settle(struct scan *scan, enum cursor_step step, bool may_leave,
		  struct cell *cell)
{
	struct filter_run *run = scan->run;
	const struct filter_cell *c;
	bool entered; /* has tried to */
	int err;

	for (;;) {
		c = filter_run_take(run);
		if (c)
			break;
		entered = scan->paused && scan->reverse && !scan->in_row;
		if (scan->paused)
			scan->at = raw_resume(scan, &scan->raw);
		else if (scan->shown && !scan->held)
			advance(scan, step);
		step = CURSOR_VERSION;
		/* Within a row a reverse scan has ended; rows go on. */
		if (scan->at == 0 && scan->reverse && may_leave && !entered)
			scan->at = raw_next(scan, CURSOR_ROW, &scan->raw);
		if (scan->at <= 0)
			return scan->at;
		/* A cell of another row: the filter begins anew. */
		err = in_filtered_row(scan) && !scan->deciding
			      ? 1
			      : decide_row(scan);
		if (err == 1)
			err = show(scan);
		scan->held = err == -EAGAIN;
		if (err < 0)
			return err;
	}
	*cell = c->cell;
	scan->label = c->label;
	scan->given_family = run->family_epoch;
	scan->given_column = run->column_epoch;
	return 1;
}

/* The step under way, from its first cell on, or from where it paused. */
static int finish_step(struct scan *scan, struct cell *cell)
{
	const struct filtered_step *s = &scan->step;
	bool counts = scan->run->root->counts;
	int err;

	do {
		err = settle(scan,
			     counts && s->step != CURSOR_ROW ? CURSOR_VERSION
							     : s->step,
			     s->may_leave, cell);
	} while (err == 1 && !s->first &&
		 ((s->step == CURSOR_FAMILY &&
		   scan->given_family == s->family) ||
		  (s->step == CURSOR_COLUMN &&
		   scan->given_column == s->column)));
	return err;
}

/* A step over what comes out of the filter. If the filter has to see every
 * cell, it is shown those that step leaves too, and what comes of them is
 * dropped until another family or column has begun; CURSOR_ROW may step, as no
 * filter counts beyond a row. */
static int filtered_next(struct scan *scan, enum cursor_step step,
			 struct cell *cell)
{
	bool first = !scan->started;

	if (scan->paused || scan->held)
		return finish_step(scan, cell);
	scan->step = (struct filtered_step){
		.step = step,
		.first = first,
		.may_leave = first || step == CURSOR_ROW || !scan->reverse,
		.family = scan->given_family,
		.column = scan->given_column,
	};
	if (first)
		scan->at = raw_next(scan, step, &scan->raw);
	scan->started = true;
	if (scan->paused)
		return -EAGAIN;
	/* Copies are of the column that is left. */
	if (step != CURSOR_VERSION)
		while (filter_run_take(scan->run))
			;
	return finish_step(scan, cell);
}

/* With a filter, what is given is what comes out of it. */
int scan_next(struct scan *scan, enum cursor_step step, struct cell *cell)
{
	if (scan->owes) {
		*cell = scan->owed;
		return give(scan, 1, cell);
	}
	return give(scan,
		    scan->run ? filtered_next(scan, step, cell)
			      : raw_next(scan, step, cell),
		    cell);
}

/* No row has an empty key, so with it as the filter's row whichever comes is a
 * new one, even if it is the same again. */
int scan_seek(struct scan *scan, struct bytes row, struct cell *cell)
{
	scan->owes = false;
	if (!scan->run)
		return give(scan, raw_seek(scan, row, cell), cell);
	scan->started = true;
	scan->shown = scan->held = scan->deciding = false;
	while (filter_run_take(scan->run))
		;
	scan->run->row.size = 0;
	scan->step = (struct filtered_step){ .step = CURSOR_VERSION,
					     .first = true,
					     .may_leave = true };
	scan->at = raw_seek(scan, row, &scan->raw);
	return give(scan, scan->paused ? -EAGAIN : finish_step(scan, cell),
		    cell);
}

int scan_position(struct scan *scan, struct bytes *row)
{
	struct bytes place;
	size_t end;

	assert(scan->paused || scan->held || scan->owes);
	*row = BYTES_NONE;
	if (scan->owes || scan->held) {
		*row = scan->owes       ? scan->owed.row
		       : scan->deciding ? buf_bytes(&scan->run->row)
					: scan->raw.row;
		return 0;
	}
	place = scan->in_row ? buf_bytes(&scan->row)
			     : cursor_place(scan->cursor);
	return place.size == 0 ? 0
			       : key_part(place, KEY_TABLE_SIZE, &scan->decoded,
					  row, &end);
}

size_t scan_value_memory(const struct scan *scan)
{
	return scan->value.capacity;
}

/* Also of a copy: only blob and value are looked at. */
int scan_load(struct scan *scan, const struct cell *cell, struct buf *out)
{
	return cell->blob.size > 0 ? cursor_load(scan->cursor, cell, out)
				   : buf_add_bytes(out, cell->value);
}

/* Asks the store as it is now, not the scan's moment; hence -ESTALE. */
int scan_open_large(struct scan *scan, const struct cell *cell,
		    struct large **out)
{
	return large_open(scan->engine, cell->blob, out);
}

/* The filter's bytes. */
struct bytes scan_label(const struct scan *scan)
{
	return scan->label;
}
