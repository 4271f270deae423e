#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/backup.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * The engine over time and beside a full disk: what stays behind, what a
 * failure in the middle of two things leaves, what opening needs.
 */
static struct volume *volume;
static struct store *store;
static struct store_options options;

static void open_store(void)
{
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
}

static void set_up(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	small_store_options(&options);
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

/* Goes on with the store as a kill at this moment leaves it. */
static void kill_store(void)
{
	struct volume *clone;

	ck_assert_int_eq(volume_mem_kill_clone(volume, &clone), 0);
	ck_assert_int_eq(store_close(store), 0);
	volume = clone;
}

/* size bytes that do not repeat, other ones for each number. */
static struct bytes value(unsigned int number, size_t size)
{
	static uint8_t data[100000];
	uint32_t state = number + 1;
	size_t i;

	ck_assert_uint_le(size, sizeof(data));
	for (i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		data[i] = (uint8_t)(state >> 24);
	}
	return bytes_of(data, size);
}

static void add(struct write *w, const char *prefix, unsigned int row,
		uint64_t timestamp, size_t size)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%06u", prefix, row);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(key)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"),
				   timestamp, value(row, size)),
			 0);
}

static int put(const char *prefix, unsigned int row, size_t size, bool sync)
{
	struct write *w;
	int err;

	ck_assert_int_eq(write_new(store, &w), 0);
	add(w, prefix, row, 1000, size);
	err = store_commit(store, w, sync);
	write_free(w);
	return err;
}

/* A load of so many rows, not published. */
static struct bulk_load *load(const char *prefix, unsigned int rows,
			      uint64_t timestamp, size_t size)
{
	struct bulk_load *l;
	struct write *w;
	unsigned int i;

	ck_assert_int_eq(store_bulk_begin(store, &l), 0);
	ck_assert_int_eq(write_new(store, &w), 0);
	for (i = 0; i < rows; i++) {
		add(w, prefix, i, timestamp, size);
		ck_assert_int_eq(store_bulk_add(l, w), 1);
	}
	write_free(w);
	return l;
}

static void publish(struct bulk_load *l)
{
	ck_assert_int_eq(store_bulk_publish(l), 0);
	store_bulk_free(l);
}

/* Publishes on a disk that is full from the mark of the load in the log on:
 * first as far as the edit, then with room for that alone. */
static void publish_unmarked(struct bulk_load *l)
{
	unsigned int n;

	volume_mem_no_room(volume);
	for (n = 1; !strstr(err_detail(), ".edits"); n++) {
		volume_mem_fill(volume, n, 1);
		ck_assert_int_eq(store_bulk_publish(l), -ENOSPC);
	}
	volume_mem_fill(volume, 2, 1);
	ck_assert_int_eq(store_bulk_publish(l), 0);
	ck_assert(volume_mem_failed(volume));
	volume_mem_fail(volume, 0, 0, false, 0);
	store_bulk_free(l);
	err_clear();
}

static unsigned int count(enum cursor_step step)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	struct cell cell;
	unsigned int n = 0;
	int err;

	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	while ((err = scan_next(scan, step, &cell)) == 1)
		n++;
	ck_assert_int_eq(err, 0);
	scan_close(scan);
	return n;
}

static void work(void)
{
	int err;

	while ((err = engine_step(store_engine(store))) > 0)
		;
	ck_assert_int_eq(err, 0);
}

static int count_sst(void *context, const char *name)
{
	*(size_t *)context += strstr(name, ".sst") != NULL;
	return 0;
}

static struct store_stats stats(void)
{
	struct store_stats s;

	store_stats(store, &s);
	return s;
}

static uint64_t sst_bytes(void)
{
	return small_store_sst_bytes(store);
}

/* Files that no version names. */
static size_t obsolete(void)
{
	struct store_stats s = stats();
	size_t files = 0, live = 0, i;

	ck_assert_int_eq(volume->ops->list(volume, count_sst, &files), 0);
	for (i = 0; i < sizeof(s.sst_count) / sizeof(*s.sst_count); i++)
		live += s.sst_count[i];
	return files - live;
}

START_TEST(obsolete_files_go_under_load)
{
	unsigned int i;
	size_t most = 0, now;

	for (i = 0; i < 20000; i++) {
		ck_assert_int_eq(put("r", i * 7919 % 1000, 200, false), 0);
		now = obsolete();
		most = now > most ? now : most;
	}
	/* A step leaves none behind. */
	ck_assert_uint_eq(most, 0);
	ck_assert_uint_gt(stats().compaction_count, 10);
}
END_TEST

/* What a store that has become read-only knows of its manifest may not be what
 * the next opening finds, so files stay that may be named there. */
