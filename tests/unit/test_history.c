#include "store/engine/run/dead.h"
#include "tests/unit/history_store.h"

/* What can be read of the recent past, what is kept for it, and when that goes.
 */

START_TEST(what_was_deleted_is_there_before)
{
	uint64_t empty = tick(), full, gone, least;

	settle();
	least = tree_entries();
	put("a", "g", 1000, "1");
	put("b", "g", 1000, "1");
	full = tick();
	settle();
	delete_row("a");
	gone = tick();
	settle();
	delete_row("b");
	tick();
	settle();
	ck_assert_int_eq(seen(0), 0);
	ck_assert_uint_eq(tree_entries(), least);
	ck_assert_int_eq(seen(empty), 0);
	ck_assert_int_eq(seen(full), 2);
	ck_assert_int_eq(seen(gone), 1);
	ck_assert_int_eq(seen(now_us), 0);
	/* Between two moments it is the one before. */
	ck_assert_int_eq(seen(gone - 1), 2);
	ck_assert_int_eq(seen(1), -ERR_no_moment);
	ck_assert_uint_gt(history_files(), 0);
}
END_TEST

/* Rewritten within one second it is nobody's. */
START_TEST(what_no_moment_sees_is_not_kept)
{
	int i;

	tick();
	settle();
	for (i = 0; i < 50; i++)
		put("a", "g", 1000, "value");
	settle();
	ck_assert_uint_eq(history_files(), 0);
	for (i = 0; i < 50; i++)
		put("a", "f", 1000 + (uint64_t)i, "value");
	settle();
	ck_assert_uint_eq(history_files(), 0);
}
END_TEST

/* Policies, families and tables are those of the moment. */
START_TEST(a_moment_has_its_schema)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	uint64_t all, limited, dropped;

	put("a", "g", 1000, "1");
	put("a", "g", 2000, "2");
	put("a", "f", 1000, "3");
	all = tick();
	ck_assert_int_eq(
		store_set_gc(store, bytes_string("t"), bytes_string("g"), one),
		0);
	limited = tick();
	settle();
	ck_assert_int_eq(
		store_drop_family(store, bytes_string("t"), bytes_string("g")),
		0);
	dropped = tick();
	settle();
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	tick();
	settle();
	ck_assert_int_eq(seen(all), 3);
	ck_assert_int_eq(seen(limited), 2);
	ck_assert_int_eq(seen(dropped), 1);
	ck_assert_int_eq(seen(now_us), -ERR_no_table);
	gc_policy_free(one);
}
END_TEST

/* Of versions that push one another out, each moment has its own. */
START_TEST(ranks_are_those_of_the_moment)
{
	uint64_t times[10], i;
	struct snapshot *moment;
	struct buf memory = BUF_INIT;
	struct cell cell;

	for (i = 0; i < 10; i++) {
		char value[2] = { (char)('0' + i), 0 };

		put("a", "f", 1000 + i, value);
		times[i] = tick();
		if (i % 3 == 0)
			settle();
	}
	settle();
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(seen(times[i]), 1);
		ck_assert_int_eq(store_moment(store, times[i], &moment), 0);
		ck_assert_int_eq(store_get(store, moment, bytes_string("t"),
					   bytes_string("a"), bytes_string("f"),
					   bytes_string("q"), &cell, &memory),
				 1);
		ck_assert_uint_eq(cell.timestamp_us, 1000 + i);
		ck_assert_uint_eq(cell.value.data[0], '0' + i);
		store_snapshot_release(store, moment);
	}
	buf_release(&memory);
}
END_TEST

