#include <stdio.h>
#include <stdlib.h>

#include "store/base/watch/cost.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "store/text/import/import.h"
#include "store/text/watch/explain.h"
#include "store/text/watch/store_figures.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/*
 * What a store tells of itself: what a read costs and how it is done, counters
 * of the background, tables, imports. The tests know what there is to be read.
 */
#define ROWS 2000
#define OLD 1000
#define NEW 900000 /* of rows 500 to 599 */

static struct store *s;
static struct buf text;
static uint64_t now_us;

static uint64_t tell_now(void *context)
{
	(void)context;
	return now_us += 1;
}

static const struct clock test_clock = { tell_now, NULL };

static void put(struct write *w, const char *table, const char *row,
		uint64_t us)
{
	char value[150];

	memset(value, 'x', sizeof(value));
	ck_assert_int_eq(write_row(w, bytes_string(table), bytes_string(row)),
			 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), us,
				   bytes_of(value, sizeof(value))),
			 0);
}

static void commit(const char *table, unsigned int from, unsigned int to,
		   uint64_t us)
{
	struct write *w;
	char row[16];

	ck_assert_int_eq(write_new(s, &w), 0);
	for (; from < to; from++) {
		snprintf(row, sizeof(row), "row%05u", from);
		put(w, table, row, us);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* A table in several ssts, of which all but the last are old. */
static void setup(void)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct store_options options;
	struct volume *volume;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.file_size = 64 << 10;
	options.clock = &test_clock;
	now_us = UINT64_C(1767607872000000);
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &s), 0);
	ck_assert_int_eq(store_create_table(s, bytes_string("t"), false, &f, 1),
			 0);
	commit("t", 0, ROWS, OLD);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	commit("t", 500, 600, NEW);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
	buf_release(&text);
}

/* The number behind the last " name=" of a line that begins with word. */
static uint64_t number(const char *word, const char *name)
{
	char wanted[64];
	const char *line = (char *)text.data, *at;

	while (strncmp(line, word, strlen(word)) != 0) {
		line = strchr(line, '\n');
		ck_assert_msg(line && *++line, "no line %s in %s", word,
			      (char *)text.data);
	}
	snprintf(wanted, sizeof(wanted), " %s=", name);
	at = strstr(line, wanted);
	ck_assert_msg(at && at < strchr(line, '\n'), "no %s in %s", name, line);
	return strtoull(at + strlen(wanted), NULL, 10);
}

static bool has(const char *part)
{
	return strstr((char *)text.data, part) != NULL;
}

