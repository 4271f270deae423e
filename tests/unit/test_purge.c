#include "store/base/hash.h"
#include "store/engine/purge/purge.h"
#include "store/engine/purge/visit.h"
#include "store/engine/run/backup.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "tests/unit/history_store.h"

/* What is purged is in no file of the store: neither as it stands there, nor
 * when blocks are unpacked; and all else is as it was, in the past too. */

#define SECRET "quxsecretqux"
#define VALUE "quxvaluequx"

static struct volume *volume;

static void set_up_kept(void)
{
	set_up();
	volume = store_volume(store);
	volume_mem_keep(volume);
}

static void tear_down_kept(void)
{
	tear_down();
	volume->ops->close(volume);
}

static bool has_text(struct bytes b, const char *text)
{
	return b.size > 0 && memmem(b.data, b.size, text, strlen(text));
}

struct search {
	struct volume *volume;
	unsigned int found;
};

static int search_file(void *context, const char *name)
{
	struct search *s = context;
	struct bytes content = volume_mem_file(s->volume, name);

	s->found += has_text(content, SECRET) || has_text(content, VALUE);
	return 0;
}

static int search_entry(void *context, struct bytes key, struct bytes value)
{
	struct search *s = context;

	s->found += has_text(key, SECRET) || has_text(value, VALUE);
	return 0;
}

/* Files that have it as it stands, and entries that do. */
static unsigned int found(void)
{
	struct search s = { .volume = volume };

	ck_assert_int_eq(volume->ops->list(volume, search_file, &s), 0);
	ck_assert_int_eq(engine_visit(store_engine(store), BYTES_NONE,
				      bytes_string("\xff\xff\xff\xff\xff"),
				      search_entry, &s),
			 0);
	return s.found;
}

static int purge_span(const char *start, const char *end,
		      struct purge_result *r)
{
	const struct purge_span span = { bytes_string(start),
					 bytes_string(end) };

	return store_purge(store, bytes_string("t"), &span, 1, 0, r);
}

/* One row. */
static int purge(const char *row, struct purge_result *r)
{
	const struct purge_span span = { bytes_string(row),
					 bytes_of(row, strlen(row) + 1) };

	return store_purge(store, bytes_string("t"), &span, 1, 0, r);
}

static void add(const char *row, int64_t number)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_add(w, BYTES_LITERAL("sum"), BYTES_LITERAL("q"),
				   1000, number),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static void delete_between(const char *start, const char *end)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_delete_range(w, bytes_string("t"),
					    bytes_string(start),
					    bytes_string(end)),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* A sum over all that is seen of other rows at a time, 0: now. */
