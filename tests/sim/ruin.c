#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/ruin.h"

#define VALUE_SIZE 900
#define WRITTEN (RUIN_ROWS - RUIN_LOADED / 2) /* rows; the rest is loaded */
/* A row's cell of family e is deleted, and that of s is added to, when so many
 * more rows have been written: in another sst, mostly. */
#define LATER 30
#define FIRST_PART 2
#define SECOND_PART 3

_Static_assert(RUIN_CELLS == 2 * RUIN_ROWS + LATER + 2 * WRITTEN - LATER,
	       "two of each row, e, and the parts of s");

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	printf("%s: %s: %s\n", what, err_detail(), err_text(err));
	exit(EXIT_FAILURE);
}

void ruin_options(struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
	o->memtable_size = 60000;
	o->file_size = 40000;
	o->cache_size = 100000;
	o->blob_threshold = 600;
	o->blob_chunk_size = 400;
	o->blob_file_size = 10000;
}

/* Families: a has small values, b large ones, d and e what is deleted again, s
 * sums. */
static struct bytes value_of(unsigned int row, char family, char *text)
{
	size_t size = family == 'b' ? VALUE_SIZE : 300;

	memset(text, 'a' + (int)(row * 7 + (unsigned int)family) % 26, size);
	snprintf(text, size, "%u.%c", row, family);
	return bytes_of(text, size);
}

static void set(struct write *w, unsigned int row, char family)
{
	char text[VALUE_SIZE + 1];

	must(write_set(w, bytes_of(&family, 1), bytes_string("q"), 1000 + row,
		       value_of(row, family, text)),
	     "set");
}

static void begin_row(struct write *w, unsigned int row)
{
	char key[16];

	snprintf(key, sizeof(key), "row%03u", row);
	must(write_row(w, bytes_string("t"), bytes_string(key)), "row");
}

static void add_part(struct write *w, unsigned int row, int64_t part)
{
	must(write_add(w, bytes_string("s"), bytes_string("q"), 1000 + row,
		       part),
	     "add");
}

static void delete (struct write *w, unsigned int row, const char *family)
{
	if (row % 2)
		must(write_delete_family(w, bytes_string(family)), "delete");
	else
		must(write_delete_cells(w, bytes_string(family),
					bytes_string("q"), 0, 0),
		     "delete");
}

static void write_one(struct store *s, unsigned int row)
{
	struct write *w;

	must(write_new(s, &w), "write");
	begin_row(w, row);
	set(w, row, 'a');
	set(w, row, 'b');
	set(w, row, 'd');
	set(w, row, 'e');
	add_part(w, row, FIRST_PART);
	must(store_commit(s, w, false), "commit");
	begin_row(w, row);
	delete (w, row, "d");
	if (row >= LATER) {
		begin_row(w, row - LATER);
		delete (w, row - LATER, "e");
		add_part(w, row - LATER, SECOND_PART);
	}
	must(store_commit(s, w, false), "commit");
	write_free(w);
}

static void load_bulk(struct store *s, unsigned int from, unsigned int to)
{
	struct bulk_load *load;
	struct write *w;

	must(store_bulk_begin(s, &load), "bulk");
	must(write_new(s, &w), "write");
	for (; from < to; from++) {
		begin_row(w, from);
		set(w, from, 'a');
		set(w, from, 'b');
	}
	must(store_bulk_add(load, w), "bulk");
	must(store_bulk_publish(load), "publish");
	write_free(w);
	store_bulk_free(load);
}

struct volume *ruin_build(void)
{
	return ruin_build_watched(NULL, NULL);
}

