#include "store/text/import/import_commit.h"
#include "store/text/import/import_state.h"

/* From mutations to the store: by the log, or as a bulk load. */

/* What was loaded in bulk becomes visible, durably. */
static int publish(struct importer *im)
{
	int err = store_bulk_publish(im->load);

	if (err < 0)
		return err;
	im->result.row_count += im->loaded_rows;
	im->result.cell_count += im->loaded_cells;
	im->result.committed_line = im->loaded_line;
	im->loaded_rows = im->loaded_cells = 0;
	return 0;
}

static int end_load(struct importer *im)
{
	int err = publish(im);

	store_bulk_free(im->load);
	im->load = NULL;
	return err;
}

/*
 * Begins a bulk load, or ends one whose input has become slow: what a slow
 * writer sends is to be seen soon. Who hands over much at once has more.
 */
static int choose_way(struct importer *im)
{
	uint64_t now = clock_now(&clock_real);
	uint64_t bytes = im->result.byte_count - im->window_bytes;
	int err = 0;

	if (!im->load && !im->log_only &&
	    (im->feed_size >= IMPORT_LOAD_FEED || bytes >= IMPORT_LOAD_RATE))
		err = store_bulk_begin(im->store, &im->load);
	else if (now - im->window_us < IMPORT_LOAD_WINDOW_US)
		return 0;
	else if (im->load && bytes < IMPORT_LOAD_RATE)
		err = end_load(im);
	im->window_us = now;
	im->window_bytes = im->result.byte_count;
	return err;
}

int import_hand_on(struct importer *im)
{
	int err = choose_way(im);

	if (err < 0 || write_count(im->w) == 0)
		return err;
	if (im->load) {
		err = store_bulk_add(im->load, im->w);
		if (err < 0)
			return err;
		if (err == 1) {
			im->loaded_rows += im->pending_rows;
			im->loaded_cells += im->pending_cells;
			im->loaded_line = im->result.line_count;
			im->pending_rows = im->pending_cells = 0;
			return 0;
		}
		/* Not only sets: the rest goes by the log. */
		err = end_load(im);
		im->log_only = true;
	}
	if (err == 0)
		err = store_commit(im->store, im->w, false);
	if (err < 0)
		return err;
	im->result.row_count += im->pending_rows;
	im->result.cell_count += im->pending_cells;
	im->result.committed_line = im->result.line_count;
	im->pending_rows = im->pending_cells = 0;
	return 0;
}

int import_commit(struct importer *im, bool sync)
{
	int err = import_hand_on(im);

	if (err == 0 && im->load)
		err = end_load(im);
	if (err == 0)
		im->result.committed_line = im->result.line_count;
	if (err == 0 && sync)
		err = store_sync(im->store);
	return err;
}

bool import_is_refusable(int err)
{
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

int import_refuse(struct importer *im, int err)
{
	const char *reason = err_detail();

	if (im->strict || !import_is_refusable(err))
		return err;
	if (im->result.refused_count++ >= IMPORT_REFUSED_MAX)
		return 1;
	err = buf_printf(&im->result.refused, "line %llu: %s\n",
			 (unsigned long long)im->line,
			 reason[0] ? reason : err_text(err));
	return err < 0 ? err : 1;
}

int import_add_row(struct importer *im, int (*add)(struct importer *im))
{
	struct write_mark mark = write_mark(im->w);
	size_t before = write_count(im->w);
	int err = add(im);

	if (err == -ERR_batch_too_large && before > 0) {
		write_rewind(im->w, mark);
		err = import_hand_on(im);
		if (err < 0)
			return err;
		mark = write_mark(im->w);
		before = 0;
		err = add(im);
	}
	if (err < 0) {
		write_rewind(im->w, mark);
		return import_refuse(im, err);
	}
	if (write_count(im->w) == before)
		write_rewind(im->w, mark);
	else
		im->pending_rows++;
	im->pending_cells += write_count(im->w) - before;
	return 1;
}
