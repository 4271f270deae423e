#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/trouble.h"
#include "store/engine/run/room.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem_state.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * A full disk: that memtables have their room, and what comes back without new
 * space when rows are deleted that are a part of a file, or large values.
 */
#define ROWS 300

static struct volume *volume;
static struct store *store;
static uint32_t salt; /* of the bytes of rows */

static void open_store(void)
{
	struct store_options options;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.memtable_size = 2 << 20;
	options.file_size = 2 << 20;
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
}

static void set_up(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	ck_assert_int_eq(volume_mem_new(&volume), 0);
	open_store();
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* The write of a row of 2000 bytes that do not repeat. */
static struct write *row(unsigned int number)
{
	uint32_t state = number + 1 + salt;
	uint8_t data[2000];
	struct write *w;
	char key[16];
	size_t i;

	for (i = 0; i < sizeof(data); i++) {
		state = state * 1664525 + 1013904223;
		data[i] = (uint8_t)(state >> 24);
	}
	snprintf(key, sizeof(key), "r%06u", number);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(key)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"),
				   1000, bytes_of(data, sizeof(data))),
			 0);
	return w;
}

static int put(unsigned int number)
{
	struct write *w = row(number);
	int err = store_commit(store, w, false);

	write_free(w);
	return err;
}

static void delete_row(unsigned int row)
{
	struct write *w;
	char key[16];

	snprintf(key, sizeof(key), "r%06u", row);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(key)), 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static void put_all(void)
{
	unsigned int i;

	for (i = 0; i < ROWS; i++)
		ck_assert_int_eq(put(i), 0);
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
}

/* All but each fourth. */
static void delete_most(void)
{
	unsigned int i;

	for (i = 0; i < ROWS; i++)
		if (i % 4 != 0)
			delete_row(i);
}

/* Writes until that is refused, which asks for room. */
static void be_refused(void)
{
	int err;

	while ((err = put(ROWS)) == 0)
		;
	ck_assert_int_eq(err, -ENOSPC);
	delete_row(ROWS);
}

/* The disk is full. */
static void fill(void)
{
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	while (engine_step(store_engine(store)) > 0)
		;
	volume_mem_fill(volume, 1, 1);
	be_refused();
}

/* Whatever can be done. */
static void work(void)
{
	unsigned int i;

	for (i = 0; i < 1000 && engine_step(store_engine(store)) > 0; i++)
		;
	ck_assert_uint_lt(i, 1000);
}

static uint64_t sst_bytes(void)
{
	return small_store_sst_bytes(store);
}

static unsigned int count(struct snapshot *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	struct cell cell;
	unsigned int n = 0;
	int err;

	ck_assert_int_eq(scan_open(store, s, &range, &scan), 0);
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		n++;
	ck_assert_int_eq(err, 0);
	scan_close(scan);
	return n;
}

/* Space comes back, what is left is there, and deletions go on. */
static void check_freed(void)
{
	unsigned int i;

	ck_assert_uint_gt(sst_bytes(), ROWS * 2000);
	delete_most();
	fill();
	work();
	ck_assert_uint_lt(sst_bytes(), ROWS * 2000 / 2);
	ck_assert_uint_eq(count(NULL), ROWS / 4);
	for (i = 0; i < ROWS; i += 8)
		delete_row(i);
	work();
	ck_assert_int_eq(store_close(store), 0);
}

/* The store was closed: what the next one finds. */
static void check_again(void)
{
	ck_assert_uint_eq(count(NULL), ROWS / 4 - (ROWS + 7) / 8);
}

/* One memtable waits and the next is half full when there is no more room. Each
 * has a piece, whatever its log may give back. */
