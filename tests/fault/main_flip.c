#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"

/*
 * The sweep of flipped bits: every n-th bit of every file of a small store is
 * flipped; then the store is opened and everything is read, by scans and by
 * lookups. Each flip has to be told as an error or be harmless: no wrong byte,
 * nothing missing, nothing that was not there. A missing file has to be told.
 *
 * Three stores: one closed cleanly, with files on several levels and a finished
 * log; one that was killed, whose log is synced up to the middle: of that one
 * damage before the sync has to be told, and after it a prefix remains; and the
 * same after it was recovered and killed again.
 *
 *   main_flip [every-n-th-bit]
 */
#define ROWS 90
#define SYNCED_ROWS 86 /* of the store that was killed */

static const char *const families[] = { "deleted", "f", "g" };

struct target {
	struct volume *volume;
	const char *name;
	unsigned int certain; /* so many rows may not be missing */
	unsigned int told, harmless, wrong;
	const char *problem;
};

static void options(struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
	o->memtable_size = 8000;
	o->file_size = 4000;
	o->cache_size = 30000;
	/* Half of the values are large. */
	o->blob_threshold = 65;
	o->blob_chunk_size = 50;
	o->blob_file_size = 3000;
}

static struct bytes row_key(unsigned int row, char *text)
{
	snprintf(text, 16, "row%03u", row);
	return bytes_string(text);
}

static struct bytes cell_value(unsigned int row, unsigned int family,
			       char *text)
{
	memset(text, 'a' + (int)(row * 3 + family) % 26, 90);
	snprintf(text, 16, "%u.%u ", row, family);
	return bytes_of(text, 40 + row % 50);
}

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	printf("%s: %s: %s\n", what, err_detail(), err_text(err));
	exit(EXIT_FAILURE);
}

/* One row: a cell in each family, of which the first is deleted again, here
 * and there with the rest of its family. */
static void write_one(struct store *s, unsigned int row, bool sync)
{
	char name[16], text[100];
	struct write *w;
	unsigned int i;

	must(write_new(s, &w), "write_new");
	must(write_row(w, bytes_string("t"), row_key(row, name)), "write_row");
	for (i = 0; i < 3; i++)
		must(write_set(w, bytes_string(families[i]), bytes_string("q"),
			       1000 + row, cell_value(row, i, text)),
		     "write_set");
	must(store_commit(s, w, false), "commit");
	must(write_row(w, bytes_string("t"), row_key(row, name)), "write_row");
	if (row % 3)
		must(write_delete_family(w, bytes_string(families[0])),
		     "delete");
	else
		must(write_delete_cells(w, bytes_string(families[0]),
					bytes_string("q"), 1000 + row,
					1001 + row),
		     "delete");
	must(store_commit(s, w, sync), "commit");
	write_free(w);
}

/* Opens v, kills it at once, and takes v's place. */
static struct volume *recover(struct volume *v)
{
	struct volume *clone;
	struct store_options o;
	struct store *s;

	options(&o);
	must(store_open_volume(v, &o, &s), "open");
	must(volume_mem_kill_clone(v, &clone), "clone");
	must(store_close(s), "close");
	return clone;
}

enum state { CLOSED, KILLED, RECOVERED };

/* The volume after all rows were written. */
static struct volume *build(enum state state)
{
	struct family_spec specs[3] = { { .name = BYTES_NONE } };
	struct volume *v, *clone;
	struct store_options o;
	struct store *s;
	unsigned int row;
	size_t i;

	must(volume_mem_new(&v), "volume");
	volume_mem_keep(v);
	options(&o);
	must(store_open_volume(v, &o, &s), "open");
	for (i = 0; i < 3; i++)
		specs[i].name = bytes_string(families[i]);
	must(store_create_table(s, bytes_string("t"), false, specs, 3),
	     "create table");
	for (row = 0; row < ROWS; row++) {
		write_one(s, row, row + 1 == SYNCED_ROWS);
		if (row == 20)
			must(store_compact(s, BYTES_NONE), "compact");
		if (row == 30 || row == 40)
			must(engine_flush(store_engine(s)), "flush");
	}
	must(volume_mem_kill_clone(v, &clone), "clone");
	must(store_close(s), "close");
	if (state != CLOSED) {
		v->ops->close(v);
		return state == KILLED ? clone : recover(clone);
	}
	clone->ops->close(clone);
	return v;
}

/* 0 if the cell is right, -EIO with the reason in t if not. */
static int check_cell(struct target *t, const struct cell *cell,
		      unsigned int *row, unsigned int *family)
{
	char text[100], name[16];

	t->problem = "a cell is wrong";
	if (sscanf((const char *)cell->row.data, "row%3u", row) != 1 ||
	    *row >= ROWS || !bytes_equal(cell->row, row_key(*row, name)))
		return -EIO;
	for (*family = 0; *family < 3; ++*family)
		if (bytes_equal(cell->family, bytes_string(families[*family])))
			break;
	if (*family == 0)
		t->problem = "a deleted cell is back";
	if (*family == 0 || *family == 3 || cell->timestamp_us != 1000 + *row ||
	    !bytes_equal(cell->value, cell_value(*row, *family, text)))
		return -EIO;
	t->problem = NULL;
	return 0;
}

/* Scans everything: the count of rows, or an error. A row may lack nothing but
 * the deletion that came in a commit of its own, if it is the last. */
