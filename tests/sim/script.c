#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/script.h"

#define COLUMNS 3

void script_complain(struct script *r, const char *what)
{
	if (!r->problem[0])
		snprintf(r->problem, sizeof(r->problem), "%s", what);
}

/* An error has to say where. */
static int told(struct script *r, const char *what, int err)
{
	char text[300];

	if (err >= 0 || err == -ENOMEM || err_detail()[0])
		return err;
	snprintf(text, sizeof(text), "%s failed with %d and said nothing", what,
		 err);
	script_complain(r, text);
	return err;
}

static void options(struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
	o->memtable_size = 6000;
	o->file_size = 3000;
	o->cache_size = 20000;
	o->blob_threshold = 80;
	o->blob_chunk_size = 45;
	o->blob_file_size = 1200;
}

static struct bytes row_key(unsigned int row, char *text)
{
	snprintf(text, 16, "row%03u", row * 7 % SCRIPT_ROWS);
	return bytes_string(text);
}

/* The value of a row's column, large except in the first. */
static struct bytes cell_value(unsigned int row, unsigned int column,
			       char *text)
{
	memset(text, 'a' + (int)(row + column) % 26, 100);
	snprintf(text, 16, "%u.%u ", row, column);
	return bytes_of(text, column == 0 ? 60 : 100);
}

/* Some rows, of those that only set cells, go by bulk load. */
static bool is_loaded(unsigned int row)
{
	return row % 12 == 7 && row % 5 != 0;
}

static int load(struct store *s, struct write *w)
{
	struct bulk_load *bulk;
	int err = store_bulk_begin(s, &bulk);

	if (err < 0)
		return err;
	err = store_bulk_add(bulk, w);
	if (err == 1)
		err = store_bulk_publish(bulk);
	store_bulk_free(bulk);
	return err;
}

static int write_one(struct store *s, struct script *r, unsigned int row,
		     bool sync)
{
	char name[16], text[100], qualifier[2] = "a";
	struct write *w;
	unsigned int i;
	int err;

	err = told(r, "write_new", write_new(s, &w));
	if (err < 0)
		return err;
	err = write_row(w, bytes_string("t"), row_key(row, name));
	for (i = 0; i < COLUMNS && err == 0; i++) {
		qualifier[0] = (char)('a' + i);
		err = write_set(w, bytes_string("f"), bytes_string(qualifier),
				1000, cell_value(row, i, text));
	}
	/* A deletion of nothing, for its tombstone. */
	if (err == 0 && row % 5 == 0)
		err = write_delete_column(w, bytes_string("f"),
					  bytes_string("x"));
	if (err == 0)
		err = is_loaded(row) ? load(s, w) : store_commit(s, w, sync);
	write_free(w);
	return told(r, "commit", err);
}

/* Reads all; cells have to be right, a row has all columns or none. seen, if
 * not NULL, is told which rows are there. */
static int read_all(struct store *s, struct script *r, bool *seen)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int cells[SCRIPT_ROWS] = { 0 }, row, column;
	struct scan *scan;
	struct cell cell;
	char text[100];
	int err;

	err = told(r, "scan_open", scan_open(s, NULL, &range, &scan));
	if (err < 0)
		return err;
	while ((err = told(r, "scan",
			   scan_next(scan, CURSOR_VERSION, &cell))) == 1) {
		if (cell.value.size < 60 ||
		    sscanf((const char *)cell.value.data, "%u.%u ", &row,
			   &column) != 2 ||
		    row >= SCRIPT_ROWS || column >= COLUMNS ||
		    !bytes_equal(cell.value, cell_value(row, column, text)) ||
		    !bytes_equal(cell.row, row_key(row, (char[16]){ 0 }))) {
			script_complain(r, "a cell is wrong");
			break;
		}
		cells[row]++;
	}
	scan_close(scan);
	for (row = 0; row < SCRIPT_ROWS && err == 0; row++) {
		if (cells[row] != 0 && cells[row] != COLUMNS)
			script_complain(r, "a row is there in part");
		if (r->acknowledged[row] && seen == NULL && cells[row] == 0)
			script_complain(r, "an acknowledged row is not there");
		if (seen)
			seen[row] = cells[row] > 0;
	}
	return err;
}

/* Writes a row of a table of its own and erases it, for which large values of
 * others move. */
static void purge_one(struct store *s, struct script *r)
{
	const struct purge_span all = { BYTES_NONE, BYTES_NONE };
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct bytes table = BYTES_LITERAL("gone");
	struct purge_result result;
	struct write *w;
	char text[100];
	int err = store_create_table(s, table, false, &family, 1);

	if (told(r, "create table", err) < 0 ||
	    told(r, "write_new", write_new(s, &w)) < 0)
		return;
	err = write_row(w, table, BYTES_LITERAL("gone"));
	if (err == 0)
		err = write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1000,
				cell_value(1, 1, text));
	if (err == 0)
		err = store_commit(s, w, false);
	write_free(w);
	if (told(r, "commit", err) == 0)
		told(r, "purge", store_purge(s, table, &all, 1, 0, &result));
}

