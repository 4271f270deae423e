#include <stdio.h>
#include <string.h>

#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/rng.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* Loads whose pictures are known, by the store's clock, which moves as told. */
#define SECONDS 150
#define BUCKETS 8

static struct volume *volume;
static struct store *s;
static struct write *w;
static uint64_t now_us;
static struct rng rng;

static uint64_t tell_now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { tell_now, NULL };

static void open_store(bool create)
{
	struct store_options options;

	store_options_init(&options);
	options.create = create;
	options.background = false;
	options.clock = &test_clock;
	volume_mem_keep(volume);
	ck_assert_int_eq(store_open_volume(volume, &options, &s), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
}

static void setup(void)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };

	now_us = UINT64_C(1700000000000000);
	rng.state = 7;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	open_store(true);
	ck_assert_int_eq(store_create_table(s, bytes_string("t"), false, &f, 1),
			 0);
}

static void close_store(void)
{
	write_free(w);
	ck_assert_int_eq(store_close(s), 0);
}

static void teardown(void)
{
	close_store();
	volume->ops->close(volume);
}

static void put(const char *row)
{
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"),
				   1000, bytes_string("value")),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
}

static void get(const char *row)
{
	struct buf memory = BUF_INIT;
	struct cell cell;

	ck_assert_int_ge(store_get(s, NULL, bytes_string("t"),
				   bytes_string(row), bytes_string("f"),
				   bytes_string("q"), &cell, &memory),
			 0);
	buf_release(&memory);
}

static void next_second(void)
{
	now_us += 1000000;
	sample_tick(&s->sampler);
}

static struct heat_picture *picture(enum heat_metric metric, size_t columns)
{
	const struct heat_query q = { .table = BYTES_LITERAL("t"),
				      .metric = metric,
				      .columns = columns };
	struct heat_picture *p;

	ck_assert_int_eq(store_heat(s, &q, &p), 0);
	return p;
}

static double value(const struct heat_picture *p, size_t row, size_t column)
{
	return p->values[row * p->columns + column];
}

static double of_row(const struct heat_picture *p, size_t row)
{
	double sum = 0;
	size_t c;

	for (c = 0; c < p->columns; c++)
		sum += value(p, row, c);
	return sum;
}

/* Where in a column the heat is, in rows; -1: it has none. */
static double middle(const struct heat_picture *p, size_t column)
{
	double sum = 0, places = 0;
	size_t r;

	for (r = 0; r < p->rows; r++) {
		sum += value(p, r, column);
		places += (double)r * value(p, r, column);
	}
	return sum > 0 ? places / sum : -1;
}

/* How far the order of times is that of places: Kendall's tau, as the places
 * need not lie on a line. */
static double order(const struct heat_picture *p)
{
	double more = 0, all = 0;
	size_t a, b;

	for (a = 0; a < p->columns; a++)
		for (b = a + 1; b < p->columns; b++) {
			double x = middle(p, a), y = middle(p, b);

			if (x < 0 || y < 0)
				continue;
			more += (y > x) - (y < x);
			all++;
		}
	return all > 0 ? more / all : 0;
}

/* How much of the heat lies within so many rows of the middle. */
static double near_middle(const struct heat_picture *p, double rows)
{
	double sum = 0, near = 0;
	size_t r, c;

	for (c = 0; c < p->columns; c++)
		for (r = 0; r < p->rows; r++) {
			double away = (double)r - middle(p, c);

			sum += value(p, r, c);
			if (away <= rows && away >= -rows)
				near += value(p, r, c);
		}
	return near / sum;
}

START_TEST(a_sequence_is_a_staircase)
{
	struct heat_picture *p;
	char row[32];
	int i, second;

	for (second = 0; second < SECONDS; second++) {
		for (i = 0; i < 50; i++) {
			snprintf(row, sizeof(row), "event#%08d",
				 second * 50 + i);
			put(row);
		}
		next_second();
	}
	p = picture(HEAT_WRITES, 80);
	ck_assert_double_ge(order(p), 0.95);
	ck_assert_double_ge(near_middle(p, 3), 0.9);
	heat_picture_free(p);
}
END_TEST

static void fill(int rows)
{
	char row[32];
	int i;

	for (i = 0; i < rows; i++) {
		snprintf(row, sizeof(row), "user%06d", i);
		put(row);
	}
	next_second();
}

START_TEST(a_hot_row_is_a_line)
{
	struct heat_picture *p;
	size_t r, hottest = 0;
	double sum = 0;
	char row[32];
	int i, second;

	fill(10000);
	for (second = 0; second < SECONDS; second++) {
		for (i = 0; i < 400; i++) {
			snprintf(row, sizeof(row), "user%06u",
				 i % 20 ? 4711 : rng_below(&rng, 10000));
			get(row);
		}
		next_second();
	}
	p = picture(HEAT_READS, 80);
	for (r = 0; r < p->rows; r++) {
		sum += of_row(p, r);
		hottest = of_row(p, r) > of_row(p, hottest) ? r : hottest;
	}
	ck_assert_double_ge(of_row(p, hottest), 0.9 * sum);
	ck_assert(p->hottest.row == hottest);
	heat_picture_free(p);
}
END_TEST

