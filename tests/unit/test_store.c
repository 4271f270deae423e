#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/suite.h"

/* The contract of store.h on a real directory; the model test goes deeper. */
static char directory[64];
static struct store *s;
static struct snapshot *moment; /* that dump and all read; NULL: now */
static uint64_t now_us = 1000000000;

static uint64_t test_now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { test_now, NULL };

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static void open_store(void)
{
	struct store_options options;
	int err;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.clock = &test_clock;
	options.memtable_size = 1 << 20;
	err = store_open(directory, &options, &s);
	ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
}

static void setup(void)
{
	struct family_spec families[] = { { .name = str("f") },
					  { .name = str("g") } };

	strcpy(directory, "/tmp/test_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	open_store();
	ck_assert_int_eq(store_create_table(s, str("t"), false, families, 2),
			 0);
}

static void teardown(void)
{
	char command[96];

	if (s)
		ck_assert_int_eq(store_close(s), 0);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void reopen(void)
{
	ck_assert_int_eq(store_close(s), 0);
	open_store();
}

static void set(const char *row, const char *family, const char *qualifier,
		uint64_t timestamp, const char *value)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
	ck_assert_int_eq(write_set(w, str(family), str(qualifier), timestamp,
				   str(value)),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* All visible cells of a range as "row/family:qualifier@ts=value ". */
static const char *dump(struct scan_range range, enum cursor_step step)
{
	static struct buf out;
	struct scan *scan;
	struct cell c;
	int err;

	range.table = str("t");
	buf_reset(&out);
	ck_assert_int_eq(scan_open(s, moment, &range, &scan), 0);
	while ((err = scan_next(scan, step, &c)) == 1)
		ck_assert_int_eq(
			buf_printf(
				&out, "%.*s/%.*s:%.*s@%llu=%.*s ",
				(int)c.row.size, (const char *)c.row.data,
				(int)c.family.size, (const char *)c.family.data,
				(int)c.qualifier.size,
				(const char *)c.qualifier.data,
				(unsigned long long)c.timestamp_us,
				(int)c.value.size, (const char *)c.value.data),
			0);
	ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
	scan_close(scan);
	ck_assert_int_eq(buf_terminate(&out), 0);
	return (const char *)out.data;
}

static const char *all(void)
{
	return dump((struct scan_range){ 0 }, CURSOR_VERSION);
}

START_TEST(versions_and_steps)
{
	set("a", "f", "q", 10, "1");
	set("a", "f", "q", 30, "3");
	set("a", "f", "q", 20, "2");
	set("a", "f", "p", 5, "x");
	set("a", "g", "", 1, "");
	set("b", "f", "q", STORE_NOW, "now");
	ck_assert_str_eq(all(), "a/f:p@5=x a/f:q@30=3 a/f:q@20=2 a/f:q@10=1 "
				"a/g:@1= b/f:q@1000000000=now ");
	ck_assert_str_eq(dump((struct scan_range){ 0 }, CURSOR_ROW),
			 "a/f:p@5=x b/f:q@1000000000=now ");
	ck_assert_str_eq(dump((struct scan_range){ 0 }, CURSOR_COLUMN),
			 "a/f:p@5=x a/f:q@30=3 a/g:@1= b/f:q@1000000000=now ");
	ck_assert_str_eq(dump((struct scan_range){ 0 }, CURSOR_FAMILY),
			 "a/f:p@5=x a/g:@1= b/f:q@1000000000=now ");
	ck_assert_str_eq(
		dump((struct scan_range){ .reverse = true }, CURSOR_ROW),
		"b/f:q@1000000000=now a/f:p@5=x ");
	ck_assert_str_eq(
		dump((struct scan_range){ .start = str("aa") }, CURSOR_ROW),
		"b/f:q@1000000000=now ");
	ck_assert_str_eq(
		dump((struct scan_range){ .end = str("b") }, CURSOR_ROW),
		"a/f:p@5=x ");
	set("a", "f", "q", 30, "three");
	reopen();
	ck_assert_str_eq(dump((struct scan_range){ .row = str("a"),
						   .has_family = true,
						   .family = str("f"),
						   .has_qualifier = true,
						   .qualifier = str("q") },
			      CURSOR_VERSION),
			 "a/f:q@30=three a/f:q@20=2 a/f:q@10=1 ");
}
END_TEST

START_TEST(deletes)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	set("a", "f", "q", 10, "1");
	set("a", "f", "q", 20, "2");
	set("a", "f", "q", 30, "3");
	set("a", "g", "q", 30, "3");
	set("ab", "g", "q", 30, "3");
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_delete_cells(w, str("f"), str("q"), 20, 21), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_str_eq(all(), "a/f:q@30=3 a/f:q@10=1 a/g:q@30=3 "
				"ab/g:q@30=3 ");
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_delete_cells(w, str("f"), str("q"), 11, 0), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_str_eq(all(), "a/f:q@10=1 a/g:q@30=3 ab/g:q@30=3 ");
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_delete_family(w, str("g")), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_str_eq(all(), "a/f:q@10=1 ab/g:q@30=3 ");
	/* An older timestamp written after the delete is seen. */
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 1, str("new")), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_str_eq(all(), "a/f:q@1=new ab/g:q@30=3 ");
	ck_assert_int_eq(write_delete_prefix(w, str("t"), str("a")), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_str_eq(all(), "");
	write_free(w);
	reopen();
	ck_assert_str_eq(all(), "");
}
END_TEST

START_TEST(policies)
{
	struct gc_policy *two = gc_policy_leaf(GC_MAX_VERSIONS, 2);
	struct write *w;
	int i;

	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), two), 0);
	for (i = 1; i <= 4; i++)
		set("a", "f", "q", 10 * i, "v");
	ck_assert_str_eq(all(), "a/f:q@40=v a/f:q@30=v ");
	/* Neither a deleted version nor a relaxed rule brings one back. */
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_delete_cells(w, str("f"), str("q"), 40, 41), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_str_eq(all(), "a/f:q@30=v ");
	set("a", "f", "q", 50, "v");
	set("a", "f", "q", 60, "v");
	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), NULL), 0);
	ck_assert_str_eq(all(), "a/f:q@60=v a/f:q@50=v ");
	set("a", "f", "q", 70, "v");
	set("a", "f", "q", 1, "v");
	ck_assert_str_eq(all(), "a/f:q@70=v a/f:q@60=v a/f:q@50=v a/f:q@1=v ");
	write_free(w);
	reopen();
	ck_assert_str_eq(all(), "a/f:q@70=v a/f:q@60=v a/f:q@50=v a/f:q@1=v ");
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_str_eq(all(), "a/f:q@70=v a/f:q@60=v a/f:q@50=v a/f:q@1=v ");
	gc_policy_free(two);
}
END_TEST