START_TEST(no_file_goes_from_a_store_in_trouble)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	unsigned int i;

	for (i = 0; i < 2000; i++)
		ck_assert_int_eq(put("r", i, 200, false), 0);
	work();
	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_uint_gt(obsolete(), 0);
	engine_poison(store_engine(store), -EIO);
	scan_close(scan);
	ck_assert_int_eq(engine_step(store_engine(store)), -EIO);
	ck_assert_uint_gt(obsolete(), 0);
	volume_mem_keep(volume);
	ck_assert_int_eq(store_close(store), -ERR_store_readonly);
	open_store();
	ck_assert_uint_eq(obsolete(), 0);
	ck_assert_uint_eq(count(CURSOR_ROW), 2000);
}
END_TEST

START_TEST(what_a_scan_holds_counts_as_obsolete)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	uint64_t size;
	struct scan *scan;
	struct cell cell;

	publish(load("r", 1000, 1000, 200));
	size = sst_bytes();
	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	work();
	ck_assert_uint_eq(stats().obsolete_size, size);
	ck_assert_uint_gt(obsolete(), 0);
	scan_close(scan);
	/* Nobody reads it, and it is still there. */
	ck_assert_uint_eq(stats().obsolete_size, size);
	work();
	ck_assert_uint_eq(stats().obsolete_size, 0);
	ck_assert_uint_eq(obsolete(), 0);
}
END_TEST

/* Two loads of which the log has no mark, as the disk was full, then a kill. */
START_TEST(loads_before_a_mark_survive)
{
	struct bulk_load *a = load("a", 500, 1000, 200);
	struct bulk_load *b = load("b", 500, 1000, 200);

	publish_unmarked(a);
	publish_unmarked(b);
	ck_assert_int_eq(put("c", 1, 10, true), 0);
	ck_assert_uint_eq(count(CURSOR_ROW), 1001);
	kill_store();
	open_store();
	ck_assert_uint_eq(count(CURSOR_ROW), 1001);
}
END_TEST

/* The same without a write in between, and a second kill while opening. */
START_TEST(lost_marks_are_made_good)
{
	struct bulk_load *a = load("a", 500, 1000, 200);
	struct bulk_load *b = load("b", 500, 1000, 200);

	publish_unmarked(a);
	publish_unmarked(b);
	kill_store();
	open_store();
	kill_store();
	open_store();
	ck_assert_int_eq(put("c", 1, 10, true), 0);
	kill_store();
	open_store();
	ck_assert_uint_eq(count(CURSOR_ROW), 1001);
}
END_TEST

/* The same, and rules hide the load, so that a compaction drops all of it. */
START_TEST(a_sequence_is_given_once)
{
	struct engine *e = store_engine(store);
	struct snapshot *snapshot;
	struct edit edit = EDIT_INIT;
	unsigned int level, life;
	uint64_t seq;
	size_t i;

	publish_unmarked(load("a", 500, 1000, 200));
	ck_assert_int_eq(store_snapshot(store, &snapshot), 0);
	seq = store_snapshot_seq(snapshot);
	store_snapshot_release(store, snapshot);
	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < e->version->levels[level].count; i++)
			ck_assert_int_eq(
				edit_remove_file(
					&edit, level,
					e->version->levels[level].files[i]->id),
				0);
	ck_assert_uint_gt(edit.removed_count, 0);
	ck_assert_int_eq(engine_apply(e, &edit), 0);
	edit_release(&edit);
	for (life = 0; life < 3; life++) {
		kill_store();
		options.read_only = life == 0;
		open_store();
		ck_assert_int_eq(store_snapshot(store, &snapshot), 0);
		ck_assert_uint_eq(store_snapshot_seq(snapshot), seq);
		store_snapshot_release(store, snapshot);
	}
	ck_assert_int_eq(put("c", 1, 10, true), 0);
	kill_store();
	open_store();
	ck_assert_uint_eq(count(CURSOR_ROW), 1);
	ck_assert_uint_eq(engine_visible_seq(store_engine(store)), seq + 1);
}
END_TEST

START_TEST(publish_may_be_tried_again)
{
	struct bulk_load *l = load("a", 1000, 1000, 200);
	unsigned int n;
	int err = -ENOSPC;

	for (n = 1; err < 0; n++) {
		volume_mem_fill(volume, n, n);
		err = store_bulk_publish(l);
		if (volume_mem_failed(volume) && err < 0)
			ck_assert_int_eq(err, -ENOSPC);
		volume_mem_fail(volume, 0, 0, false, 0);
		ck_assert_uint_eq(count(CURSOR_ROW), err < 0 ? 0 : 1000);
	}
	ck_assert_uint_gt(n, 3);
	store_bulk_free(l);
}
END_TEST

