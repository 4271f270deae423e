#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/heat/heat.h"
#include "store/heat/heat_grid.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* The sampler and its file, by a clock that moves as told. */
#define START_S UINT64_C(1700000400) /* a quarter of an hour begins */
#define TABLE 7

static struct volume *volume;
static struct memory *memory;
static struct heat *heat;
static uint64_t now_us;

static uint64_t tell_now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { tell_now, NULL };

static void open_heat(void)
{
	struct heat_file *file;

	ck_assert_int_eq(heat_file_new(volume, true, &file), 0);
	ck_assert_int_eq(heat_new(&test_clock, memory, file, &heat), 0);
}

static void setup(void)
{
	now_us = START_S * 1000000;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(memory_new(64 << 20, &memory), 0);
	open_heat();
}

static void teardown(void)
{
	heat_free(heat);
	memory_free(memory);
	volume->ops->close(volume);
}

static void read_row(uint32_t table, unsigned int n)
{
	char row[32];

	snprintf(row, sizeof(row), "prefix/%06u", n);
	if (heat_is_due(heat))
		heat_note(heat, table, bytes_string(row), HEAT_READS, 100);
}

static void pass(unsigned int seconds)
{
	now_us += seconds * UINT64_C(1000000);
	ck_assert_int_eq(heat_tick(heat, false), 0);
}

/* The sum of a metric from one second to another. */
static double sum(uint32_t table, enum heat_metric metric, uint64_t from_s,
		  uint64_t to_s)
{
	struct buf file = BUF_INIT, recent = BUF_INIT;
	struct heat_source sources[2];
	struct heat_wanted w = { .table = table,
				 .from_s = from_s,
				 .column_s = to_s - from_s,
				 .columns = 1,
				 .metric = metric,
				 .metrics = 1,
				 .max = 1024 };
	struct heat_grid g;
	uint64_t recent_s;
	double all = 0;
	size_t i;

	ck_assert_int_eq(heat_collect(heat, table, &file, &recent, &recent_s),
			 0);
	sources[0] = (struct heat_source){ buf_bytes(&file), recent_s };
	sources[1] = (struct heat_source){ buf_bytes(&recent), UINT64_MAX };
	ck_assert_int_eq(heat_grid_make(sources, 2, &w, &g), 0);
	for (i = 0; i < g.count; i++)
		all += g.cells[i];
	heat_grid_release(&g);
	buf_release(&file);
	buf_release(&recent);
	return all;
}

static double sum_all(uint32_t table, enum heat_metric metric)
{
	return sum(table, metric, START_S - 100, START_S + 30 * 86400);
}

static void is_about(double n, double wanted, double tolerance)
{
	ck_assert_double_ge(n, wanted * (1 - tolerance));
	ck_assert_double_le(n, wanted * (1 + tolerance));
}

static size_t file_size(void)
{
	struct buf file = BUF_INIT;
	size_t size;

	ck_assert_int_eq(volume->ops->heat_read(volume, &file), 0);
	size = file.size;
	buf_release(&file);
	return size;
}

/* As a kill would: what waits is lost, or with more than that, bytes of the
 * file's end. */
static void kill_heat(size_t cut)
{
	struct buf file = BUF_INIT;

	heat_free(heat);
	ck_assert_int_eq(volume->ops->heat_read(volume, &file), 0);
	ck_assert_uint_ge(file.size, cut);
	file.size -= cut;
	ck_assert_int_eq(volume->ops->heat_replace(volume, buf_bytes(&file)),
			 0);
	buf_release(&file);
	open_heat();
}

START_TEST(codes_are_close)
{
	uint64_t n;

	ck_assert_uint_eq(heat_code(0), 0);
	ck_assert_uint_eq(heat_value(0), 0);
	for (n = 1; n < UINT64_C(1) << 42; n += n / 7 + 1) {
		is_about((double)heat_value(heat_code(n)), (double)n,
			 0.062 + 1.0 / (double)n);
		ck_assert_uint_gt(heat_code(n), 0);
	}
	ck_assert_uint_eq(heat_code(UINT64_MAX), 255);
}
END_TEST

START_TEST(samples_stand_for_all)
{
	unsigned int i;

	for (i = 0; i < 400000; i++)
		read_row(TABLE, i % 4096);
	pass(1);
	is_about(sum_all(TABLE, HEAT_READS), 400000, 0.1);
	is_about(sum_all(TABLE, HEAT_BYTES), 40000000, 0.1);
	ck_assert_double_eq(sum_all(TABLE, HEAT_WRITES), 0);
	/* A new second begins with each operation. */
	ck_assert_uint_eq(atomic_load(&heat->every), HEAT_EVERY);
	for (i = 0; i < 200; i++)
		read_row(TABLE, 1);
	ck_assert_uint_eq(atomic_load(&heat->every), 1);
}
END_TEST

