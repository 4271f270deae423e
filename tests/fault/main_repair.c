#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"

/*
 * The sweep of repairs: every n-th bit of every file of a small store is
 * flipped, each file is cut in half and taken away, the root and the edit log
 * too; then the store is repaired. The new store has to be whole. What it lacks
 * or has too much has to have been told; no cell may have a value that it never
 * had; and one bit may not cost more than a block, or one value of which it was
 * a part.
 *
 *   main_repair [every-n-th-bit]
 */
#define ROWS 120
#define VALUE_SIZE 900

struct sweep {
	struct volume *volume;
	unsigned int passed, failed;
	unsigned int told;     /* by the repair under way */
	unsigned int unharmed; /* repairs that lost nothing */
	unsigned int most_missing;
};

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	printf("%s: %s: %s\n", what, err_detail(), err_text(err));
	exit(EXIT_FAILURE);
}

static void options(struct store_options *o)
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

static struct volume *build(void)
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
	options(&o);
	must(store_open_volume(v, &o, &s), "open");
	must(store_create_table(s, bytes_string("t"), false, specs, 3),
	     "create table");
	for (row = 0; row < ROWS - 20; row++) {
		write_one(s, row);
		if (row == 40)
			must(store_compact(s, BYTES_NONE), "compact");
		if (row == 60 || row == 80)
			must(engine_flush(store_engine(s)), "flush");
	}
	load_bulk(s, ROWS - 20, ROWS);
	must(store_close(s), "close");
	return v;
}

static void tell(void *context, const char *text)
{
	struct sweep *w = context;

	w->told++;
	if (getenv("VERBOSE"))
		printf("    %s\n", text);
}

/* The table that now has the rows: its own, or one that was given a name. */
static struct bytes table_of(struct store *s, struct schema **schema)
{
	*schema = store_schema(s);
	return (*schema)->table_count == 1 ? (*schema)->tables[0].name
					   : BYTES_NONE;
}

/* Whether every cell is one that was there; counts what is missing and what
 * was deleted. */
static const char *look(struct store *s, unsigned int *missing,
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
	*missing = 2 * ROWS;
	err = range.table.size ? scan_open(s, NULL, &range, &scan) : 1;
	if (err == 0) {
		while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
			family = (char)cell.family.data[0];
			if (sscanf((const char *)cell.row.data, "row%3u",
				   &row) != 1 ||
			    row >= ROWS || cell.timestamp_us != 1000 + row ||
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

static const char *repair(struct sweep *w, unsigned int *missing)
{
	struct repair_result result;
	struct volume *from, *to;
	struct store_options o;
	const char *problem;
	struct store *s;
	unsigned int back;
	int err;

	must(volume_mem_kill_clone(w->volume, &from), "clone");
	must(volume_mem_new(&to), "volume");
	volume_mem_keep(to);
	w->told = 0;
	err = store_repair_volume(from, to, tell, w, &result);
	from->ops->close(from);
	if (err < 0) {
		to->ops->close(to);
		/* That may be said of a file that names a later version. */
		return err == -ERR_format_newer ? NULL
						: "it cannot be repaired";
	}
	options(&o);
	o.create = false;
	err = store_open_volume(to, &o, &s);
	if (err < 0)
		return "the new store cannot be opened";
	problem = look(s, missing, &back);
	must(store_close(s), "close");
	if (!problem && (*missing || back) && w->told == 0)
		problem = "a loss was not told";
	if (!problem && *missing == 0 && back == 0)
		w->unharmed++;
	return problem;
}

static void judge(struct sweep *w, const char *file, const char *what,
		  size_t where, unsigned int most)
{
	unsigned int missing = 0;
	const char *problem = repair(w, &missing);

	if (!problem && missing > most)
		problem = "too much is lost";
	if (missing > w->most_missing)
		w->most_missing = missing;
	if (problem) {
		printf("%s: %s %zu: %s: %u cells are missing: %s\n", file, what,
		       where, problem, missing, err_detail());
		w->failed++;
	} else {
		w->passed++;
	}
}

struct names {
	char names[100][VOLUME_NAME_MAX + 1];
	size_t count;
};

static int add_name(void *context, const char *name)
{
	struct names *n = context;

	if (n->count < 100)
		snprintf(n->names[n->count++], VOLUME_NAME_MAX + 1, "%s", name);
	return 0;
}

static void damage(struct sweep *w, const char *name, size_t every)
{
	struct bytes content = volume_mem_file(w->volume, name);
	struct volume *whole = w->volume;
	size_t bit;

	for (bit = 3; bit < content.size * 8; bit += every) {
		uint8_t *byte = (uint8_t *)(uintptr_t)content.data + bit / 8;

		*byte ^= (uint8_t)(1 << bit % 8);
		judge(w, name, "bit", bit, 100);
		*byte ^= (uint8_t)(1 << bit % 8);
	}
	if (strcmp(name, "root") == 0)
		return;
	w->volume = build(); /* a clone would share the bytes */
	volume_mem_truncate(w->volume, name, content.size / 2);
	judge(w, name, "cut to", content.size / 2, 2 * ROWS);
	must(w->volume->ops->remove(w->volume, name), "remove");
	judge(w, name, "removed, of", content.size, 2 * ROWS);
	w->volume->ops->close(w->volume);
	w->volume = whole;
}

int main(int argc, char **argv)
{
	size_t every = argc > 1 ? strtoull(argv[1], NULL, 0) : 211, i;
	struct sweep w = { .volume = build() };
	struct names names = { .count = 0 };

	judge(&w, "all", "whole", 0, 0);
	if (w.told > 0 || w.unharmed != 1)
		w.failed++;
	must(w.volume->ops->list(w.volume, add_name, &names), "list");
	add_name(&names, "root");
	for (i = 0; i < names.count; i++)
		damage(&w, names.names[i], every ? every : 1);
	w.volume->ops->close(w.volume);
	printf("%zu files, %u repairs lost nothing, most cells lost: %u\n",
	       names.count, w.unharmed, w.most_missing);
	printf("%u passed, %u failed, 0 skipped\n", w.passed, w.failed);
	return w.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