static uint64_t others(uint64_t time_us)
{
	struct scan_range all = { .table = bytes_string("t") };
	struct snapshot *moment = NULL;
	uint64_t hash = 1;
	struct scan *scan;
	struct cell cell;

	if (time_us > 0)
		ck_assert_int_eq(store_moment(store, time_us, &moment), 0);
	ck_assert_int_eq(scan_open(store, moment, &all, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1) {
		struct buf b = BUF_INIT;

		if (bytes_equal(cell.row, bytes_string(SECRET)))
			continue;
		ck_assert_int_eq(buf_add_bytes(&b, cell.row), 0);
		ck_assert_int_eq(buf_add_bytes(&b, cell.family), 0);
		ck_assert_int_eq(scan_load(scan, &cell, &b), 0);
		hash = hash * 31 + hash64(buf_bytes(&b)) + cell.timestamp_us;
		buf_release(&b);
	}
	scan_close(scan);
	store_snapshot_release(store, moment);
	return hash;
}

#define MOMENTS 6

/* A store with the secret in the tree, in history and in memtables, and in the
 * bounds of deletions: times[i] are moments of it. */
static void fill(uint64_t *times)
{
	put("a", "g", 1000, "1");
	put("zz", "g", 1000, "1");
	put(SECRET, "g", 1000, VALUE);
	times[0] = tick();
	settle();
	put(SECRET, "f", 2000, VALUE "2");
	put(SECRET "0", "g", 1000, "neighbour");
	put("pux", "g", 1000, "neighbour");
	times[1] = tick();
	settle();
	/* Bounds that name it. */
	delete_between(SECRET, "zzz");
	put("zz", "g", 2000, "2");
	times[2] = tick();
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	delete_between("b", SECRET);
	add(SECRET, 3);
	times[3] = tick();
	settle();
	put(SECRET, "g", 3000, VALUE "3");
	put("a", "f", 3000, "3");
	put("rux", "g", 3000, "3");
	times[4] = tick();
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	put(SECRET, "g", 4000, VALUE "4");
	delete_row("a");
	times[5] = tick();
}

static void problem(void *context, const char *text)
{
	(void)context;
	ck_abort_msg("%s", text);
}

START_TEST(nothing_of_a_row_is_left)
{
	uint64_t times[MOMENTS], before[MOMENTS], now;
	struct purge_result r;
	int i;

	fill(times);
	for (i = 0; i < MOMENTS; i++)
		before[i] = others(times[i]);
	now = others(0);
	ck_assert_uint_gt(found(), 3);
	ck_assert_uint_gt(history_files(), 0);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	ck_assert_uint_eq(r.rows, 1);
	ck_assert_uint_gt(r.entries, 5);
	ck_assert_uint_gt(r.files, 0);
	ck_assert_uint_gt(r.past_files, 0);
	/* The neighbour's key begins with it. */
	ck_assert_int_eq(purge(SECRET "0", &r), 0);
	ck_assert_uint_eq(found(), 0);
	for (i = 0; i < MOMENTS; i++)
		before[i] = others(times[i]);
	settle();
	tick();
	for (i = 0; i < MOMENTS; i++)
		ck_assert_uint_eq(others(times[i]), before[i]);
	ck_assert_uint_eq(others(0), now);
	ck_assert_int_eq(store_check(store, problem, NULL), 0);
}
END_TEST

/* Each moment shows the others as before, at once and after merges. */
START_TEST(others_stay_at_each_moment)
{
	uint64_t times[MOMENTS], before[MOMENTS], now;
	struct purge_result r;
	int i;

	fill(times);
	for (i = 0; i < MOMENTS; i++)
		before[i] = others(times[i]);
	now = others(0);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	for (i = 0; i < MOMENTS; i++)
		ck_assert_uint_eq(others(times[i]), before[i]);
	settle();
	for (i = 0; i < MOMENTS; i++)
		ck_assert_uint_eq(others(times[i]), before[i]);
	ck_assert_uint_eq(others(0), now);
	/* There is nothing more to do. */
	ck_assert_int_eq(purge(SECRET, &r), 0);
	ck_assert_uint_eq(r.rows, 0);
	ck_assert_uint_eq(r.past_files, 0);
}
END_TEST

/* Of a table that was dropped, too, and of several of one name. */
START_TEST(tables_that_were_dropped)
{
	struct family_spec family = { .name = BYTES_LITERAL("g") };
	struct purge_result r;
	uint64_t time;

	put(SECRET, "g", 1000, VALUE);
	time = tick();
	settle();
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	tick();
	settle();
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
	put(SECRET, "g", 1000, VALUE);
	tick();
	settle();
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	tick();
	ck_assert_uint_gt(found(), 1);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	ck_assert_uint_eq(found(), 0);
	ck_assert_int_eq(seen(time), 0);
	ck_assert_int_eq(
		store_purge(store, bytes_string("never"), NULL, 0, 0, &r), 0);
}
END_TEST

START_TEST(what_is_refused)
{
	const struct purge_span all = { BYTES_NONE, BYTES_NONE };
	struct purge_result r;

	ck_assert_int_eq(
		store_purge(store, bytes_string("never"), &all, 1, 0, &r),
		-ERR_no_table);
	put("a", "g", 1000, "1");
	ck_assert_int_eq(store_set_attribute(store, bytes_string("t"),
					     BYTES_LITERAL(STORE_PROTECTED),
					     BYTES_LITERAL("1")),
			 0);
	ck_assert_int_eq(purge("a", &r), -EPERM);
	ck_assert_int_eq(seen(0), 1);
	ck_assert_ptr_nonnull(strstr(err_detail(), "protect t off"));
}
END_TEST

/* What came after the rows were deleted is not theirs. */
START_TEST(newer_writes_stay)
{
	struct engine *e = store_engine(store);
	struct buf from = BUF_INIT, to = BUF_INIT;
	struct erase_range range;
	struct purge_result r = { 0 };
	uint64_t seq;

	put("a", "g", 1000, VALUE);
	delete_row("a");
	seq = engine_visible_seq(e);
	put("a", "g", 2000, "new");
	ck_assert_int_eq(key_row_range(1, bytes_string("a"), bytes_string("b"),
				       &from, &to),
			 0);
	range = (struct erase_range){ buf_bytes(&from), buf_bytes(&to) };
	ck_assert_int_eq(engine_purge(e, &range, 1, seq, 0, &r), 0);
	ck_assert_uint_ge(r.entries, 1);
	ck_assert_uint_eq(found(), 0);
	ck_assert_int_eq(seen(0), 1);
	buf_release(&from);
	buf_release(&to);
}
END_TEST

/* A whole table: ranges of tables that follow one another touch. */
START_TEST(all_rows)
{
	struct purge_result r;
	uint64_t times[MOMENTS];
	int i;

	fill(times);
	ck_assert_int_eq(purge_span("", "", &r), 0);
	ck_assert_uint_eq(r.rows, 3);
	ck_assert_uint_eq(found(), 0);
	ck_assert_int_eq(seen(0), 0);
	for (i = 0; i < MOMENTS; i++)
		ck_assert_int_eq(seen(times[i]), 0);
	put("a", "g", 1000, "1");
	ck_assert_int_eq(seen(0), 1);
}
END_TEST

/* Who reads a file that is to go is named, and the same call again ends it. */
START_TEST(who_still_reads_is_told)
{
	struct scan_range all = { .table = bytes_string("t") };
	uint64_t times[MOMENTS];
	struct snapshot *moment;
	struct purge_result r;
	struct scan *scan;
	struct cell cell;

	fill(times);
	ck_assert_int_eq(store_moment(store, times[1], &moment), 0);
	ck_assert_int_eq(scan_open(store, moment, &all, &scan), 0);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	ck_assert_int_eq(purge(SECRET, &r), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err_detail(), "a moment of the past"));
	ck_assert_uint_gt(r.files, 0);
	ck_assert_int_eq(purge(SECRET, &r), -EBUSY);
	scan_close(scan);
	store_snapshot_release(store, moment);
	ck_assert_int_eq(purge(SECRET "0", &r), 0);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	ck_assert_uint_eq(found(), 0);
}
END_TEST