/* One range has the whole of a young table's second, so that nothing evens out
 * the error of its counter: what is sampled may not add to that. */
START_TEST(a_second_is_as_close_as_its_counter)
{
	unsigned int count, i;
	uint64_t second_s, before[HEAT_METRICS] = { 0 }, after[HEAT_METRICS];

	for (count = 2000; count < 300000; count += count / 8) {
		second_s = now_us / 1000000;
		for (i = 0; i < count; i++)
			read_row(TABLE, 1);
		ck_assert(heat_counts(heat, TABLE, after));
		ck_assert_double_le(
			fabs((double)(after[HEAT_READS] - before[HEAT_READS]) -
			     count),
			2 * HEAT_EVERY);
		memcpy(before, after, sizeof(before));
		pass(1);
		is_about(sum(TABLE, HEAT_READS, second_s, second_s + 1), count,
			 0.06 + 2.0 * HEAT_EVERY / count);
	}
}
END_TEST

/* Each of them has fewer operations than samples are apart. */
static void *short_thread(void *context)
{
	unsigned int i;

	(void)context;
	for (i = 0; i < 10; i++)
		read_row(TABLE, i);
	return NULL;
}

START_TEST(short_threads_count)
{
	uint64_t before[HEAT_METRICS], after[HEAT_METRICS];
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < 20000; i++)
		read_row(TABLE, 1);
	ck_assert(heat_counts(heat, TABLE, before));
	for (i = 0; i < 2000; i++) {
		ck_assert_int_eq(
			pthread_create(&thread, NULL, short_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
	ck_assert(heat_counts(heat, TABLE, after));
	is_about((double)(after[HEAT_READS] - before[HEAT_READS]), 20000, 0.2);
}
END_TEST

/* A program that goes round in as many steps as samples are apart. */
START_TEST(patterns_are_no_keys)
{
	unsigned int i, second;
	double of_first;

	for (second = 0; second < 20; second++) {
		for (i = 0; i < 100000; i++)
			read_row(1 + i % 8, i % 64);
		pass(1);
	}
	of_first = sum_all(1, HEAT_READS);
	for (i = 2; i <= 8; i++)
		is_about(sum_all(i, HEAT_READS), of_first, 0.2);
}
END_TEST

START_TEST(history_survives_a_restart)
{
	unsigned int minute, i;

	for (minute = 0; minute < 5; minute++) {
		for (i = 0; i < 600; i++)
			read_row(TABLE, i);
		pass(60);
	}
	ck_assert_int_eq(heat_tick(heat, true), 0);
	is_about(sum_all(TABLE, HEAT_READS), 3000, 0.1);
	kill_heat(0);
	is_about(sum_all(TABLE, HEAT_READS), 3000, 0.1);
	for (i = 0; i < 600; i++)
		read_row(TABLE, i);
	pass(60);
	is_about(sum_all(TABLE, HEAT_READS), 3600, 0.1);
}
END_TEST

START_TEST(a_torn_tail_is_cut)
{
	unsigned int minute, i;
	size_t size;

	for (minute = 0; minute < 5; minute++) {
		for (i = 0; i < 600; i++)
			read_row(TABLE, i);
		pass(60);
	}
	size = file_size();
	kill_heat(3);
	is_about(sum_all(TABLE, HEAT_READS), 2400, 0.1);
	for (i = 0; i < 600; i++)
		read_row(TABLE, i);
	pass(60);
	is_about(sum_all(TABLE, HEAT_READS), 3000, 0.1);
	kill_heat(0);
	is_about(sum_all(TABLE, HEAT_READS), 3000, 0.1);
	ck_assert_uint_lt(file_size(), 2 * size);
}
END_TEST

START_TEST(a_removed_file_begins_anew)
{
	unsigned int i;

	read_row(TABLE, 1);
	pass(60);
	ck_assert_uint_gt(file_size(), HEAT_HEADER_SIZE);
	ck_assert_int_eq(volume->ops->heat_replace(volume, BYTES_NONE), 0);
	for (i = 0; i < 3; i++) {
		read_row(TABLE, i);
		pass(60);
	}
	heat_free(heat);
	open_heat();
	is_about(sum_all(TABLE, HEAT_READS), 3, 0);
}
END_TEST

/* A day with changing fences: minutes become quarters, and the file does not
 * grow on. */
START_TEST(the_past_is_pruned)
{
	unsigned int minute, i;
	size_t largest = 0;

	for (minute = 0; minute < 1440; minute++) {
		for (i = 0; i < 300; i++)
			read_row(TABLE, (minute * 7919 + i * 31) % 100000);
		pass(60);
		if (file_size() > largest)
			largest = file_size();
	}
	ck_assert_uint_lt(largest, 1 << 20);
	is_about(sum_all(TABLE, HEAT_READS), 432000, 0.15);
	/* The first hour, told in quarters. */
	is_about(sum(TABLE, HEAT_READS, START_S, START_S + 3600), 18000, 0.15);
	for (i = 0; i < 20; i++) {
		now_us += UINT64_C(86400) * 1000000;
		read_row(TABLE, i);
		pass(60);
	}
	is_about(sum(TABLE, HEAT_READS, START_S + 86400, START_S + 30 * 86400),
		 20, 0.05);
}
END_TEST

START_TEST(an_idle_table_is_forgotten)
{
	unsigned int i;

	for (i = 0; i < HEAT_TABLES_MAX + 5; i++)
		read_row(1 + i, i);
	ck_assert_uint_eq(heat->count, HEAT_TABLES_MAX);
	ck_assert_uint_le(memory_used(memory, MEMORY_HEAT),
			  HEAT_TABLES_MAX * (160 << 10));
	pass(HEAT_IDLE_S - 1);
	ck_assert_uint_eq(heat->count, HEAT_TABLES_MAX);
	pass(2);
	ck_assert_uint_eq(heat->count, 0);
	ck_assert_uint_eq(memory_used(memory, MEMORY_HEAT), 0);
	is_about(sum_all(1, HEAT_READS), 1, 0);
}
END_TEST

/* Whether the file has these bytes. */
static bool file_has(const char *text)
{
	struct buf file = BUF_INIT;
	bool has;

	ck_assert_int_eq(volume->ops->heat_read(volume, &file), 0);
	has = file.size > 0 &&
	      memmem(file.data, file.size, text, strlen(text)) != NULL;
	buf_release(&file);
	return has;
}

/* In memory, on its way, and in the file; others stay. */
START_TEST(an_erased_table_leaves_no_key)
{
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		read_row(TABLE, i);
		heat_note(heat, TABLE + 1, bytes_string(i % 2 ? "bb" : "aa"),
			  HEAT_READS, 1);
		if (i % 20 == 0)
			pass(1);
	}
	pass(60);
	ck_assert(file_has("prefix/"));
	read_row(TABLE, 1);
	pass(1);
	ck_assert_int_eq(heat_erase(heat, TABLE), 0);
	ck_assert(!file_has("prefix/"));
	pass(60);
	pass(60);
	ck_assert(!file_has("prefix/"));
	ck_assert(sum(TABLE, HEAT_READS, START_S, now_us / 1000000) == 0);
	ck_assert(sum(TABLE + 1, HEAT_READS, START_S, now_us / 1000000) > 0);
}
END_TEST

START_TEST(without_memory_nothing_is_sampled)
{
	ck_assert(memory_take(memory, MEMORY_IMPORTS, 32 << 20, 0));
	ck_assert(memory_take(memory, MEMORY_DRAFTS, 32 << 20, 0));
	read_row(TABLE, 1);
	ck_assert_uint_eq(heat->count, 0);
	memory_give(memory, MEMORY_IMPORTS, 32 << 20);
	read_row(TABLE, 1);
	ck_assert_uint_eq(heat->count, 1);
	memory_give(memory, MEMORY_DRAFTS, 32 << 20);
}
END_TEST

/* Keys of every length that share less and less. */
START_TEST(prefixes_shrink)
{
	uint8_t key[4096];
	unsigned int i;

	memset(key, 'k', sizeof(key));
	for (i = 0; i < 5000; i++) {
		key[4095 - i % 4096] = (uint8_t)i;
		heat_note(heat, TABLE, bytes_of(key, 1 + (i * 97) % 4096),
			  HEAT_WRITES, 1);
		if (i % 100 == 0)
			pass(1);
	}
	pass(1);
	is_about(sum_all(TABLE, HEAT_WRITES), 5000, 0.1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		codes_are_close,
		samples_stand_for_all,
		a_second_is_as_close_as_its_counter,
		short_threads_count,
		patterns_are_no_keys,
		history_survives_a_restart,
		a_torn_tail_is_cut,
		a_removed_file_begins_anew,
		the_past_is_pruned,
		an_idle_table_is_forgotten,
		an_erased_table_leaves_no_key,
		without_memory_nothing_is_sampled,
		prefixes_shrink,
	};

	return run_suite("heat", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
