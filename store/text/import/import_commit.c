#include <assert.h>

#include "store/text/import/import_commit.h"
#include "store/text/import/import_raw.h"
#include "store/text/import/import_resume.h"
#include "store/text/import/import_state.h"

/*
 * From mutations to the store: by the log, or as a bulk load. A load is faster
 * for much data, but its rows are seen only when it is published, which costs a
 * few syncs; so it is for input that comes fast, and for that only. Rows and
 * cells are counted in three steps: pending in w, loaded, and committed in the
 * result.
 */

/* What was loaded in bulk becomes visible, durably, and is counted as
 * committed. */
static int publish(struct importer *im)
{
	int err = import_resume_publish(im);

	if (err == 0)
		err = store_bulk_publish(im->load);
	im->is_lost |= err < 0;
	if (err < 0)
		return err;
	import_resume_published(im);
	im->result.row_count += im->loaded_rows;
	im->result.cell_count += im->loaded_cells;
	im->result.committed_line = im->loaded_line;
	im->loaded_rows = im->loaded_cells = 0;
	im->shown_us = clock_now(&clock_real);
	im->shown_bytes = im->result.byte_count;
	return 0;
}

/* Publishes the load and goes on by the log; after an error what it held is
 * lost. */
static int end_load(struct importer *im)
{
	int err = publish(im);

	store_bulk_free(im->load);
	im->load = NULL;
	return err;
}

static int begin_load(struct importer *im, uint64_t now)
{
	im->shown_us = now;
	im->shown_bytes = im->result.byte_count;
	return store_bulk_begin(im->store, &im->load);
}

/*
 * Begins a bulk load, publishes one from time to time, or ends one whose input
 * has become slow: what a slow writer sends is to be seen soon. Who hands over
 * much at once has more, so that a large piece begins a load without waiting
 * for the rate to be known. Called with each batch, so a load that gets no more
 * input stays until a flush.
 */
static int choose_way(struct importer *im)
{
	uint64_t now = clock_now(&clock_real);
	uint64_t bytes = im->result.byte_count - im->window_bytes;
	int err = 0;

	if (im->load &&
	    (now - im->shown_us >= IMPORT_PUBLISH_US ||
	     im->result.byte_count - im->shown_bytes >= IMPORT_PUBLISH_SIZE))
		err = publish(im);
	if (err < 0)
		return err;
	if (!im->load && !im->log_only &&
	    (im->feed_size >= IMPORT_LOAD_FEED || bytes >= IMPORT_LOAD_RATE))
		err = begin_load(im, now);
	else if (now - im->window_us < IMPORT_LOAD_WINDOW_US)
		return 0;
	else if (im->load && bytes < IMPORT_LOAD_RATE)
		err = end_load(im);
	im->window_us = now;
	im->window_bytes = im->result.byte_count;
	return err;
}

/* import_hand_on, but for what is lost then. A load takes rows that only set
 * cells. At the first write that does more (it is refused whole) the load is
 * published, so that the order of the lines is kept, and everything from there
 * on goes by the log. */
static int hand_on(struct importer *im)
{
	int err = import_raw_flush(im);

	if (err == 0)
		err = im->w ? choose_way(im) : import_resume_emitted(im);
	if (err < 0 || !im->w || write_count(im->w) == 0)
		return err;
	if (im->load) {
		err = store_bulk_add(im->load, im->w);
		if (err < 0)
			return err;
		if (err == 1) {
			import_resume_loaded(im);
			im->loaded_rows += im->pending_rows;
			im->loaded_cells += im->pending_cells;
			im->loaded_line = im->result.line_count;
			im->pending_rows = im->pending_cells = 0;
			assert(write_count(im->w) == 0);
			return 0;
		}
		/* It took nothing: not all of it sets cells. */
		err = end_load(im);
		im->log_only = true;
	}
	if (err == 0)
		err = import_resume_add(im);
	if (err == 0)
		err = store_commit_more(im->store, im->w);
	if (err < 0)
		return err;
	import_resume_committed(im);
	im->result.row_count += im->pending_rows;
	im->result.cell_count += im->pending_cells;
	im->result.committed_line = im->result.line_count;
	im->pending_rows = im->pending_cells = 0;
	return 0;
}

int import_hand_on(struct importer *im)
{
	int err = hand_on(im);

	im->is_lost |= err < 0;
	return err;
}

/* Rows behind the last mark wait for the next. */
int import_settle(struct importer *im)
{
	int err = im->resume.by_marks ? choose_way(im) : import_hand_on(im);

	/* It begins no second load when nothing more comes. */
	im->feed_size = 0;
	if (err == 0 && im->store)
		err = store_settle(im->store);
	return err;
}