START_TEST(dropped_and_made_again)
{
	struct family_spec f = { .name = str("f") };

	set("a", "f", "q", 10, "old");
	set("a", "g", "q", 10, "kept");
	ck_assert_int_eq(store_drop_family(s, str("t"), str("f")), 0);
	ck_assert_str_eq(all(), "a/g:q@10=kept ");
	ck_assert_int_eq(store_create_family(s, str("t"), &f), 0);
	ck_assert_str_eq(all(), "a/g:q@10=kept ");
	set("a", "f", "q", 5, "new");
	reopen();
	ck_assert_str_eq(all(), "a/f:q@5=new a/g:q@10=kept ");
	ck_assert_int_eq(store_drop_table(s, str("t"), true),
			 -ERR_table_not_empty);
	ck_assert_int_eq(store_rename_table(s, str("t"), str("u")), 0);
	ck_assert_int_eq(store_rename_table(s, str("u"), str("t")), 0);
	ck_assert_str_eq(all(), "a/f:q@5=new a/g:q@10=kept ");
	ck_assert_int_eq(store_drop_table(s, str("t"), false), 0);
	ck_assert_int_eq(store_create_table(s, str("t"), false, &f, 1), 0);
	ck_assert_str_eq(all(), "");
	reopen();
	ck_assert_str_eq(all(), "");
}
END_TEST