START_TEST(a_load_ends_where_its_family_aggregates)
{
	struct bulk_load *l = load("a", 500, 1000, 200);

	ck_assert_int_eq(store_set_type(store, bytes_string("t"),
					bytes_string("f"), FAMILY_INTSUM),
			 0);
	ck_assert_int_eq(store_bulk_publish(l), -ERR_type_mismatch);
	store_bulk_free(l);
	ck_assert_uint_eq(count(CURSOR_ROW), 0);
}
END_TEST

START_TEST(a_load_ends_where_its_table_has_milliseconds)
{
	struct bulk_load *l = load("a", 500, 1000, 200);

	ck_assert_int_eq(store_set_granularity(store, bytes_string("t"), true),
			 0);
	ck_assert_int_eq(store_bulk_publish(l), -ERR_bad_timestamp);
	store_bulk_free(l);
	ck_assert_uint_eq(count(CURSOR_ROW), 0);
}
END_TEST

/* An edit that drops them does not fit either where no room is held for it. */
START_TEST(blob_files_go_after_a_full_disk)
{
	struct write *w;
	unsigned int n;
	int err = -1;

	volume_mem_no_room(volume);
	ck_assert_int_eq(write_new(store, &w), 0);
	for (n = 1; err < 0; n++) {
		ck_assert_int_eq(put("r", n, 30000, true), 0);
		ck_assert_int_eq(write_delete_prefix(w, bytes_string("t"),
						     bytes_string("r")),
				 0);
		ck_assert_int_eq(store_commit(store, w, true), 0);
		volume_mem_fill(volume, n, n);
		err = store_compact(store, BYTES_NONE);
		volume_mem_fail(volume, 0, 0, false, 0);
		ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
		work();
		ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
		ck_assert_uint_eq(stats().blob_count, 0);
	}
	ck_assert_uint_gt(n, 3);
	write_free(w);
}
END_TEST

static void fail_problem(void *context, const char *problem)
{
	(void)context;
	ck_abort_msg("%s", problem);
}

/* What did not fit left nothing behind, so the same file goes on. */
START_TEST(a_full_disk_ends_no_blob_file)
{
	struct write *w;
	unsigned int n;

	ck_assert_int_eq(put("r", 0, 600, true), 0);
	for (n = 1; n < 4; n++) {
		ck_assert_int_eq(write_new(store, &w), 0);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string("full")),
			0);
		volume_mem_fill_suffix(volume, ".blob");
		ck_assert_int_eq(write_set(w, bytes_string("f"),
					   bytes_string("q"), 1000,
					   value(n, 600)),
				 -ENOSPC);
		volume_mem_fill_suffix(volume, NULL);
		write_free(w);
		ck_assert_int_eq(put("r", n, 600, true), 0);
		ck_assert_uint_eq(stats().blob_count, 1);
	}
	kill_store();
	open_store();
	ck_assert_uint_eq(count(CURSOR_ROW), 4);
	ck_assert_int_eq(store_check(store, fail_problem, NULL), 0);
}
END_TEST

START_TEST(policies_hold_where_data_comes_by_import)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	unsigned int i;
	uint64_t size;

	/* A deletion in the memtable that is older than the policy. */
	ck_assert_int_eq(put("x", 1, 10, false), 0);
	publish(load("r", 1000, 1000, 200));
	work();
	size = sst_bytes();
	ck_assert_int_eq(
		store_set_gc(store, bytes_string("t"), bytes_string("f"), one),
		0);
	for (i = 1; i < 20; i++) {
		publish(load("r", 1000, 1000 + i, 200));
		work();
	}
	ck_assert_uint_lt(sst_bytes(), 6 * size);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_uint_lt(sst_bytes(), 2 * size);
	ck_assert_uint_eq(count(CURSOR_VERSION), 1001);
	gc_policy_free(one);
}
END_TEST

START_TEST(opens_with_less_memory_than_before)
{
	unsigned int i;

	volume_mem_keep(volume);
	ck_assert_int_eq(store_close(store), 0);
	options.memtable_size = 8 << 20;
	open_store();
	for (i = 0; i < 20000; i++)
		ck_assert_int_eq(put("r", i, 250, false), 0);
	ck_assert_uint_eq(stats().flush_count, 0);
	kill_store();
	volume_mem_keep(volume);
	options.memtable_size = 64 << 10;
	options.read_only = true;
	open_store();
	ck_assert_uint_eq(count(CURSOR_ROW), 20000);
	ck_assert_int_eq(store_close(store), 0);
	options.read_only = false;
	open_store();
	ck_assert_uint_eq(count(CURSOR_ROW), 20000);
	/* It did not keep them all. */
	ck_assert_uint_lt(stats().memtable_used, 1 << 20);
}
END_TEST

