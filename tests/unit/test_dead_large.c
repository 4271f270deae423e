#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/trouble.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * The room of large values comes back when they were deleted: by itself, by a
 * compaction, and piece by piece where little is free. A store without a
 * background, whose ticks and steps are called by hand, each tick a second.
 */
#define SIZE 2000 /* of a value that is large */
#define COUNT 19  /* of them */
#define IDLE 12   /* ticks until deletions are flushed, and more */

static struct volume *volume;
static struct store *store;
static struct store_options options;

/* With blob files of so many bytes. */
static void begin(uint64_t blob_file_size)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	small_store_options(&options);
	options.blob_file_size = blob_file_size;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
}

/* All values in one file. */
static void set_up(void)
{
	begin(1 << 20);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static void reopen(void)
{
	volume_mem_keep(volume);
	ck_assert_int_eq(store_close(store), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
}

static struct bytes column(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "q%06u", i);
	return bytes_string(name);
}

/* A write of a row of this name, too. */
static struct write *write_at(unsigned int i)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), column(i)), 0);
	return w;
}

static void commit(struct write *w)
{
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* Rows from first on, each a column, with values of so many bytes that do not
 * repeat. */
static void fill(unsigned int first, unsigned int count, size_t size)
{
	uint8_t data[SIZE];
	uint32_t state = first + 1;
	unsigned int i;
	size_t j;

	for (i = first; i < first + count; i++) {
		struct write *w = write_at(i);

		for (j = 0; j < size; j++) {
			state = state * 1664525 + 1013904223;
			data[j] = (uint8_t)(state >> 24);
		}
		ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"), column(i),
					   1000, bytes_of(data, size)),
				 0);
		commit(w);
	}
}

/* Every step-th of them. */
static void delete_cells(unsigned int count, unsigned int step)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct write *w = write_at(i * step);

		ck_assert_int_eq(write_delete_cells(w, BYTES_LITERAL("f"),
						    column(i * step), 0, 0),
				 0);
		commit(w);
	}
}

/* How many large values there is room taken for. */
static unsigned int taken(void)
{
	return (unsigned int)(small_store_stats(store).blob_size / SIZE);
}

static unsigned int count_cells(void)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	struct cell cell;
	unsigned int n = 0;

	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		n++;
	scan_close(scan);
	return n;
}

/* Neither values nor deletions have been flushed. */
START_TEST(deleted_ones_come_back)
{
	fill(0, COUNT, SIZE);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT);
	delete_cells(8, 1);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT - 8);
	ck_assert_uint_eq(count_cells(), COUNT - 8);
}
END_TEST

START_TEST(and_all_of_them)
{
	fill(0, COUNT, SIZE);
	delete_cells(COUNT, 1);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), 0);
}
END_TEST

START_TEST(flushed_ones_come_back)
{
	fill(0, COUNT, SIZE);
	small_store_flush(store);
	delete_cells(3, 1);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT - 3);
	ck_assert_uint_eq(count_cells(), COUNT - 3);
}
END_TEST

/* What is known of garbage and of deletions is known after opening, too. */
START_TEST(they_come_back_after_opening)
{
	fill(0, COUNT, SIZE);
	delete_cells(8, 1);
	reopen();
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT - 8);
	delete_cells(12, 1);
	small_store_flush(store);
	reopen();
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT - 12);
	ck_assert_uint_eq(count_cells(), COUNT - 12);
}
END_TEST

/* No deletion tells of these: of what was not flushed nobody knows which is
 * garbage. */
START_TEST(overwritten_ones_come_back)
{
	fill(0, COUNT, SIZE);
	fill(0, COUNT, SIZE);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT);
	fill(0, COUNT, SIZE);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT);
	ck_assert_uint_eq(count_cells(), COUNT);
}
END_TEST