/* The picture of reads of 20,000 rows: one in n is of any, the others of the
 * first so many. */
static struct heat_picture *read_rows(uint32_t first, int n)
{
	char row[32];
	int i, second;

	fill(20000);
	for (second = 0; second < SECONDS; second++) {
		for (i = 0; i < 2000; i++) {
			snprintf(row, sizeof(row), "user%06u",
				 rng_below(&rng, i % n ? first : 20000));
			get(row);
		}
		next_second();
	}
	return picture(HEAT_READS, 80);
}

static double mean_of_rows(const struct heat_picture *p)
{
	double sum = 0;
	size_t r;

	for (r = 0; r < p->rows; r++)
		sum += of_row(p, r);
	return sum / (double)p->rows;
}

START_TEST(an_even_load_is_a_plane)
{
	struct heat_picture *p = read_rows(20000, 1);
	double mean = mean_of_rows(p);
	size_t r;

	for (r = 0; r < p->rows; r++) {
		ck_assert_double_ge(of_row(p, r), 0.8 * mean);
		ck_assert_double_le(of_row(p, r), 1.2 * mean);
	}
	heat_picture_free(p);
}
END_TEST

/* However many fences are where the heat is. */
START_TEST(a_part_is_as_high_as_its_rows)
{
	struct heat_picture *p = read_rows(1000, 20);
	double mean = mean_of_rows(p);
	size_t r, hot = 0;

	for (r = 0; r < p->rows; r++)
		hot += of_row(p, r) > mean / 2;
	ck_assert_uint_ge(hot, 4);
	ck_assert_msg(hot < p->rows * 3 / 4, "%zu of %zu rows", hot, p->rows);
	heat_picture_free(p);
}
END_TEST

/* Runs of rows that are warm in a column. */
static size_t bands(const struct heat_picture *p, size_t column)
{
	size_t count = 0, r;
	double most = 0;
	bool in = false;

	for (r = 0; r < p->rows; r++)
		if (value(p, r, column) > most)
			most = value(p, r, column);
	for (r = 0; r < p->rows; r++) {
		bool warm = value(p, r, column) > most / 8;

		count += warm && !in;
		in = warm;
	}
	return count;
}

START_TEST(salt_buckets_are_bands)
{
	struct heat_picture *p;
	char row[32];
	int i, second;
	size_t c;

	for (second = 0; second < SECONDS; second++) {
		for (i = 0; i < 64; i++) {
			snprintf(row, sizeof(row), "%02d#%08d", i % BUCKETS,
				 second * 64 + i);
			put(row);
		}
		next_second();
	}
	p = picture(HEAT_WRITES, 80);
	/* But for the first two, whose seconds are told in one range. */
	for (c = 2; c < p->columns - 1; c++)
		ck_assert_uint_eq(bands(p, c), BUCKETS);
	heat_picture_free(p);
}
END_TEST

/* What the commands before it have left is in the next one's picture. */
START_TEST(a_picture_outlives_the_store)
{
	struct heat_picture *before, *after;

	fill(1000);
	now_us += 60000000;
	before = picture(HEAT_WRITES, 80);
	close_store();
	open_store(false);
	after = picture(HEAT_WRITES, 80);
	ck_assert_uint_gt(after->rows, 0);
	ck_assert_double_ge(
		after->mean * (double)(after->rows * after->columns),
		0.8 * before->mean * (double)(before->rows * before->columns));
	heat_picture_free(before);
	heat_picture_free(after);
}
END_TEST

START_TEST(what_is_not_wanted_is_left_out)
{
	struct heat_query q = { .table = BYTES_LITERAL("t"),
				.metric = HEAT_WRITES,
				.prefix = BYTES_LITERAL("user0001") };
	struct heat_picture *p;
	size_t r;

	ck_assert_int_eq(store_heat(s, &q, &p), 0);
	ck_assert_uint_eq(p->rows, 0);
	heat_picture_free(p);
	fill(1000);
	ck_assert_int_eq(store_heat(s, &q, &p), 0);
	ck_assert_uint_gt(p->rows, 0);
	for (r = 0; r < p->rows; r++)
		ck_assert(bytes_starts_with(p->row[r].start, q.prefix));
	heat_picture_free(p);
	q.from_us = now_us;
	q.to_us = now_us - 5000000;
	ck_assert_int_eq(store_heat(s, &q, &p), -ERR_bad_argument);
	q.table = BYTES_LITERAL("none");
	ck_assert_int_eq(store_heat(s, &q, &p), -ERR_no_table);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_sequence_is_a_staircase,      a_hot_row_is_a_line,
		an_even_load_is_a_plane,        a_part_is_as_high_as_its_rows,
		salt_buckets_are_bands,         a_picture_outlives_the_store,
		what_is_not_wanted_is_left_out,
	};

	return run_suite("heat picture", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