START_TEST(refusals)
{
	static char big[STORE_ROW_KEY_MAX + 2];
	struct write *w;

	memset(big, 'x', sizeof(big) - 1);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("nope"), str("a")), -ERR_no_table);
	ck_assert_int_eq(write_row(w, str("t"), str("")), -ERR_row_key_empty);
	ck_assert_int_eq(write_row(w, str("t"), str(big)),
			 -ERR_row_key_too_long);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_set(w, str("h"), str("q"), 1, str("")),
			 -ERR_no_family);
	ck_assert_int_eq(write_set(w, str("f"), str("q"),
				   (uint64_t)INT64_MAX + 1, str("")),
			 -ERR_bad_timestamp);
	ck_assert_int_eq(write_delete_cells(w, str("f"), str("q"), 5, 5),
			 -ERR_bad_timestamp);
	ck_assert_uint_eq(write_count(w), 0);
	ck_assert_int_eq(store_create_table(s, str("-x"), false, NULL, 0),
			 -ERR_bad_name);
	ck_assert_int_eq(store_create_table(s, str("a/b"), false, NULL, 0),
			 -ERR_bad_name);
	ck_assert_int_eq(store_create_table(s, str("t"), false, NULL, 0),
			 -ERR_table_exists);
	ck_assert_int_eq(store_set_granularity(s, str("t"), true), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 1001, str("")),
			 -ERR_bad_timestamp);
	/* A family that goes away between adding and committing. */
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 1000, str("")), 0);
	ck_assert_int_eq(store_drop_family(s, str("t"), str("f")), 0);
	ck_assert_int_eq(store_commit(s, w, false), -ERR_no_family);
	ck_assert_str_eq(all(), "");
	write_free(w);
}
END_TEST

static unsigned int stop_count;

static bool stop(void)
{
	stop_count++;
	return true;
}

/* Who asks is let go also while nothing is found. */
START_TEST(stops_among_what_is_hidden)
{
	struct scan_range range = { .table = str("t"), .stop = stop };
	char row[16];
	struct scan *scan;
	struct cell cell;
	struct write *w;
	unsigned int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < 2 * STORE_STOP_CELLS; i++) {
		snprintf(row, sizeof(row), "row%05u", i);
		ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
		ck_assert_int_eq(write_set(w, str("f"), str("q"), 1, str("v")),
				 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(
		write_delete_range(w, str("t"), BYTES_NONE, BYTES_NONE), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	for (i = 0; i < 4; i++) {
		range.rows_only = i & 1;
		range.reverse = i & 2;
		stop_count = 0;
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		ck_assert_int_eq(scan_next(scan, CURSOR_ROW, &cell), -EINTR);
		ck_assert_uint_eq(stop_count, 1);
		scan_close(scan);
	}
}
END_TEST

/* Nor is a large value read to its end for nobody, by a filter or by who wants
 * it. */
START_TEST(stops_within_a_large_value)
{
	struct scan_range range = { .table = str("t"), .stop = stop };
	size_t size = 3 << 20, i;
	uint8_t *value = malloc(size);
	struct scan *scan;
	struct cell cell;
	struct write *w;

	ck_assert_ptr_nonnull(value);
	for (i = 0; i < size; i++)
		value[i] = (uint8_t)(i * i >> 7);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("large")), 0);
	ck_assert_int_eq(
		write_set(w, str("f"), str("q"), 1, bytes_of(value, size)), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	free(value);
	for (i = 0; i < 2; i++) {
		if (i > 0)
			ck_assert_int_eq(
				filter_new_value(str("x.*"), &range.filter), 0);
		stop_count = 0;
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell),
				 -EINTR);
		ck_assert_uint_eq(stop_count, 1);
		scan_close(scan);
	}
	filter_free(range.filter);
}
END_TEST