START_TEST(and_after_opening)
{
	fill(0, COUNT, SIZE);
	fill(0, COUNT, SIZE);
	reopen();
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT);
	ck_assert_uint_eq(count_cells(), COUNT);
}
END_TEST

/* A few bytes are not worth a flush each time that nobody writes. */
START_TEST(one_that_is_overwritten_waits)
{
	uint64_t flushes;

	fill(0, 1, SIZE);
	flushes = small_store_stats(store).flush_count;
	fill(0, 1, SIZE);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(small_store_stats(store).flush_count, flushes);
}
END_TEST

/* Of many cells few are large: what counts is bytes, in the memtable and in
 * files. */
static void beside_small_ones(bool flushed)
{
	fill(1000, 4000, 20);
	fill(0, COUNT * 4, SIZE);
	small_store_flush(store);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	delete_cells(COUNT * 2, 1);
	if (flushed)
		small_store_flush(store);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT * 2);
	ck_assert_uint_eq(count_cells(), 4000 + COUNT * 2);
}

START_TEST(few_among_many_cells_come_back)
{
	beside_small_ones(false);
}
END_TEST

START_TEST(few_that_were_flushed_come_back)
{
	beside_small_ones(true);
}
END_TEST

/* Less than an eighth of all is not worth what is moved; but a compaction that
 * was asked for moves it. */
START_TEST(a_compaction_frees_more)
{
	uint64_t compacted;

	fill(0, COUNT, SIZE);
	small_store_flush(store);
	delete_cells(2, 1);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(taken(), COUNT);
	small_store_flush(store);
	compacted = small_store_stats(store).compacted_size;
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(small_store_stats(store).compacted_size, compacted);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	small_store_work(store);
	ck_assert_uint_eq(taken(), COUNT - 2);
	ck_assert_uint_eq(count_cells(), COUNT - 2);
}
END_TEST

/* Beside writers a file is moved when half of it is garbage, no sooner. */
START_TEST(writers_are_left_alone)
{
	unsigned int i;

	fill(0, COUNT, SIZE);
	delete_cells(8, 1);
	small_store_flush(store);
	for (i = 0; i < IDLE; i++) {
		fill(1000, 1, 20);
		small_store_wait(store, 1);
	}
	ck_assert_uint_eq(taken(), COUNT);
}
END_TEST

/* In each file every second value was deleted, and there is room to empty one.
 * The files that are emptied make it for the next. */
static void fill_a_disk(uint64_t left)
{
	tear_down();
	begin(4 * SIZE);
	fill(0, 40, SIZE);
	small_store_flush(store);
	ck_assert_uint_ge(small_store_stats(store).blob_count, 8);
	delete_cells(20, 2);
	volume_mem_available(volume, left);
}

START_TEST(a_full_disk_gets_room_in_pieces)
{
	fill_a_disk(5 * SIZE);
	store_want_room(store);
	small_store_work(store);
	ck_assert_uint_le(taken(), 22);
	ck_assert_uint_eq(count_cells(), 20);
}
END_TEST

START_TEST(a_compaction_says_what_it_lacks)
{
	fill_a_disk(SIZE);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), -ENOSPC);
	ck_assert_uint_eq(count_cells(), 20);
	/* That is no trouble that others are refused for. */
	ck_assert_int_eq(engine_no_room(store_engine(store)), 0);
	volume_mem_available(volume, 5 * SIZE);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	small_store_work(store);
	ck_assert_uint_le(taken(), 22);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		deleted_ones_come_back,
		and_all_of_them,
		flushed_ones_come_back,
		they_come_back_after_opening,
		overwritten_ones_come_back,
		and_after_opening,
		one_that_is_overwritten_waits,
		few_among_many_cells_come_back,
		few_that_were_flushed_come_back,
		a_compaction_frees_more,
		writers_are_left_alone,
		a_full_disk_gets_room_in_pieces,
		a_compaction_says_what_it_lacks,
	};

	return run_suite("dead_large", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