static void add(int64_t number)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("a")), 0);
	ck_assert_int_eq(write_add(w, bytes_string("sum"), bytes_string("q"),
				   1000, number),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static uint64_t sum_at(uint64_t time_us)
{
	struct buf memory = BUF_INIT;
	struct snapshot *moment;
	struct cell cell;
	uint64_t sum;

	ck_assert_int_eq(store_moment(store, time_us, &moment), 0);
	ck_assert_int_eq(store_get(store, moment, bytes_string("t"),
				   bytes_string("a"), bytes_string("sum"),
				   bytes_string("q"), &cell, &memory),
			 1);
	sum = cell.value.data[7];
	store_snapshot_release(store, moment);
	buf_release(&memory);
	return sum;
}

/* The tree has the sum alone, and what is before it stays apart. */
START_TEST(parts_of_a_sum)
{
	uint64_t times[6], least, i, j;

	tick();
	settle();
	least = tree_entries();
	for (i = 0; i < 6; i++) {
		for (j = 0; j < 5; j++)
			add(1);
		times[i] = tick();
		settle();
		ck_assert_uint_eq(tree_entries(), least + 1);
	}
	for (i = 0; i < 6; i++)
		ck_assert_uint_eq(sum_at(times[i]), 5 * (i + 1));
}
END_TEST

/* By age, and by its cap, the oldest first. */
START_TEST(history_ends)
{
	uint64_t full, i;

	put("a", "g", 1000, "1");
	full = tick();
	settle();
	delete_row("a");
	tick();
	settle();
	ck_assert_uint_gt(history_files(), 0);
	for (i = 0; i < 25; i++) {
		now_us += 3600 * SECOND;
		put("b", "g", 1000, "1");
		engine_tick(store_engine(store));
	}
	settle();
	engine_tick(store_engine(store));
	settle();
	ck_assert_int_eq(seen(full), -ERR_no_moment);
	ck_assert_int_eq(seen(0), 1);
	store_close(store);
	store = make(86400 * SECOND, 1);
	put("a", "g", 1000, "1");
	full = tick();
	settle();
	delete_row("a");
	tick();
	settle();
	ck_assert_uint_eq(history_files(), 0);
	ck_assert_int_eq(seen(full), -ERR_no_moment);
}
END_TEST

/* Who reads at a moment keeps it from getting too old, and is told when it is
 * given up. */
START_TEST(a_moment_that_is_read)
{
	struct snapshot *moment;
	struct scan_range all = { .table = bytes_string("t") };
	struct scan *scan;
	uint64_t full;
	int i;

	put("a", "g", 1000, "1");
	full = tick();
	ck_assert_int_eq(store_moment(store, full, &moment), 0);
	ck_assert_uint_eq(store_moment_time(moment), full);
	delete_row("a");
	for (i = 0; i < 30; i++) {
		now_us += 3600 * SECOND;
		put("b", "g", 1000, "1");
		tick();
	}
	settle();
	ck_assert_int_eq(seen(full), 1);
	ck_assert_int_eq(history_forget(store_engine(store), UINT64_MAX), 0);
	ck_assert_int_eq(scan_open(store, moment, &all, &scan),
			 -ERR_moment_gone);
	store_snapshot_release(store, moment);
}
END_TEST

/* Whoever brings back a moment makes history by that, and keeps it. */
START_TEST(the_cap_waits_for_readers)
{
	struct snapshot *moment;
	uint64_t full;

	store_close(store);
	store = make(86400 * SECOND, 1);
	put("a", "g", 1000, "1");
	full = tick();
	settle();
	ck_assert_int_eq(store_moment(store, full, &moment), 0);
	delete_row("a");
	tick();
	settle();
	ck_assert_uint_gt(history_files(), 0);
	ck_assert_int_eq(seen(full), 1);
	store_snapshot_release(store, moment);
	tick();
	settle();
	ck_assert_uint_eq(history_files(), 0);
	ck_assert_int_eq(seen(full), -ERR_no_moment);
}
END_TEST

/* Without history there is neither a file nor an edit of it. */
START_TEST(none_is_kept_unless_wanted)
{
	struct engine *e;

	store_close(store);
	store = make(0, 0);
	e = store_engine(store);
	put("a", "g", 1000, "1");
	engine_tick(e);
	settle();
	delete_row("a");
	engine_tick(e);
	settle();
	ck_assert_uint_eq(history_files(), 0);
	ck_assert_uint_eq(e->manifest->moment_count, 0);
	ck_assert_uint_eq(e->moments->count, 0);
	ck_assert_int_eq(seen(now_us), -ERR_no_moment);
}
END_TEST

/* It is the store's, whoever opens it; and what there is goes with it. */
START_TEST(the_setting_stays)
{
	struct store_options o;
	struct store *again;
	struct volume *clone;
	struct history h;
	uint64_t full;

	put("a", "g", 1000, "1");
	full = tick();
	settle();
	delete_row("a");
	tick();
	settle();
	ck_assert_int_eq(store_sync(store), 0);
	ck_assert_int_eq(volume_mem_kill_clone(store_volume(store), &clone), 0);
	mem_store_options(&o);
	o.clock = &test_clock;
	ck_assert_int_eq(store_open_volume(clone, &o, &again), 0);
	ck_assert_int_eq(store_close(store), 0);
	store = again;
	store_history(store, &h);
	ck_assert_uint_eq(h.keep_us, 86400 * SECOND);
	ck_assert_uint_eq(h.max_size, 1 << 30);
	ck_assert_uint_gt(h.size, 0);
	ck_assert_uint_le(h.oldest_us, full);
	ck_assert_int_eq(seen(full), 1);
	ck_assert_int_eq(store_set_history(store, 0, 0), 0);
	store_history(store, &h);
	ck_assert_uint_eq(h.keep_us, 0);
	ck_assert_uint_eq(h.size, 0);
	ck_assert_uint_eq(h.oldest_us, 0);
	ck_assert_int_eq(seen(full), -ERR_no_moment);
	ck_assert_uint_eq(history_files(), 0);
	ck_assert_uint_eq(store_engine(store)->manifest->moment_count, 0);
}
END_TEST

/* store, closed without an end and opened again, to keep a day if it is new. */
static void open_again(void)
{
	struct store_options o;
	struct volume *clone;
	struct store *again;

	history_options(&o);
	ck_assert_int_eq(volume_mem_kill_clone(store_volume(store), &clone), 0);
	ck_assert_int_eq(store_open_volume(clone, &o, &again), 0);
	ck_assert_int_eq(store_close(store), 0);
	store = again;
	ck_assert_int_eq(store_begin_history(store, STORE_HISTORY_DAY_US), 0);
}

/* What a new store keeps its opening says; one that was written to keeps what
 * it kept. */
/* Makes and drops a table with this mode: its id. */
static uint32_t drop_one(uint32_t mode)
{
	const struct table_access access = { mode, 7, 8 };
	struct bytes name = bytes_string("gone");
	uint32_t id;

	ck_assert_int_eq(store_create_table_for(store, name, &access), 0);
	id = store_table_id(store, NULL, name);
	ck_assert_int_eq(store_drop_table(store, name, false), 0);
	return id;
}

/* Whether the store knows whose it was; *out is that. */
static bool is_known(uint32_t id, struct table_access *out)
{
	struct schema *schema = store_schema(store);
	bool known = schema_dropped_access(schema, id, out);

	schema_put(schema);
	return known;
}

/* As long as history has the table, and not if there are too many. */
START_TEST(whose_a_dropped_table_was)
{
	struct table_access access;
	uint32_t first, second, i;

	tick();
	first = drop_one(0700);
	tick();
	second = drop_one(0750);
	ck_assert(is_known(first, &access));
	ck_assert_uint_eq(access.mode, 0700);
	ck_assert_uint_eq(access.uid, 7);
	ck_assert_uint_eq(access.gid, 8);
	ck_assert(is_known(second, &access));
	ck_assert_uint_eq(access.mode, 0750);
	ck_assert(!is_known(second + 1, &access));
	for (i = 0; i < 1000; i++)
		drop_one(0);
	ck_assert(!is_known(second, &access));
	ck_assert(is_known(second + 1000, &access));
	now_us += 2 * 86400 * SECOND;
	put("a", "g", 1000, "1");
	tick();
	put("b", "g", 1000, "1");
	for (i = 0; i < 10; i++)
		tick();
	i = drop_one(0);
	ck_assert(is_known(i, &access));
	ck_assert_int_eq(store_set_history(store, 0, 0), 0);
	ck_assert(!is_known(i, &access));
	i = drop_one(0);
	ck_assert(!is_known(i, &access));
	ck_assert(!is_known(second + 1000, &access));
}
END_TEST

START_TEST(a_new_store_keeps_what_was_said)
{
	struct store_options o;
	struct history h;

	store_close(store);
	history_options(&o);
	store = mem_store(&o);
	store_history(store, &h);
	ck_assert_uint_eq(h.keep_us, 0);
	open_again();
	store_history(store, &h);
	ck_assert_uint_eq(h.keep_us, STORE_HISTORY_DAY_US);
	ck_assert_uint_gt(h.oldest_us, 0);
	ck_assert_int_eq(store_set_history(store, 0, 0), 0);
	open_again();
	store_history(store, &h);
	ck_assert_uint_eq(h.keep_us, 0);
}
END_TEST

/* What stood before a change of the schema can be read however soon it came. */
START_TEST(the_moment_before_a_change)
{
	uint64_t before;

	tick();
	now_us += SECOND / 10;
	put("a", "g", 1000, "1");
	before = now_us += SECOND / 10;
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	now_us += SECOND;
	settle();
	ck_assert_int_eq(seen(before), 1);
	tick();
	ck_assert_int_eq(seen(now_us), -ERR_no_table);
}
END_TEST

/* What was given up and noted again later does not come back as of before. */
START_TEST(noted_again_it_is_of_a_later_time)
{
	uint64_t first, later;

	put("a", "g", 1000, "1");
	first = tick();
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	ck_assert_uint_gt(store_engine(store)->manifest->moment_count, 0);
	ck_assert_int_eq(history_forget(store_engine(store), UINT64_MAX), 0);
	now_us += 100 * SECOND;
	later = tick();
	store_engine(store)->told_us = 0;
	ck_assert_int_eq(history_trim(store_engine(store)), 1);
	ck_assert_int_eq(seen(first), -ERR_no_moment);
	open_again();
	ck_assert_int_eq(seen(first), -ERR_no_moment);
	ck_assert_int_eq(seen(later), 1);
}
END_TEST

/* A time that is told to the second is when that began, however late in it the
 * next commit comes and moments are noted. */
START_TEST(a_second_begins_with_what_was_there)
{
	uint64_t whole = now_us + 3 * SECOND;

	tick();
	now_us = whole - SECOND / 4;
	put("a", "g", 1000, "1");
	now_us = whole + SECOND / 4;
	put("b", "g", 1000, "1");
	put("c", "g", 1000, "1");
	delete_row("a");
	now_us = whole + SECOND / 2;
	ck_assert_int_eq(history_note(store_engine(store)), 0);
	settle();
	ck_assert_int_eq(seen(whole - 1), 0);
	ck_assert_int_eq(seen(whole), 1);
	ck_assert_int_eq(seen(whole + SECOND / 2), 2);
	/* Nor is it known later than then, if nothing came after it. */
	put("a", "g", 1000, "1");
	now_us = whole + 5 * SECOND + SECOND / 2;
	ck_assert_int_eq(history_note(store_engine(store)), 0);
	ck_assert_int_eq(seen(whole + 5 * SECOND - 1), 2);
	ck_assert_int_eq(seen(whole + 5 * SECOND), 3);
}
END_TEST

/* What expires in a second was there when it began, though a merge that comes
 * before the next moment leaves it out. */
START_TEST(a_merge_is_later_than_its_second)
{
	struct gc_policy *age = gc_policy_leaf(GC_MAX_AGE, 2 * SECOND);
	uint64_t whole = now_us + 5 * SECOND;

	ck_assert_int_eq(
		store_set_gc(store, bytes_string("t"), bytes_string("g"), age),
		0);
	gc_policy_free(age);
	tick();
	now_us = whole - SECOND;
	put("a", "g", whole - 2 * SECOND + SECOND / 4, "1");
	now_us = whole + SECOND / 2;
	settle();
	ck_assert_int_eq(seen(0), 0);
	ck_assert_int_eq(seen(whole), 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_was_deleted_is_there_before,
		what_no_moment_sees_is_not_kept,
		a_moment_has_its_schema,
		ranks_are_those_of_the_moment,
		parts_of_a_sum,
		history_ends,
		a_moment_that_is_read,
		the_cap_waits_for_readers,
		none_is_kept_unless_wanted,
		the_setting_stays,
		whose_a_dropped_table_was,
		a_new_store_keeps_what_was_said,
		the_moment_before_a_change,
		noted_again_it_is_of_a_later_time,
		a_second_begins_with_what_was_there,
		a_merge_is_later_than_its_second,
	};

	return run_suite("history", set_up, tear_down, tests, 16);
}