/* Any number read, or one writes. */
START_TEST(readers_keep_a_writer_out)
{
	struct store_options options;
	struct store *other, *third;

	store_options_init(&options);
	options.read_only = true;
	ck_assert_int_eq(store_open(directory, &options, &other),
			 -ERR_store_in_use);
	ck_assert_int_eq(store_close(s), 0);
	ck_assert_int_eq(store_open(directory, &options, &s), 0);
	ck_assert_int_eq(store_open(directory, &options, &other), 0);
	ck_assert_int_eq(store_close(s), 0);
	options.read_only = false;
	ck_assert_int_eq(store_open(directory, &options, &third),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "only reads"));
	ck_assert_int_eq(store_drop_table(other, str("t"), false),
			 -ERR_store_readonly);
	ck_assert_int_eq(store_close(other), 0);
	open_store();
}
END_TEST

/* What timestamps are may change between adding and committing. */
START_TEST(granularity_of_the_commit)
{
	struct scan_range range = { .table = str("t") };
	struct scan *scan;
	struct cell cell;
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 1001, str("")), 0);
	ck_assert_int_eq(store_set_granularity(s, str("t"), true), 0);
	ck_assert_int_eq(store_commit(s, w, false), -ERR_bad_timestamp);
	ck_assert_str_eq(all(), "");
	ck_assert_int_eq(store_set_granularity(s, str("t"), false), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("p"), 7000, str("v")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), STORE_NOW, str("")),
			 0);
	ck_assert_int_eq(write_set(w, str("f"), str("r"), STORE_NOW, str("v")),
			 0);
	ck_assert_int_eq(store_set_granularity(s, str("t"), true), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1) {
		ck_assert_uint_eq(cell.timestamp_us % 1000, 0);
		ck_assert_uint_gt(cell.timestamp_us, 0);
	}
	scan_close(scan);
}
END_TEST

/* More than a memtable holds, so that flushes and compactions happen. */
START_TEST(many_rows)
{
	struct scan_range range = { .table = str("t") };
	struct write *w;
	struct scan *scan;
	struct cell c;
	char row[32], value[128];
	int i, err, rows = 60000;

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < rows; i++) {
		snprintf(row, sizeof(row), "row%08d", (i * 7919) % rows);
		ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
		ck_assert_int_eq(
			write_set(w, str("f"), str("q"), 1, str(value)), 0);
		if (i % 100 == 99) {
			err = store_commit(s, w, false);
			ck_assert_msg(err == 0, "%s: %s", err_text(err),
				      err_detail());
		}
	}
	write_free(w);
	reopen();
	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	for (i = 0; (err = scan_next(scan, CURSOR_ROW, &c)) == 1; i++) {
		snprintf(row, sizeof(row), "row%08d", i);
		ck_assert(bytes_equal(c.row, str(row)));
	}
	ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
	ck_assert_int_eq(i, rows);
	scan_close(scan);
	range.reverse = true;
	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	for (i = rows - 1; (err = scan_next(scan, CURSOR_ROW, &c)) == 1; i--) {
		snprintf(row, sizeof(row), "row%08d", i);
		ck_assert(bytes_equal(c.row, str(row)));
	}
	ck_assert_int_eq(i, -1);
	scan_close(scan);
}
END_TEST

/* A version was deleted before there was a policy that counts versions. A merge
 * that sees the version, but not its deletion, must not count it. */
