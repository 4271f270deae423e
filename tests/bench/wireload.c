#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/grpc_client.h"
#include "tools/serve/proto/messages.h"

/*
 * Work for a server of Bigtable's API, by one connection and one call after
 * another:
 *
 *	wireload ADDRESS TABLE WORK COUNT
 *
 *	create  the table, with a family f
 *	batch   COUNT cells by MutateRows, a row of five of eight bytes in an
 *	        entry, 1,000 cells in a request
 *	scan    all cells, COUNT times
 *	set     COUNT times one cell by MutateRow, of rows that there are
 *	get     COUNT times one row of five cells by ReadRows
 *
 * Prints how many cells, or of the last two calls, that were, the seconds, and
 * the median of a call in microseconds.
 */
#define COLUMNS 5
#define ENTRIES 200
#define WINDOW (8 << 20)
#define INSTANCE "projects/p/instances/i"

static struct grpc_client client;
static struct bytes table;
static double *took; /* of each call, in microseconds */
static size_t took_count;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* One call; the size of what it answered. */
static size_t call(const char *path, const struct proto_type *type,
		   const void *request)
{
	struct grpc_call one = { .path = path };
	struct buf message = BUF_INIT;
	double began;
	size_t size;

	if (proto_encode(type, request, &message))
		abort();
	one.message = buf_bytes(&message);
	began = now();
	if (grpc_do(&client, &one) != 0) {
		fprintf(stderr, "wireload: %s: %d %s\n", path, one.status,
			one.text);
		exit(1);
	}
	took = realloc(took, (took_count + 1) * sizeof(*took));
	if (!took)
		abort();
	took[took_count++] = now() - began;
	size = one.body.size;
	grpc_release(&one);
	buf_release(&message);
	return size;
}

/* Scattered, and the same in each run. */
static struct bytes row_key(size_t i, char out[17])
{
	snprintf(out, 17, "%016llx",
		 (unsigned long long)i * 0x9e3779b97f4a7c15);
	return bytes_of(out, 16);
}

static void create(void)
{
	struct proto_column_family family = { .gc_rule = NULL };
	struct proto_column_family_entry entry = { BYTES_LITERAL("f"), &family,
						   0 };
	struct proto_table t = { .column_families = { &entry, 1 } };
	struct proto_create_table q = {
		.parent = BYTES_LITERAL(INSTANCE),
		.table_id = bytes_after(table, sizeof(INSTANCE "/tables/") - 1),
		.table = &t,
	};

	call("/google.bigtable.admin.v2.BigtableTableAdmin/CreateTable",
	     &proto_create_table_type, &q);
}

static struct proto_set_cell cell_of(unsigned int column, const char *value)
{
	static const char names[COLUMNS][2] = { "a", "b", "c", "d", "e" };

	return (struct proto_set_cell){
		.family_name = BYTES_LITERAL("f"),
		.column_qualifier = bytes_of(names[column], 1),
		.timestamp_micros = 1700000000000000,
		.value = bytes_of(value, 8),
	};
}

static void batch(size_t count)
{
	static struct proto_mutate_entry entries[ENTRIES];
	static struct proto_mutation mutations[ENTRIES][COLUMNS];
	static struct proto_set_cell cells[ENTRIES][COLUMNS];
	static char keys[ENTRIES][17], values[ENTRIES][9];
	struct proto_mutate_rows q = { .table_name = table,
				       .entries = { entries, ENTRIES } };
	size_t at, i;
	unsigned int j;

	for (at = 0; at < count / COLUMNS; at += ENTRIES) {
		for (i = 0; i < ENTRIES; i++) {
			snprintf(values[i], sizeof(values[i]), "%08zu",
				 (at + i) % 100000000);
			entries[i].row_key = row_key(at + i, keys[i]);
			entries[i].mutations.at = mutations[i];
			entries[i].mutations.count = COLUMNS;
			for (j = 0; j < COLUMNS; j++) {
				cells[i][j] = cell_of(j, values[i]);
				mutations[i][j].mutation_case =
					nr_mutation_set_cell;
				mutations[i][j].set_cell = &cells[i][j];
			}
		}
		call("/google.bigtable.v2.Bigtable/MutateRows",
		     &proto_mutate_rows_type, &q);
	}
}

static void scan(size_t times)
{
	struct proto_read_rows q = { .table_name = table };

	while (times-- > 0)
		if (call("/google.bigtable.v2.Bigtable/ReadRows",
			 &proto_read_rows_type, &q) == 0)
			exit(1);
}

static void set(size_t count)
{
	struct proto_set_cell cell = cell_of(0, "changed.");
	struct proto_mutation mutation = { .mutation_case =
						   nr_mutation_set_cell,
					   .set_cell = &cell };
	struct proto_mutate_row q = { .table_name = table,
				      .mutations = { &mutation, 1 } };
	char key[17];
	size_t i;

	for (i = 0; i < count; i++) {
		q.row_key = row_key(i, key);
		call("/google.bigtable.v2.Bigtable/MutateRow",
		     &proto_mutate_row_type, &q);
	}
}

static void get(size_t count)
{
	struct bytes row;
	struct proto_row_set set = { .row_keys = { &row, 1 } };
	struct proto_read_rows q = { .table_name = table, .rows = &set };
	char key[17];
	size_t i;

	for (i = 0; i < count; i++) {
		row = row_key(i, key);
		if (call("/google.bigtable.v2.Bigtable/ReadRows",
			 &proto_read_rows_type, &q) == 0)
			exit(1);
	}
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
					  WINDOW };
	char name[200];
	size_t count;
	double began;

	if (argc != 5)
		return 2;
	snprintf(name, sizeof(name), INSTANCE "/tables/%s", argv[2]);
	table = bytes_string(name);
	count = strtoul(argv[4], NULL, 10);
	grpc_open(&client, argv[1]);
	if (nghttp2_submit_settings(client.session, NGHTTP2_FLAG_NONE, &window,
				    1) ||
	    nghttp2_session_set_local_window_size(client.session,
						  NGHTTP2_FLAG_NONE, 0, WINDOW))
		return 1;
	began = now();
	if (!strcmp(argv[3], "create"))
		create();
	else if (!strcmp(argv[3], "batch"))
		batch(count);
	else if (!strcmp(argv[3], "scan"))
		scan(count);
	else if (!strcmp(argv[3], "set"))
		set(count);
	else
		get(count);
	began = now() - began;
	qsort(took, took_count, sizeof(*took), compare);
	printf("%zu %.3f %.1f\n", count, began / 1e6, took[took_count / 2]);
	grpc_close(&client);
	free(took);
	return 0;
}
