#include "tests/sim/ruin.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"

#define VALUE_SIZE 900

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

/* Families: a has small values, b large ones, d what is deleted again. */
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

static void write_one(struct store *s, unsigned int row)
{
	struct write *w;
	char key[16];

	snprintf(key, sizeof(key), "row%03u", row);
	must(write_new(s, &w), "write");
	must(write_row(w, bytes_string("t"), bytes_string(key)), "row");
	set(w, row, 'a');
	set(w, row, 'b');
	set(w, row, 'd');
	must(store_commit(s, w, false), "commit");
	must(write_row(w, bytes_string("t"), bytes_string(key)), "row");
	if (row % 2)
		must(write_delete_family(w, bytes_string("d")), "delete");
	else
		must(write_delete_cells(w, bytes_string("d"), bytes_string("q"),
					0, 0),
		     "delete");
	must(store_commit(s, w, false), "commit");
	write_free(w);
}

static void load_bulk(struct store *s, unsigned int from, unsigned int to)
{
	struct bulk_load *load;
	struct write *w;
	char key[16];

	must(store_bulk_begin(s, &load), "bulk");
	must(write_new(s, &w), "write");
	for (; from < to; from++) {
		snprintf(key, sizeof(key), "row%03u", from);
		must(write_row(w, bytes_string("t"), bytes_string(key)), "row");
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
	struct family_spec specs[3] = { { .name = BYTES_LITERAL("a") },
					{ .name = BYTES_LITERAL("b") },
					{ .name = BYTES_LITERAL("d") } };
	struct store_options o;
	struct volume *v;
	struct store *s;
	unsigned int row;

	must(volume_mem_new(&v), "volume");
	volume_mem_keep(v);
	ruin_options(&o);
	must(store_open_volume(v, &o, &s), "open");
	must(store_create_table(s, bytes_string("t"), false, specs, 3),
	     "create table");
	for (row = 0; row < RUIN_ROWS - 20; row++) {
		write_one(s, row);
		if (row == 40)
			must(store_compact(s, BYTES_NONE), "compact");
		if (row == 60 || row == 80)
			must(engine_flush(store_engine(s)), "flush");
	}
	load_bulk(s, RUIN_ROWS - 20, RUIN_ROWS);
	must(store_close(s), "close");
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

const char *ruin_look(struct store *s, unsigned int *missing,
		      unsigned int *back)
{
	struct scan_range range = { .table = BYTES_NONE };
	char text[VALUE_SIZE + 1], family;
	const char *problem = NULL;
	unsigned int row, seen = 0;
	struct schema *schema;
	struct scan *scan;
	struct cell cell;
	int err;

	range.table = table_of(s, &schema);
	*back = 0;
	*missing = 2 * RUIN_ROWS;
	err = range.table.size ? scan_open(s, NULL, &range, &scan) : 1;
	if (err == 0) {
		while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
			family = (char)cell.family.data[0];
			if (sscanf((const char *)cell.row.data, "row%3u",
				   &row) != 1 ||
			    row >= RUIN_ROWS ||
			    cell.timestamp_us != 1000 + row ||
			    !bytes_equal(cell.value,
					 value_of(row, family, text)))
				problem = "a cell was never there";
			seen += family != 'd';
			*back += family == 'd';
		}
		scan_close(scan);
	}
	schema_put(schema);
	*missing -= seen;
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