START_TEST(deletions_older_than_the_policy)
{
	struct gc_policy *newest = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct scan_range all = { 0 };
	struct store_stats stats;
	struct write *w;
	int i;

	for (i = 0; i < 4; i++) {
		set("r", "f", "q", 1000, "old");
		set("r", "f", "q", 2000, "new");
		ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	}
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_delete_cells(w, str("f"), str("q"), 2000, 2001),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), newest), 0);
	ck_assert_str_eq(dump(all, CURSOR_VERSION), "r/f:q@1000=old ");
	ck_assert_int_eq(engine_step(store_engine(s)), 1);
	store_stats(s, &stats);
	ck_assert_uint_eq(stats.compaction_count, 1);
	ck_assert_str_eq(dump(all, CURSOR_VERSION), "r/f:q@1000=old ");
	/* Once all is in one place, the policy is gone by again. */
	set("r", "f", "q", 3000, "newest");
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_str_eq(dump(all, CURSOR_VERSION), "r/f:q@3000=newest ");
	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), NULL), 0);
	ck_assert_str_eq(dump(all, CURSOR_VERSION), "r/f:q@3000=newest ");
	gc_policy_free(newest);
}
END_TEST

/* Compares what of shows, by each way to read, with want; "b" is a row that it
 * shows nothing of. */
static void check_moment(struct snapshot *of, const char *want)
{
	struct scan_range rows = { .rows_only = true };
	struct buf memory = BUF_INIT;
	struct cell c;

	moment = of;
	ck_assert_str_eq(all(), want);
	ck_assert_str_eq(dump(rows, CURSOR_ROW), "a/:@0= ");
	moment = NULL;
	ck_assert_int_eq(store_get(s, of, str("t"), str("b"), str("f"),
				   str("q"), &c, &memory),
			 0);
	buf_release(&memory);
}

/* Five versions from now back, a second apart, in the row "a", and one in "b"
 * that is much older. */
static void set_versions(void)
{
	uint64_t i;

	for (i = 0; i < 5; i++)
		set("a", "f", "q", now_us - i * 1000000, "v");
	set("b", "f", "q", now_us - UINT64_C(500000000), "v");
}

/* What is hidden goes at the compaction, if there is one, or is deleted by the
 * next policy; the snapshot shows neither again. */
START_TEST(a_snapshot_shows_nothing_again)
{
	struct gc_policy *age = gc_policy_leaf(GC_MAX_AGE, 2500000);
	struct gc_policy *one =
		gc_policy_pair(GC_UNION, gc_policy_leaf(GC_MAX_VERSIONS, 1),
			       gc_policy_leaf(GC_MAX_AGE, UINT64_C(60000000)));
	const struct {
		const struct gc_policy *gc;
		const char *want;
	} cases[] = { { one, "a/f:q@1000000000=v " },
		      { age, "a/f:q@1000000000=v a/f:q@999000000=v "
			     "a/f:q@998000000=v " } };
	struct snapshot *old;
	size_t i;

	now_us = UINT64_C(1000000000);
	for (i = 0; i < 4; i++) {
		const char *want = cases[i / 2].want;

		ck_assert_int_eq(
			store_set_gc(s, str("t"), str("f"), cases[i / 2].gc),
			0);
		set_versions();
		if (i % 2)
			ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
		ck_assert_int_eq(store_snapshot(s, &old), 0);
		check_moment(old, want);
		ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), NULL), 0);
		check_moment(old, want);
		set_versions();
		ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
		check_moment(old, want);
		store_snapshot_release(s, old);
	}
	gc_policy_free(age);
	gc_policy_free(one);
}
END_TEST

/* Nor does it lose what a later policy hides, when that is in force, when it is
 * compacted by or when it has gone again. A younger one, which that policy
 * holds for, does not get back what the older one keeps. */