START_TEST(all_memtables_can_be_flushed)
{
	struct store_stats s;
	unsigned int rows = 0;

	do {
		ck_assert_int_eq(put(rows++), 0);
		store_stats(store, &s);
	} while (s.memtable_count < 2 || s.memtable_used < (3 << 20));
	ck_assert_uint_gt(mem(volume)->spare_count, 2);
	ck_assert_uint_gt(mem(volume)->spares[1], 1 << 20);
	volume_mem_fill(volume, 1, 1);
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	store_stats(store, &s);
	ck_assert_uint_lt(s.memtable_used, 1000);
	ck_assert_uint_eq(count(NULL), rows);
}
END_TEST

START_TEST(a_part_of_the_lowest_level_comes_back)
{
	put_all();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	volume_mem_keep(volume);
	check_freed();
	volume_mem_fill(volume, 0, 1);
	open_store();
	check_again();
}
END_TEST

START_TEST(a_part_of_level_0_comes_back)
{
	put_all();
	volume_mem_keep(volume);
	check_freed();
	volume_mem_fill(volume, 0, 1);
	open_store();
	check_again();
}
END_TEST

START_TEST(what_a_snapshot_sees_stays)
{
	struct snapshot *s;

	put_all();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_int_eq(store_snapshot(store, &s), 0);
	delete_most();
	fill();
	work();
	ck_assert_uint_gt(sst_bytes(), ROWS * 2000);
	ck_assert_uint_eq(count(s), ROWS);
	store_snapshot_release(store, s);
	be_refused();
	work();
	ck_assert_uint_lt(sst_bytes(), ROWS * 2000 / 2);
	ck_assert_uint_eq(count(NULL), ROWS / 4);
}
END_TEST

/* A load of all rows. */
/* There is a reader when all is merged, and another one whenever room is wanted
 * after that, so many times: bytes that merges write then. */
static uint64_t written_beside_readers(unsigned int turns)
{
	struct engine *e = store_engine(store);
	struct snapshot *last, *next;
	uint64_t before;

	ck_assert_int_eq(store_snapshot(store, &last), 0);
	put_all();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	before = atomic_load(&e->counters.merged_size);
	while (turns-- > 0) {
		ck_assert_int_eq(store_snapshot(store, &next), 0);
		store_snapshot_release(store, last);
		last = next;
		/* So that what is written next is not all that it sees. */
		delete_row(ROWS);
		engine_want_room(e);
		work();
	}
	store_snapshot_release(store, last);
	return atomic_load(&e->counters.merged_size) - before;
}

/* Once, and not again and again beside readers that come and go. */
START_TEST(what_readers_kept_comes_back)
{
	struct snapshot *s;
	uint64_t size;

	put_all();
	ck_assert_int_eq(store_snapshot(store, &s), 0);
	salt = ROWS;
	put_all();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	size = sst_bytes();
	ck_assert_uint_gt(size, 2 * ROWS * 2000);
	store_snapshot_release(store, s);
	engine_want_room(store_engine(store));
	work();
	ck_assert_uint_lt(sst_bytes(), size / 3 * 2);
	ck_assert_uint_eq(count(NULL), ROWS);
	ck_assert_uint_lt(written_beside_readers(10), size);
}
END_TEST

static int load(void)
{
	struct bulk_load *l;
	struct write *w;
	unsigned int i;
	int err = 1;

	ck_assert_int_eq(store_bulk_begin(store, &l), 0);
	for (i = 0; i < ROWS && err == 1; i++) {
		w = row(i);
		err = store_bulk_add(l, w);
		write_free(w);
	}
	if (err == 1)
		err = store_bulk_publish(l);
	store_bulk_free(l);
	return err;
}

/* A value that is stored in chunks. */
static int put_large(void)
{
	static const uint8_t data[200000];
	struct write *w;
	int err;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("large")),
			 0);
	err = write_set(w, bytes_string("f"), bytes_string("q"), 1000,
			bytes_of(data, sizeof(data)));
	if (err == 0)
		err = store_commit(store, w, false);
	write_free(w);
	return err;
}