static int scan_all(struct target *t, struct store *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int cells[ROWS] = { 0 }, row, family, rows;
	struct scan *scan;
	struct cell cell;
	int err;

	err = scan_open(s, NULL, &range, &scan);
	if (err < 0)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		if (check_cell(t, &cell, &row, &family) < 0) {
			/* The prefix may end before a deletion. */
			if (family != 0 || row < t->certain)
				break;
			t->problem = NULL;
			continue;
		}
		cells[row]++;
	}
	scan_close(scan);
	if (err < 0 || t->problem)
		return err < 0 ? err : 0;
	for (rows = 0; rows < ROWS && cells[rows] == 2; rows++)
		;
	for (row = rows; row < ROWS; row++)
		if (cells[row] > 0)
			t->problem = "a row is missing";
	return (int)rows;
}

static int get_all(struct target *t, struct store *s, unsigned int rows)
{
	struct buf memory = BUF_INIT;
	unsigned int row, family, found_row, found_family;
	struct cell cell;
	char name[16];
	int found = 0;

	for (row = 0; row < rows && !t->problem; row++)
		for (family = 1; family < 3 && !t->problem; family++) {
			found = store_get(s, NULL, bytes_string("t"),
					  row_key(row, name),
					  bytes_string(families[family]),
					  bytes_string("q"), &cell, &memory);
			if (found < 0)
				goto release;
			if (found == 0)
				t->problem = "a lookup misses a cell";
			else
				check_cell(t, &cell, &found_row, &found_family);
		}
release:
	buf_release(&memory);
	return found < 0 ? found : 0;
}

/* Opens a copy and reads it all: an error, or 0 and perhaps t->problem. */
static int look(struct target *t)
{
	struct store_options o;
	struct volume *copy;
	struct store *s;
	int rows, err;

	options(&o);
	o.create = false;
	t->problem = NULL;
	must(volume_mem_kill_clone(t->volume, &copy), "clone");
	err = store_open_volume(copy, &o, &s);
	if (err < 0)
		return err;
	rows = scan_all(t, s);
	if (rows >= 0 && !t->problem && (unsigned int)rows < t->certain)
		t->problem = "rows are missing";
	err = rows < 0 ? rows : get_all(t, s, (unsigned int)rows);
	store_close(s);
	return err;
}

/* Counts what came of one damage. */
static void judge(struct target *t, const char *file, const char *what,
		  size_t where, int err)
{
	if (err < 0 && err != -ENOMEM && !err_detail()[0])
		t->problem = "an error says nothing";
	if (t->problem) {
		t->wrong++;
		printf("%s store: %s: %s %zu: %s\n", t->name, file, what, where,
		       t->problem);
	} else if (err < 0) {
		t->told++;
	} else {
		t->harmless++;
	}
}

static void flip(struct target *t, const char *file, struct bytes content,
		 size_t bit)
{
	uint8_t *byte = (uint8_t *)(uintptr_t)content.data + bit / 8;
	int err;

	*byte ^= (uint8_t)(1 << bit % 8);
	err_clear();
	err = look(t);
	*byte ^= (uint8_t)(1 << bit % 8);
	judge(t, file, "bit", bit, err);
}

/* A file that is missing has to be told, whatever it is. */
static void lose(struct target *t, const char *file)
{
	struct volume *whole = t->volume;
	int err;

	must(volume_mem_kill_clone(whole, &t->volume), "clone");
	must(t->volume->ops->remove(t->volume, file), "remove");
	err_clear();
	err = look(t);
	t->volume->ops->close(t->volume);
	t->volume = whole;
	if (!err)
		t->problem = "that a file is missing was not told";
	judge(t, file, "file", 0, err);
}

struct names {
	char names[200][VOLUME_NAME_MAX + 1];
	size_t count;
};

static int add_name(void *context, const char *name)
{
	struct names *n = context;

	if (n->count < 200)
		snprintf(n->names[n->count++], VOLUME_NAME_MAX + 1, "%s", name);
	return 0;
}

static void sweep(struct target *t, size_t every)
{
	struct names names = { .count = 0 };
	struct bytes content;
	size_t i, bit, size = 0;
	int err;

	err = look(t);
	must(err, t->name);
	if (t->problem) {
		printf("%s store, unharmed: %s\n", t->name, t->problem);
		t->wrong++;
		return;
	}
	must(t->volume->ops->list(t->volume, add_name, &names), "list");
	for (i = 0; i < names.count; i++)
		lose(t, names.names[i]);
	add_name(&names, "root");
	for (i = 0; i < names.count; i++) {
		content = volume_mem_file(t->volume, names.names[i]);
		size += content.size;
		for (bit = i % every; bit < content.size * 8; bit += every)
			flip(t, names.names[i], content, bit);
	}
	printf("%s store: %zu files, %zu bytes: %u flips told, %u harmless, %u "
	       "wrong\n",
	       t->name, names.count, size, t->told, t->harmless, t->wrong);
}

int main(int argc, char **argv)
{
	size_t every = argc > 1 ? strtoull(argv[1], NULL, 0) : 31;
	struct target targets[] = {
		[CLOSED] = { .name = "closed", .certain = ROWS },
		[KILLED] = { .name = "killed", .certain = SYNCED_ROWS },
		[RECOVERED] = { .name = "recovered", .certain = ROWS },
	};
	unsigned int passed = 0, failed = 0;
	size_t i;

	for (i = 0; i < 3; i++) {
		targets[i].volume = build(i);
		sweep(&targets[i], every ? every : 1);
		targets[i].volume->ops->close(targets[i].volume);
		passed += targets[i].told + targets[i].harmless;
		failed += targets[i].wrong;
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