START_TEST(a_snapshot_loses_nothing)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	const char *five = "a/f:q@1000000000=v a/f:q@999000000=v "
			   "a/f:q@998000000=v a/f:q@997000000=v "
			   "a/f:q@996000000=v ";
	struct snapshot *old, *young;
	uint64_t i;

	for (i = 0; i < 5; i++)
		set("a", "f", "q", UINT64_C(1000000000) - i * 1000000, "v");
	ck_assert_int_eq(store_snapshot(s, &old), 0);
	/* The very next write. */
	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), one), 0);
	check_moment(old, five);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	check_moment(old, five);
	ck_assert_int_eq(store_snapshot(s, &young), 0);
	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), NULL), 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	check_moment(old, five);
	check_moment(young, "a/f:q@1000000000=v ");
	store_snapshot_release(s, old);
	check_moment(young, "a/f:q@1000000000=v ");
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	check_moment(young, "a/f:q@1000000000=v ");
	store_snapshot_release(s, young);
	gc_policy_free(one);
}
END_TEST

/* A family that is one of aggregates by now was none. */
START_TEST(a_snapshot_has_its_types)
{
	struct buf memory = BUF_INIT;
	struct snapshot *old;
	struct write *w;
	struct cell c;

	set("a", "f", "q", 10, "12345678");
	ck_assert_int_eq(store_snapshot(s, &old), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_set_type(s, str("t"), str("f"), FAMILY_INTSUM),
			 0);
	ck_assert_int_eq(write_row(w, str("t"), str("a")), 0);
	ck_assert_int_eq(write_add(w, str("f"), str("q"), 10, 1), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	ck_assert_int_eq(store_get(s, old, str("t"), str("a"), str("f"),
				   str("q"), &c, &memory),
			 1);
	ck_assert_int_eq(c.aggregate, AGGREGATE_NONE);
	ck_assert_int_eq(store_get(s, NULL, str("t"), str("a"), str("f"),
				   str("q"), &c, &memory),
			 1);
	ck_assert_int_eq(c.aggregate, AGGREGATE_SUM);
	buf_release(&memory);
	store_snapshot_release(s, old);
}
END_TEST

/* What is dropped later is there in a snapshot, and what is there goes by the
 * name that it had. */
START_TEST(a_snapshot_has_what_is_dropped_later)
{
	static const char was[] = "a/f:q@10=old a/g:q@10=kept ";
	struct family_spec f = { .name = str("f") };
	struct snapshot *old;

	set("a", "f", "q", 10, "old");
	set("a", "g", "q", 10, "kept");
	ck_assert_int_eq(store_snapshot(s, &old), 0);
	moment = old;
	ck_assert_str_eq(all(), was);
	ck_assert_int_eq(store_drop_family(s, str("t"), str("f")), 0);
	ck_assert_str_eq(all(), was);
	ck_assert_int_eq(store_create_family(s, str("t"), &f), 0);
	set("a", "f", "q", 10, "new");
	ck_assert_str_eq(all(), was);
	ck_assert_int_eq(store_rename_table(s, str("t"), str("u")), 0);
	ck_assert_str_eq(all(), was);
	ck_assert_int_eq(store_create_table(s, str("t"), false, &f, 1), 0);
	ck_assert_str_eq(all(), was);
	ck_assert_int_eq(store_drop_table(s, str("t"), false), 0);
	ck_assert_int_eq(store_rename_table(s, str("u"), str("t")), 0);
	ck_assert_str_eq(all(), was);
	moment = NULL;
	ck_assert_str_eq(all(), "a/f:q@10=new a/g:q@10=kept ");
	store_snapshot_release(s, old);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { versions_and_steps,
				 deletes,
				 policies,
				 dropped_and_made_again,
				 refusals,
				 granularity_of_the_commit,
				 stops_among_what_is_hidden,
				 stops_within_a_large_value,
				 readers_keep_a_writer_out,
				 many_rows,
				 deletions_older_than_the_policy,
				 a_snapshot_shows_nothing_again,
				 a_snapshot_loses_nothing,
				 a_snapshot_has_its_types,
				 a_snapshot_has_what_is_dropped_later };

	return run_suite("store", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