void script_run(struct volume *v, struct script *r)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct store_options o;
	struct store *s;
	unsigned int row, i;
	int err;

	options(&o);
	if (told(r, "open", store_open_volume(v, &o, &s)) < 0)
		return;
	err = store_create_table(s, bytes_string("t"), false, &family, 1);
	r->table = told(r, "create table", err) == 0;
	for (row = 0; row < SCRIPT_ROWS; row++) {
		bool sync = row % 6 == 5 || is_loaded(row);

		r->begun = row + 1;
		err = write_one(s, r, row, sync);
		r->acknowledged[row] = err == 0;
		for (i = 0; sync && err == 0 && i <= row; i++)
			r->durable[i] = r->acknowledged[i];
		if (row % 15 == 8)
			told(r, "flush", engine_flush(store_engine(s)));
		/* As if the memtable was nearly full. */
		if (row % 20 == 4)
			atomic_store(&store_engine(s)->pace.sync_wanted, true);
		if (row % 20 == 5 || row % 20 == 19)
			told(r, "step", engine_step(store_engine(s)));
		if (row % 25 == 24)
			told(r, "compact", store_compact(s, BYTES_NONE));
		if (row == 33)
			purge_one(s, r);
		if (row % 10 == 7 && r->table)
			read_all(s, r, NULL);
	}
	if (r->before_close)
		r->before_close(r, s);
	r->closed = told(r, "close", store_close(s)) == 0;
	if (r->closed)
		for (row = 0; row < SCRIPT_ROWS; row++)
			r->durable[row] |= r->acknowledged[row];
}

void script_must_go_on(struct script *r, struct store *s)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	char text[500];
	int err = 0;

	if (!r->table)
		err = store_create_table(s, bytes_string("t"), false, &family,
					 1);
	r->table = r->table || err == 0;
	if (err == 0)
		err = write_one(s, r, 0, true);
	if (err == 0)
		err = store_compact(s, BYTES_NONE);
	if (err == 0)
		err = read_all(s, r, NULL);
	if (err < 0) {
		snprintf(text, sizeof(text), "does not go on: %s: %s",
			 err_detail(), err_text(err));
		script_complain(r, text);
	}
	r->acknowledged[0] = r->durable[0] = err == 0;
	r->begun = r->begun > 1 ? r->begun : 1;
}

/* Opens what a run left behind and looks whether what must be there is. */
void script_look(struct volume *v, struct script *r, bool power_cut)
{
	struct store_options o;
	bool seen[SCRIPT_ROWS] = { false };
	struct store *s;
	unsigned int row;
	bool hole = false;
	int err;

	options(&o);
	err = store_open_volume(v, &o, &s);
	if (err < 0) {
		char text[500];

		snprintf(text, sizeof(text), "cannot be opened again: %s: %s",
			 err_detail(), err_text(err));
		script_complain(r, text);
		return;
	}
	err = read_all(s, r, seen);
	if (err < 0 && (err != -ERR_no_table || r->table))
		script_complain(r, "cannot be read again");
	for (row = 0; row < SCRIPT_ROWS; row++) {
		bool must = power_cut ? r->durable[row] : r->acknowledged[row];

		if (seen[row] && row >= r->begun)
			script_complain(r, "a row is there that never was");
		/* Commits are in order, so nothing may be missing before one
		 * that is there. */
		if (seen[row] && hole)
			script_complain(r, "a row is there after one missing");
		hole |= r->acknowledged[row] && !seen[row];
		if (must && !seen[row])
			script_complain(
				r, power_cut ? "a durable row was lost"
					     : "an acknowledged row was lost");
	}
	if (r->table && write_one(s, r, 0, true) < 0)
		script_complain(r, "cannot be written again");
	if (store_close(s) < 0)
		script_complain(r, "cannot be closed again");
}

struct store *script_take(struct volume *v, struct script *r, bool *seen)
{
	struct store_options o;
	struct store *s;
	unsigned int row;
	char text[500];
	int err;

	memset(seen, 0, SCRIPT_ROWS * sizeof(*seen));
	options(&o);
	err = store_open_volume(v, &o, &s);
	if (err < 0) {
		snprintf(text, sizeof(text), "cannot be taken over: %s: %s",
			 err_detail(), err_text(err));
		script_complain(r, text);
		return NULL;
	}
	err = read_all(s, r, seen);
	if (err < 0 && (err != -ERR_no_table || r->table))
		script_complain(r, "cannot be read by the next holder");
	r->table = err == 0;
	for (row = 0; row < SCRIPT_ROWS; row++)
		if (r->acknowledged[row] && !seen[row])
			script_complain(r, "an acknowledged row was lost");
	script_must_go_on(r, s);
	return s;
}

void script_end(struct store *s, struct script *r)
{
	script_must_go_on(r, s);
	if (told(r, "close", store_close(s)) < 0)
		script_complain(r, "the next holder cannot close");
}

void script_try(struct volume *v, struct script *r)
{
	bool seen[SCRIPT_ROWS];
	struct store_options o;
	struct store *s;

	options(&o);
	if (told(r, "open", store_open_volume(v, &o, &s)) == 0) {
		read_all(s, r, seen);
		told(r, "close", store_close(s));
	}
}