/* A 16th of the disk, of any kind of data. */
START_TEST(data_leaves_room_for_compactions)
{
	const uint64_t left = 64 << 20;

	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	volume_mem_available(volume, left);
	ck_assert_int_eq(load(), -ENOSPC);
	ck_assert_int_eq(put_large(), -ENOSPC);
	be_refused();
	ck_assert_uint_eq(count(NULL), 0);
	volume_mem_available(volume, left + (10 << 20));
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(put_large(), 0);
	ck_assert_int_eq(put(0), 0);
	ck_assert_uint_eq(count(NULL), ROWS + 1);
}
END_TEST

/* Each by a range tombstone of its own, with gaps between them. */
START_TEST(files_of_deleted_rows_go_without_any_sst)
{
	unsigned int i;

	/* The schema has a file of its own. */
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	put_all();
	for (i = 0; i < ROWS; i++)
		delete_row(i);
	fill();
	volume_mem_fill_suffix(volume, ".sst");
	be_refused();
	work();
	ck_assert_uint_lt(sst_bytes(), ROWS * 2000 / 8);
	ck_assert_uint_eq(count(NULL), 0);
	volume_mem_fill_suffix(volume, NULL);
}
END_TEST

START_TEST(a_dropped_table_goes_without_any_sst)
{
	/* The schema has a file of its own. */
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	put_all();
	fill();
	volume_mem_fill_suffix(volume, ".sst");
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	work();
	ck_assert_uint_lt(sst_bytes(), ROWS * 2000 / 8);
	volume_mem_fill_suffix(volume, NULL);
}
END_TEST

/* Large values, until there is no room. How many there are. */
static unsigned int fill_large(void)
{
	static uint8_t data[300000];
	unsigned int rows = 0;
	struct write *w;
	char key[16];
	int err = 0;

	while (err == 0) {
		if (rows == 20)
			volume_mem_fill(volume, 1, 1);
		snprintf(key, sizeof(key), "r%06u", rows++);
		ck_assert_int_eq(write_new(store, &w), 0);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string(key)), 0);
		err = write_set(w, bytes_string("f"), bytes_string("q"), 1000,
				bytes_of(data, sizeof(data)));
		if (err == 0)
			err = store_commit(store, w, false);
		write_free(w);
	}
	ck_assert_int_eq(err, -ENOSPC);
	return rows - 1;
}

static void check_no_blobs(void)
{
	struct store_stats s;

	store_stats(store, &s);
	ck_assert_uint_eq(s.blob_count, 0);
}

START_TEST(large_values_come_back)
{
	unsigned int rows = fill_large(), i;

	for (i = 0; i < rows; i++)
		delete_row(i);
	ck_assert_uint_eq(fill_large(), 0);
	work();
	check_no_blobs();
}
END_TEST

/* Nobody is refused any more once rows are deleted. */
START_TEST(large_values_come_back_by_themselves)
{
	unsigned int rows = fill_large(), i;

	work();
	for (i = 0; i < rows; i++)
		delete_row(i);
	engine_room_tick(store_engine(store));
	work();
	check_no_blobs();
}
END_TEST

START_TEST(deletions_of_a_former_life_give_room)
{
	put_all();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	delete_most();
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	volume_mem_keep(volume);
	ck_assert_int_eq(store_close(store), 0);
	volume_mem_fill(volume, 1, 1);
	open_store();
	work();
	ck_assert_uint_lt(sst_bytes(), ROWS * 2000 / 2);
	ck_assert_uint_eq(count(NULL), ROWS / 4);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		all_memtables_can_be_flushed,
		a_part_of_the_lowest_level_comes_back,
		a_part_of_level_0_comes_back,
		what_a_snapshot_sees_stays,
		what_readers_kept_comes_back,
		data_leaves_room_for_compactions,
		files_of_deleted_rows_go_without_any_sst,
		a_dropped_table_goes_without_any_sst,
		large_values_come_back,
		large_values_come_back_by_themselves,
		deletions_of_a_former_life_give_room,
	};

	return run_suite("full", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