START_TEST(pin_of_a_store_opened_for_reading_ends)
{
	struct buf contents = BUF_INIT;
	struct version *pin;
	unsigned int i;

	for (i = 0; i < 500; i++)
		ck_assert_int_eq(put("r", i, 50, false), 0);
	kill_store();
	options.read_only = true;
	options.memtable_size = 16 << 10;
	open_store();
	ck_assert_int_eq(engine_pin(store_engine(store), &contents, &pin),
			 -ERR_store_readonly);
	ck_assert_ptr_null(pin);
	ck_assert_uint_eq(contents.size, 0);
}
END_TEST

static void *write_large(void *done)
{
	ck_assert_int_eq(put("large", 1, 30000, false), 0);
	*(_Atomic bool *)done = true;
	return NULL;
}

/* While a backup takes its state no blob file begins, or what a compaction
 * moves into it would be missing there. */
START_TEST(no_blob_file_begins_in_a_pause)
{
	_Atomic bool done = false;
	pthread_t thread;
	unsigned int i;

	ck_assert_int_eq(put("large", 0, 3000, false), 0);
	ck_assert_int_eq(blob_pause(store_engine(store)), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, write_large, &done), 0);
	for (i = 0; i < 20; i++) {
		usleep(2000);
		ck_assert(!done);
	}
	blob_resume(store_engine(store));
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(done);
}
END_TEST

/* Reads the one aggregate at every change to the volume, so also between a
 * flush's parts. */
static void read_sum(void *context, struct volume *v)
{
	struct buf memory = BUF_INIT;
	struct cell cell;

	(void)v;
	ck_assert_int_eq(store_get(store, NULL, bytes_string("t"),
				   bytes_string("r"), bytes_string("sum"),
				   bytes_string("q"), &cell, &memory),
			 1);
	ck_assert_int_eq(aggregate_number(AGGREGATE_SUM, cell.value), 15);
	buf_release(&memory);
	++*(unsigned int *)context;
}

START_TEST(a_sum_is_read_once_during_a_flush)
{
	struct family_spec sum = { .name = BYTES_LITERAL("sum"),
				   .type = FAMILY_INTSUM };
	struct write *w;
	unsigned int reads = 0;
	int64_t i;

	ck_assert_int_eq(store_create_family(store, bytes_string("t"), &sum),
			 0);
	ck_assert_int_eq(write_new(store, &w), 0);
	for (i = 1; i <= 5; i++) {
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string("r")), 0);
		ck_assert_int_eq(write_add(w, bytes_string("sum"),
					   bytes_string("q"), 1000, i),
				 0);
		ck_assert_int_eq(store_commit(store, w, false), 0);
	}
	write_free(w);
	volume_mem_hook(volume, read_sum, &reads);
	ck_assert_int_eq(engine_flush_deletions(store_engine(store)), 0);
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	volume_mem_hook(volume, NULL, NULL);
	ck_assert_uint_gt(reads, 5);
}
END_TEST

START_TEST(an_unsorted_load_may_fill_two_tables)
{
	static const char *const tables[] = { "t", "u" };
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct scan_range range = { .table = BYTES_LITERAL("u") };
	struct bulk_load *l;
	struct write *w;
	struct scan *scan;
	struct cell cell;
	char key[32];
	unsigned int i, n = 0;

	ck_assert_int_eq(
		store_create_table(store, bytes_string("u"), false, &family, 1),
		0);
	ck_assert_int_eq(store_bulk_begin(store, &l), 0);
	ck_assert_int_eq(write_new(store, &w), 0);
	for (i = 0; i < 2000; i++) {
		snprintf(key, sizeof(key), "r%06u", i * 7919 % 2000);
		ck_assert_int_eq(write_row(w, bytes_string(tables[i % 2]),
					   bytes_string(key)),
				 0);
		ck_assert_int_eq(write_set(w, bytes_string("f"),
					   bytes_string("q"), 1000,
					   value(i, 100)),
				 0);
		ck_assert_int_eq(store_bulk_add(l, w), 1);
	}
	write_free(w);
	publish(l);
	ck_assert_uint_eq(count(CURSOR_ROW), 1000);
	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_ROW, &cell) == 1)
		n++;
	scan_close(scan);
	ck_assert_uint_eq(n, 1000);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		obsolete_files_go_under_load,
		no_file_goes_from_a_store_in_trouble,
		what_a_scan_holds_counts_as_obsolete,
		loads_before_a_mark_survive,
		lost_marks_are_made_good,
		a_sequence_is_given_once,
		publish_may_be_tried_again,
		a_load_ends_where_its_family_aggregates,
		a_load_ends_where_its_table_has_milliseconds,
		blob_files_go_after_a_full_disk,
		a_full_disk_ends_no_blob_file,
		policies_hold_where_data_comes_by_import,
		opens_with_less_memory_than_before,
		pin_of_a_store_opened_for_reading_ends,
		no_blob_file_begins_in_a_pause,
		a_sum_is_read_once_during_a_flush,
		an_unsorted_load_may_fill_two_tables,
	};

	return run_suite("engine", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