START_TEST(a_backup_under_way_is_told)
{
	struct engine *e = store_engine(store);
	struct buf contents = BUF_INIT;
	uint64_t times[MOMENTS];
	struct purge_result r;
	struct version *pin;

	fill(times);
	ck_assert_int_eq(engine_pin(e, &contents, &pin), 0);
	ck_assert_int_eq(purge(SECRET, &r), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err_detail(), "a backup"));
	engine_unpin(e, pin);
	buf_release(&contents);
	ck_assert_int_eq(purge(SECRET "0", &r), 0);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	ck_assert_uint_eq(found(), 0);
}
END_TEST

START_TEST(without_room_nothing_is_lost)
{
	uint64_t times[MOMENTS], before;
	struct purge_result r;
	unsigned int had;

	fill(times);
	before = others(times[1]);
	volume_mem_available(volume, 100);
	ck_assert_int_eq(purge(SECRET, &r), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err_detail(), "and 100 are free"));
	had = found();
	ck_assert_uint_gt(had, 0);
	ck_assert_uint_eq(others(times[1]), before);
	volume_mem_available(volume, 1 << 29);
	ck_assert_int_eq(purge(SECRET "0", &r), 0);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	ck_assert_uint_eq(found(), 0);
}
END_TEST

/* Clones of the volume as kills at each change would leave it. */
#define CLONES_MAX 400
static struct volume *clones[CLONES_MAX];
static size_t clone_count;

static void take_clone(void *context, struct volume *v)
{
	(void)context;
	ck_assert_uint_lt(clone_count, CLONES_MAX);
	ck_assert_int_eq(volume_mem_kill_clone(v, &clones[clone_count++]), 0);
}

/* Killed anywhere, others are as they were, and the same call again ends it. */
START_TEST(killed_anywhere)
{
	uint64_t times[MOMENTS], before[MOMENTS], now;
	struct store_options o;
	struct purge_result r;
	size_t i;
	int j;

	fill(times);
	for (j = 0; j < MOMENTS; j++)
		before[j] = others(times[j]);
	now = others(0);
	volume_mem_hook(volume, take_clone, NULL);
	ck_assert_int_eq(purge(SECRET, &r), 0);
	volume_mem_hook(volume, NULL, NULL);
	ck_assert_uint_gt(clone_count, 20);
	history_options(&o);
	for (i = 0; i < clone_count; i++) {
		tear_down_kept();
		volume = clones[i];
		volume_mem_keep(volume);
		ck_assert_int_eq(store_open_volume(volume, &o, &store), 0);
		ck_assert_uint_eq(others(0), now);
		for (j = 0; j < 3; j++)
			ck_assert_uint_eq(others(times[j]), before[j]);
		ck_assert_int_eq(purge(SECRET "0", &r), 0);
		ck_assert_int_eq(purge(SECRET, &r), 0);
		ck_assert_uint_eq(found(), 0);
	}
	clone_count = 0;
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		nothing_of_a_row_is_left,
		others_stay_at_each_moment,
		tables_that_were_dropped,
		what_is_refused,
		newer_writes_stay,
		all_rows,
		who_still_reads_is_told,
		a_backup_under_way_is_told,
		without_room_nothing_is_lost,
		killed_anywhere,
	};

	return run_suite("purge", set_up_kept, tear_down_kept, tests,
			 sizeof(tests) / sizeof(*tests));
}