struct volume *ruin_build_watched(void (*hook)(void *context, struct volume *v),
				  void *context)
{
	struct family_spec specs[5] = { { .name = BYTES_LITERAL("a") },
					{ .name = BYTES_LITERAL("b") },
					{ .name = BYTES_LITERAL("d") },
					{ .name = BYTES_LITERAL("e") },
					{ .name = BYTES_LITERAL("s"),
					  .type = FAMILY_INTSUM } };
	struct store_options o;
	struct volume *v;
	struct store *s;
	unsigned int row;

	must(volume_mem_new(&v), "volume");
	volume_mem_keep(v);
	ruin_options(&o);
	volume_mem_hook(v, hook, context);
	must(store_open_volume(v, &o, &s), "open");
	must(store_create_table(s, bytes_string("t"), false, specs, 5),
	     "create table");
	for (row = 0; row < WRITTEN; row++) {
		write_one(s, row);
		if (row == 40)
			must(store_compact(s, BYTES_NONE), "compact");
		if (row == 60 || row == 80)
			must(engine_flush(store_engine(s)), "flush");
	}
	load_bulk(s, WRITTEN, RUIN_ROWS);
	must(store_close(s), "close");
	volume_mem_hook(v, NULL, NULL);
	return v;
}

static void flip(struct volume *v, const char *name, size_t at)
{
	struct bytes content = volume_mem_file(v, name);

	if (at < content.size)
		((uint8_t *)(uintptr_t)content.data)[at] ^= 1;
}

static int harm_middle(void *context, const char *name)
{
	if (!strstr(name, ".edits"))
		flip(context, name, volume_mem_file(context, name).size / 2);
	return 0;
}

static int harm_start(void *context, const char *name)
{
	if (strstr(name, ".sst"))
		flip(context, name, 20);
	return 0;
}

void ruin_harm(struct volume *v, bool manifest)
{
	must(v->ops->list(v, manifest ? harm_start : harm_middle, v), "list");
	if (manifest)
		flip(v, "root", 20);
}

/* The table that now has the rows: its own, or one that was given a name. */
static struct bytes table_of(struct store *s, struct schema **schema)
{
	*schema = store_schema(s);
	return (*schema)->table_count == 1 ? (*schema)->tables[0].name
					   : BYTES_NONE;
}

/* How many parts a cell's sum has; 0: it never had this value. */
static unsigned int parts_of(unsigned int row, struct bytes value)
{
	uint64_t sum = value.size == 8 ? get_u64be(value.data) : 0;

	if (sum == FIRST_PART && row < WRITTEN)
		return 1;
	if (row >= WRITTEN - LATER)
		return 0;
	return sum == SECOND_PART ? 1 : 2 * (sum == FIRST_PART + SECOND_PART);
}

/* Counts a cell; false if it never had this value. */
static bool count_cell(const struct cell *cell, unsigned int *seen,
		       unsigned int *back)
{
	char text[VALUE_SIZE + 1], family = (char)cell->family.data[0];
	unsigned int row, parts;

	if (sscanf((const char *)cell->row.data, "row%3u", &row) != 1 ||
	    row >= RUIN_ROWS || cell->timestamp_us != 1000 + row)
		return false;
	if (family == 's') {
		parts = parts_of(row, cell->value);
		*seen += parts;
		return parts > 0;
	}
	if (family == 'd' || (family == 'e' && row < WRITTEN - LATER))
		++*back;
	else
		++*seen;
	return bytes_equal(cell->value, value_of(row, family, text));
}

const char *ruin_look(struct store *s, unsigned int *missing,
		      unsigned int *back)
{
	struct scan_range range = { .table = BYTES_NONE };
	const char *problem = NULL;
	struct schema *schema;
	unsigned int seen = 0;
	struct scan *scan;
	struct cell cell;
	int err;

	range.table = table_of(s, &schema);
	*back = 0;
	err = range.table.size ? scan_open(s, NULL, &range, &scan) : 1;
	if (err == 0) {
		while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
			if (!count_cell(&cell, &seen, back))
				problem = "a cell was never there";
		scan_close(scan);
	}
	schema_put(schema);
	*missing = RUIN_CELLS - seen;
	return err < 0 ? "the new store cannot be read" : problem;
}

const char *ruin_look_at(struct volume *v, unsigned int *missing,
			 unsigned int *back)
{
	struct store_options o;
	const char *problem;
	struct store *s;

	ruin_options(&o);
	o.create = false;
	if (store_open_volume(v, &o, &s) < 0)
		return "the new store cannot be opened";
	problem = ruin_look(s, missing, back);
	must(store_close(s), "close");
	return problem;
}
