#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/store.h"
#include "tests/unit/suite.h"

/*
 * Writers, readers and the background thread at once. A writer commits the same
 * number to all rows of its family together, so a reader that sees two numbers
 * in one scan, or a smaller one than before, has seen a commit in part. Made to
 * be run with the thread sanitizer too.
 */
#define WRITERS 2
#define READERS 3
#define ROWS 8
#define COMMITS 1000

static char directory[64];
static struct store *store;
static _Atomic unsigned int writing;
static _Atomic int problems;

static void set_up(void)
{
	strcpy(directory, "/tmp/test-concurrent-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	writing = WRITERS;
	problems = 0;
}

static void open_store(bool large)
{
	struct family_spec families[WRITERS] = {
		{ .name = BYTES_LITERAL("f0") },
		{ .name = BYTES_LITERAL("f1") },
	};
	struct store_options o;

	store_options_init(&o);
	o.create = true;
	o.memtable_size = 16 << 10;
	o.file_size = 8 << 10;
	o.cache_size = 64 << 10;
	o.sync_interval_ms = 5;
	if (large) {
		o.blob_threshold = 200;
		o.blob_chunk_size = 128;
		o.blob_file_size = 8 << 10;
	}
	ck_assert_int_eq(store_open(directory, &o, &store), 0);
	ck_assert_int_eq(store_create_table(store, bytes_string("t"), false,
					    families, WRITERS),
			 0);
}

static void tear_down(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void problem(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, err_detail());
	problems++;
}

static int commit(struct write *w, struct bytes family, uint64_t number)
{
	char row[16];
	uint8_t value[300] = { 0 };
	unsigned int i;
	int err = 0;

	put_u64le(value, number);
	for (i = 0; i < ROWS && err == 0; i++) {
		snprintf(row, sizeof(row), "row%u", i);
		err = write_row(w, bytes_string("t"), bytes_string(row));
		/* Now and then the old versions go. */
		if (err == 0 && number % 7 == 0)
			err = write_delete_family(w, family);
		if (err == 0)
			err = write_set(w, family, bytes_string("q"), number,
					bytes_of(value, sizeof(value)));
	}
	return err < 0 ? err : store_commit(store, w, number % 20 == 0);
}

static void *run_writer(void *context)
{
	const char *family = context;
	struct write *w;
	uint64_t number;

	if (write_new(store, &w) < 0) {
		problem("write_new");
		return NULL;
	}
	for (number = 1; number <= COMMITS && !problems; number++)
		if (commit(w, bytes_string(family), number) < 0)
			problem("commit");
	write_free(w);
	writing--;
	return NULL;
}

/* The newest number of each family, which all rows must have; 0 is none. */
static int read_numbers(const struct snapshot *snapshot, uint64_t *numbers)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int rows[WRITERS] = { 0 }, family;
	struct scan *scan;
	struct cell cell;
	uint64_t number;
	int found;

	memset(numbers, 0, WRITERS * sizeof(*numbers));
	found = scan_open(store, snapshot, &range, &scan);
	if (found < 0)
		return found;
	while ((found = scan_next(scan, CURSOR_COLUMN, &cell)) == 1) {
		family = cell.family.data[1] - '0';
		number = get_u64le(cell.value.data);
		if (rows[family]++ == 0)
			numbers[family] = number;
		if (number != numbers[family] || cell.timestamp_us != number)
			problem("a commit was seen in part");
	}
	scan_close(scan);
	for (family = 0; family < WRITERS; family++)
		if (rows[family] != 0 && rows[family] != ROWS)
			problem("rows are missing");
	return found;
}

static void *run_reader(void *context)
{
	uint64_t last[WRITERS] = { 0 }, now[WRITERS], again[WRITERS];
	struct snapshot *snapshot;
	unsigned int i;

	(void)context;
	while (writing > 0 && !problems) {
		if (store_snapshot(store, &snapshot) < 0 ||
		    read_numbers(snapshot, now) < 0 ||
		    read_numbers(NULL, again) < 0 ||
		    read_numbers(snapshot, again) < 0)
			problem("read");
		store_snapshot_release(store, snapshot);
		for (i = 0; i < WRITERS; i++) {
			if (now[i] < last[i])
				problem("a number went back");
			if (now[i] != again[i])
				problem("a snapshot changed");
			last[i] = now[i];
		}
	}
	return NULL;
}

static void run(bool large)
{
	static char families[WRITERS][3] = { "f0", "f1" };
	pthread_t threads[WRITERS + READERS];
	uint64_t numbers[WRITERS];
	size_t i;

	open_store(large);
	for (i = 0; i < WRITERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run_writer,
						families[i]),
				 0);
	for (; i < WRITERS + READERS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, run_reader, NULL), 0);
	for (i = 0; i < WRITERS + READERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(problems, 0);
	ck_assert_int_eq(read_numbers(NULL, numbers), 0);
	for (i = 0; i < WRITERS; i++)
		ck_assert_uint_eq(numbers[i], COMMITS);
	ck_assert_int_eq(store_close(store), 0);
}

START_TEST(readers_see_whole_commits)
{
	run(false);
}
END_TEST

/* The same beside the collection of blob files. */
START_TEST(readers_see_whole_commits_of_large_values)
{
	run(true);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { readers_see_whole_commits,
				 readers_see_whole_commits_of_large_values };

	return run_suite("concurrent", set_up, tear_down, tests, 2);
}