static void explain(struct select *select)
{
	const struct scan_range how = { .table = BYTES_LITERAL("t"),
					.keep_large = true };

	buf_reset(&text);
	ck_assert_int_eq(explain_print(s, NULL, select, &how, &text), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	select_release(select);
}

/* All of it is read: the plan's blocks are those that were needed, and what was
 * passed are the cells and the versions under them. */
START_TEST(all_is_explained)
{
	struct select all = SELECT_INIT;

	explain(&all);
	ck_assert_uint_gt(number("range", "ssts"), 4);
	ck_assert_uint_eq(number("range", "ssts"), number("range", "all_ssts"));
	ck_assert_uint_eq(number("range", "excluded"), 0);
	ck_assert(!has("pushed"));
	ck_assert_uint_eq(number("ranges", "count"), 1);
	ck_assert_uint_eq(number("cost", "rows"), ROWS);
	ck_assert_uint_eq(number("cost", "cells"), ROWS + 100);
	ck_assert_uint_eq(number("cost", "bytes"), (ROWS + 100) * 150);
	ck_assert_uint_eq(number("cost", "passed"), ROWS + 100);
	ck_assert_uint_eq(number("cost", "blocks"), number("range", "blocks"));
	ck_assert_uint_eq(number("cost", "files"), number("range", "ssts"));
}
END_TEST

/* A second time nothing comes from the disk. */
START_TEST(the_cache_is_told)
{
	struct select all = SELECT_INIT, again = SELECT_INIT;

	explain(&all);
	ck_assert_uint_gt(number("cost", "blocks_read"), 0);
	ck_assert_uint_gt(number("cost", "bytes_read"), 1000);
	explain(&again);
	ck_assert_uint_eq(number("cost", "blocks_read"), 0);
	ck_assert_uint_eq(number("cost", "bytes_read"), 0);
	ck_assert_uint_gt(number("cost", "blocks"), 0);
}
END_TEST

/* One row: files that lie elsewhere are not asked, nor those whose filters know
 * better. */
START_TEST(a_row_is_explained)
{
	struct select one = SELECT_INIT, none = SELECT_INIT;

	ck_assert_int_eq(select_add_row(&one, bytes_string("row00550")), 0);
	explain(&one);
	ck_assert(has("range start=\"row00550\" end=\"row00550\\x00\""));
	ck_assert_uint_eq(number("range", "ssts"), 2);
	ck_assert_uint_eq(number("range", "excluded"), 0);
	ck_assert_uint_eq(number("range", "blocks"), 2);
	ck_assert_uint_eq(number("cost", "cells"), 2);
	ck_assert_uint_le(number("cost", "passed"), 3);
	ck_assert_uint_eq(number("cost", "blocks"), 2);

	ck_assert_int_eq(select_add_row(&none, bytes_string("row00550x")), 0);
	explain(&none);
	ck_assert_uint_eq(number("range", "excluded"), 2);
	ck_assert_uint_eq(number("range", "blocks"), 0);
	ck_assert_uint_eq(number("cost", "excluded"), 2);
	ck_assert_uint_eq(number("cost", "files"), 0);
}
END_TEST

/* What filters leave out beforehand is told, and it is left out. */
START_TEST(what_is_pushed_is_explained)
{
	struct select by_row = SELECT_INIT, by_column = SELECT_INIT;
	struct select by_time = SELECT_INIT;
	struct filter *f;
	int err;

	err = filter_new_row(bytes_string("row0001.*"), &f);
	ck_assert_int_eq(select_filter(&by_row, err, f), 0);
	explain(&by_row);
	ck_assert(has("pushed rows_begin=\"row0001\"\n"));
	ck_assert_uint_eq(number("cost", "rows"), 10);
	ck_assert_uint_le(number("cost", "passed"), 12);
	ck_assert_uint_eq(number("range", "ssts"), 1);

	err = filter_new_family(bytes_string("f"), &f);
	ck_assert_int_eq(select_filter(&by_column, err, f), 0);
	err = filter_new_qualifier(bytes_string("q"), &f);
	ck_assert_int_eq(select_filter(&by_column, err, f), 0);
	explain(&by_column);
	ck_assert(has("pushed family=\"f\" column=\"q\"\n"));

	err = filter_new_timestamps(NEW, 0, &f);
	ck_assert_int_eq(select_filter(&by_time, err, f), 0);
	explain(&by_time);
	ck_assert(has("pushed since=900000\n"));
	ck_assert_uint_eq(number("range", "too_old"),
			  number("range", "ssts") - 1);
	ck_assert_uint_eq(number("cost", "cells"), 100);
	/* Of the files that are too old at most a block each, not ROWS. */
	ck_assert_uint_lt(number("cost", "passed"), ROWS / 2);
}
END_TEST

/* Of many ranges some are told, and how many there are; of no table nothing. */
START_TEST(ranges_are_bounded)
{
	const struct scan_range how = { .table = BYTES_LITERAL("u") };
	struct select many = SELECT_INIT, none = SELECT_INIT;
	size_t lines = 0;
	const char *at;
	char row[16];
	int i;

	for (i = 0; i < 3 * EXPLAIN_RANGES; i++) {
		snprintf(row, sizeof(row), "row%05d", 10 * i);
		ck_assert_int_eq(select_add_row(&many, bytes_string(row)), 0);
	}
	explain(&many);
	for (at = (char *)text.data; (at = strstr(at, "range ")); at++)
		lines++;
	ck_assert_uint_eq(lines, EXPLAIN_RANGES);
	ck_assert_uint_eq(number("ranges", "count"), 3 * EXPLAIN_RANGES);
	ck_assert_uint_eq(number("cost", "rows"), 3 * EXPLAIN_RANGES);
	ck_assert_int_eq(explain_print(s, NULL, &none, &how, &text),
			 -ERR_no_table);
	select_release(&none);
}
END_TEST

static bool always(void)
{
	return true;
}

START_TEST(a_signal_ends_it)
{
	const struct scan_range how = { .table = BYTES_LITERAL("t"),
					.stop = always };
	struct select all = SELECT_INIT;

	ck_assert_int_eq(explain_print(s, NULL, &all, &how, &text), -EINTR);
	select_release(&all);
}
END_TEST

/* A lookup of a column, which asks no more than it has to. */
START_TEST(a_lookup_costs_little)
{
	struct buf memory = BUF_INIT;
	struct cost before = thread_cost, taken;
	struct cell cell;

	ck_assert_int_eq(store_get(s, NULL, bytes_string("t"),
				   bytes_string("row00001"), bytes_string("f"),
				   bytes_string("q"), &cell, &memory),
			 1);
	taken = cost_since(&before);
	ck_assert_uint_eq(taken.cells, 1);
	ck_assert_uint_eq(taken.files, 1);
	ck_assert_uint_eq(taken.blocks, 1);
	buf_release(&memory);
}
END_TEST

/* The value of a sample, by its whole name. */
static double figure(const char *name)
{
	char wanted[128];
	const char *at;

	snprintf(wanted, sizeof(wanted), "\n%s ", name);
	at = strstr((char *)text.data, wanted);
	ck_assert_msg(at, "no %s in %s", name, (char *)text.data);
	return strtod(at + strlen(wanted), NULL);
}

static void look(void)
{
	struct figures f = { .out = &text };

	buf_reset(&text);
	store_figures(s, &f);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
}

START_TEST(the_background_is_counted)
{
	struct store_stats stats;

	store_stats(s, &stats);
	look();
	ck_assert(figure("tabletfs_flushes_total") == 2);
	ck_assert(figure("tabletfs_flushed_bytes_total") ==
		  (double)stats.flushed_size);
	ck_assert_uint_gt(stats.flushed_size, (ROWS + 100) * 10);
	ck_assert_uint_gt(stats.merged_size, stats.sst_size[6] / 2);
	/* Once to the log, once flushed, compressed; most compacted. */
	ck_assert(figure("tabletfs_write_amplification") > 1);
	ck_assert(figure("tabletfs_space_amplification") > 1);
	ck_assert(figure("tabletfs_space_amplification") < 1.5);
	ck_assert(figure("tabletfs_healthy") == 1);
	ck_assert(figure("tabletfs_stalls_total{for=\"memtables\"}") == 0);
	ck_assert(figure("tabletfs_working_seconds{work=\"flush\"}") == 0);
	ck_assert(figure("tabletfs_syncs_total") ==
		  figure("tabletfs_sync_duration_seconds_count"));
}
END_TEST

/* However many tables there are, there are figures of some, and these are those
 * to which something comes. */
START_TEST(tables_are_bounded)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };
	char name[16];
	size_t lines = 0;
	const char *at;
	int i;

	for (i = 0; i < FIGURES_TABLES + 20; i++) {
		snprintf(name, sizeof(name), "a%03d", i);
		ck_assert_int_eq(
			store_create_table(s, bytes_string(name), false, &f, 1),
			0);
	}
	look();
	for (at = (char *)text.data;
	     (at = strstr(at, "\ntabletfs_table_writes_total{")); at++)
		lines++;
	ck_assert_uint_eq(lines, FIGURES_TABLES);
	ck_assert(figure("tabletfs_tables") == FIGURES_TABLES + 21);
	ck_assert(figure("tabletfs_table_writes_total{table=\"t\"}") >= ROWS);
	ck_assert(figure("tabletfs_table_file_bytes{table=\"t\"}") > 1000);
}
END_TEST