int import_hand_on_marked(struct importer *im)
{
	int err = import_hand_on(im);

	/* Also if nothing came but the position. */
	if (err == 0 && im->load)
		import_resume_loaded(im);
	else if (err == 0)
		err = import_resume_settle(im);
	return err;
}

/* Rows behind the last mark wait for the next. */
int import_commit(struct importer *im, bool sync)
{
	int err = im->resume.by_marks ? 0 : import_hand_on(im);

	if (err == 0 && im->load)
		err = end_load(im);
	if (err == 0)
		err = import_resume_settle(im);
	if (err == 0)
		im->result.committed_line = im->result.line_count;
	if (err == 0 && im->store)
		err = sync ? store_sync(im->store) : store_settle(im->store);
	return err;
}

bool import_is_refusable(int err)
{
	/* All that write_* and json_mutation_* say of their arguments; not
	 * -ERR_no_table, for without its table no line is any good. */
	switch (-err) {
	case ERR_bad_line:
	case ERR_no_family:
	case ERR_bad_timestamp:
	case ERR_row_key_empty:
	case ERR_row_key_too_long:
	case ERR_qualifier_too_long:
	case ERR_value_too_large:
	case ERR_batch_too_large:
	case ERR_type_mismatch:
	case ERR_not_a_number:
	case ERR_condition_failed:
	case ERR_bad_argument:
		return true;
	}
	return false;
}

/* Appends where the present record is and what is wrong with it. */
static int add_reason(const struct importer *im, const char *reason,
		      struct buf *out)
{
	int err = im->recipe ? buf_add_visible(out, buf_bytes(&im->by.file))
			     : buf_add_string(out, "line ");

	if (!err)
		err = buf_printf(out, "%s%llu: ", im->recipe ? ":" : "",
				 (unsigned long long)im->line);
	return err ? err : buf_add_visible(out, bytes_string(reason));
}

/* Tells the refusal, of which the reason is one line. */
static int tell_refused(struct importer *im, struct bytes line)
{
	const struct import_rejects *to = im->by.rejects;
	struct buf *kept = &im->result.refused;
	int err = 0;

	im->by.raw = RAW_REFUSED;
	if (im->result.refused_count++ < IMPORT_REFUSED_MAX) {
		err = buf_add_bytes(kept, line);
		if (!err)
			err = buf_add_byte(kept, '\n');
	}
	if (!err && to)
		err = import_raw_check(im, to->reason(to->context, line));
	return err < 0 ? err : 1;
}

int import_point(const struct importer *im, int err)
{
	struct buf line = BUF_INIT;
	const char *why = err_detail();

	if (err < 0 && err != -ENOMEM &&
	    add_reason(im, why[0] ? why : err_text(err), &line) == 0)
		fail(-err, "%.*s", (int)line.size, line.data);
	buf_release(&line);
	return err;
}

int import_locate(const struct importer *im, int err)
{
	return im->recipe ? import_point(im, err) : err;
}

int import_refuse(struct importer *im, int err)
{
	struct buf line = BUF_INIT;
	const char *reason = err_detail();

	if (!import_is_refusable(err) || (im->strict && !im->recipe))
		return err;
	/* When it began the families were as the recipe needs them. */
	if (im->recipe && (err == -ERR_no_family || err == -ERR_type_mismatch))
		return import_locate(im, err);
	if (add_reason(im, reason[0] ? reason : err_text(err), &line) < 0)
		err = -ENOMEM;
	else if (im->strict)
		err = fail(-err, "%.*s", (int)line.size, line.data);
	else
		err = tell_refused(im, buf_bytes(&line));
	buf_release(&line);
	return err;
}

int import_add_row(struct importer *im, int (*add)(struct importer *im))
{
	struct write_mark mark = write_mark(im->w);
	size_t before = write_count(im->w);
	int err = add(im);

	if (err >= 0)
		err = import_resume_room(im, write_count(im->w),
					 write_size(im->w));
	if (err == -ERR_batch_too_large && before > 0 && !im->resume.by_marks) {
		write_rewind(im->w, mark);
		err = import_hand_on(im);
		if (err < 0)
			return err;
		mark = write_mark(im->w);
		before = 0;
		err = add(im);
		if (err >= 0)
			err = import_resume_room(im, write_count(im->w),
						 write_size(im->w));
	}
	if (err < 0) {
		write_rewind(im->w, mark);
		return import_refuse(im, err);
	}
	/* A row without a cell leaves nothing, not even its name, in the
	 * write. */
	if (write_count(im->w) == before)
		write_rewind(im->w, mark);
	else
		im->pending_rows += im->recipe ? im->by.rows.count : 1;
	assert(write_count(im->w) >= before);
	im->pending_cells += write_count(im->w) - before;
	return 1;
}