START_TEST(imports_are_counted)
{
	const struct import_options options = { .table = BYTES_LITERAL("t") };
	const struct bytes lines =
		BYTES_LITERAL("{\"row\":\"a\",\"set\":{\"f\":{\"q\":\"1\"}}}\n"
			      "{\"row\":\"b\",\"set\":{\"f\":{\"q\":\"1\"}}}\n"
			      "no line\n");
	struct importer *im;

	ck_assert_int_eq(importer_new(s, TEXT_JSONL, &options, &im), 0);
	ck_assert_int_eq(importer_feed(im, lines), 0);
	ck_assert_int_eq(importer_finish(im, false), 0);
	importer_free(im);
	look();
	ck_assert(figure("tabletfs_import_rows_total") == 2);
	ck_assert(figure("tabletfs_import_refused_total") == 1);
	ck_assert(figure("tabletfs_import_bytes_total") == (double)lines.size);
}
END_TEST

/* One row that is written again and again is found among the others. */
START_TEST(a_hot_row_is_found)
{
	char at[96], *share;
	int i;

	for (i = 0; i < 3000; i++) {
		if (i % 500 == 0)
			now_us += 1000000;
		commit("t", 77, 78, OLD);
	}
	buf_reset(&text);
	ck_assert_int_eq(store_hot_ranges(s, &text), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	snprintf(at, sizeof(at), "start=\"row00077\" end=\"row00077\\x00\"\n");
	ck_assert_msg(has(at), "%s", (char *)text.data);
	/* Four in five go on to come to it, and the rest to a tail of many
	 * rows, most seconds to none of a range. */
	for (i = 0; i < 20000; i++) {
		unsigned int row = i % 5 ? 77 : (unsigned int)i * 7919 % ROWS;

		if (i % 250 == 0)
			now_us += 1000000;
		commit("t", row, row + 1, OLD);
	}
	buf_reset(&text);
	ck_assert_int_eq(store_hot_ranges(s, &text), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	ck_assert_msg(has(at), "%s", (char *)text.data);
	share = strstr((char *)text.data, "share=");
	ck_assert_ptr_nonnull(share);
	ck_assert_double_ge(strtod(share + 6, NULL), 0.75);
	ck_assert_double_le(strtod(share + 6, NULL), 0.85);
	/* Later on nothing comes. */
	now_us += 60000000;
	buf_reset(&text);
	ck_assert_int_eq(store_hot_ranges(s, &text), 0);
	ck_assert_uint_eq(text.size, 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		all_is_explained,      the_cache_is_told,
		a_row_is_explained,    what_is_pushed_is_explained,
		ranges_are_bounded,    a_signal_ends_it,
		a_lookup_costs_little, the_background_is_counted,
		tables_are_bounded,    imports_are_counted,
		a_hot_row_is_found
	};

	return run_suite("watch", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
