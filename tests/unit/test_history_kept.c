#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_name.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/dead.h"
#include "store/repair.h"
#include "tests/unit/history_store.h"

/* What history may take, and what a crash, a full disk and a repair leave of
 * it. */

/* A large value, of no value twice. */
static void put_large(const char *row, char fill)
{
	static char value[100001];
	struct rng rng = { (uint64_t)fill };
	size_t i;

	for (i = 0; i < sizeof(value) - 1; i++)
		value[i] = (char)('!' + rng_below(&rng, 90));
	put(row, "g", 1000, value);
}

static size_t blob_files(void)
{
	struct version *v = engine_version(store_engine(store));
	size_t count = v->blob_count;

	version_put(v);
	return count;
}

static uint64_t taken(void)
{
	struct version *v = engine_version(store_engine(store));
	uint64_t size = history_size(v);

	version_put(v);
	return size;
}

/* What large values take that only history has is history's. */
START_TEST(large_values_count)
{
	struct engine *e = store_engine(store);
	uint64_t full, i;

	put_large("a", 1);
	put_large("b", 2);
	full = tick();
	settle();
	delete_row("a");
	tick();
	ck_assert_uint_gt(e->moments->items[e->moments->count - 1].size,
			  200000);
	settle();
	ck_assert_int_eq(seen(full), 2);
	ck_assert_uint_gt(taken(), 100000);
	ck_assert_uint_lt(taken(), 110000);
	/* Now under a cap that one of them fits into, and not two. */
	store_close(store);
	store = make(86400 * SECOND, 150000);
	for (i = 1; i < 10; i++) {
		put_large("a", (char)i);
		tick();
		settle();
	}
	ck_assert_uint_gt(history_files(), 0);
	ck_assert_uint_lt(taken(), 150000);
	ck_assert_int_eq(seen(0), 1);
}
END_TEST

/* To move what lives out of a file that history keeps gains nothing. */
START_TEST(what_history_keeps_is_not_emptied)
{
	int i;

	put_large("a", 1);
	put_large("b", 2);
	for (i = 3; i < 10; i++)
		put_large("c", (char)i);
	tick();
	delete_row("a");
	tick();
	settle();
	settle();
	ck_assert_uint_eq(blob_files(), 1);
	ck_assert_int_eq(seen(now_us), 2);
}
END_TEST

/* More history files than a read should ask are not kept. */
START_TEST(so_many_files_are_kept)
{
	struct past_facts facts = { .size = 1,
				    .smallest = BYTES_LITERAL("a"),
				    .largest = BYTES_LITERAL("b") };
	struct engine *e = store_engine(store);
	struct edit edit = EDIT_INIT;
	uint64_t first;
	int i;

	put("a", "g", 1000, "1");
	tick();
	put("a", "g", 1000, "2");
	tick();
	settle();
	first = e->moments->items[0].time_us;
	facts.visible_seq = e->moments->items[0].seq + 1;
	for (i = 0; i < HISTORY_FILES_MAX + 100; i++) {
		facts.id = engine_new_id(e);
		ck_assert_int_eq(edit_add_past(&edit, &facts), 0);
		if (i == 200)
			facts.visible_seq =
				e->moments->items[e->moments->count - 1].seq;
	}
	ck_assert_int_eq(engine_apply(e, &edit), 0);
	edit_release(&edit);
	ck_assert_uint_gt(history_files(), HISTORY_FILES_MAX);
	tick();
	settle();
	ck_assert_uint_le(history_files(), HISTORY_FILES_MAX);
	ck_assert_uint_gt(history_files(), 3800);
	ck_assert_int_eq(seen(first), -ERR_no_moment);
}
END_TEST

/* Who has no room for history writes none, and tells what was lost. */
START_TEST(history_goes_for_lack_of_space)
{
	struct engine *e = store_engine(store);
	struct bytes log;
	uint64_t full, sparse;

	put("a", "g", 1000, "1");
	full = tick();
	settle();
	delete_row("a");
	tick();
	settle();
	ck_assert_uint_gt(history_files(), 0);
	volume_mem_available(store->volume, 80 << 20);
	put("b", "g", 1000, "1");
	tick();
	settle();
	ck_assert_int_eq(seen(full), -ERR_no_moment);
	ck_assert_uint_eq(history_files(), 0);
	engine_write_events(e);
	log = volume_mem_file(store->volume, "LOG");
	ck_assert_ptr_nonnull(
		memmem(log.data, log.size, " history_lost before_us=", 24));
	/* What leaves nothing out needs no room. */
	sparse = tick();
	put("c", "g", 1000, "1");
	tick();
	ck_assert_int_eq(engine_flush(e), 0);
	ck_assert_int_eq(seen(sparse), 1);
	delete_row("c");
	put("c", "g", 1000, "2");
	ck_assert_int_eq(engine_flush(e), 0);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_uint_eq(history_files(), 0);
	ck_assert_int_eq(seen(sparse), -ERR_no_moment);
	ck_assert_int_eq(seen(0), 2);
}
END_TEST

/* What is told of a time at which nothing is to be seen. */
static const char *why_not(uint64_t time_us)
{
	ck_assert_int_eq(seen(time_us), -ERR_no_moment);
	return err_detail();
}

/* Who loses history for lack of room is not told that none was kept. */
START_TEST(what_gave_way_is_told)
{
	uint64_t full, first;
	struct history h;

	ck_assert_ptr_nonnull(strstr(why_not(1), "history begins at "));
	ck_assert_ptr_null(strstr(err_detail(), "lack of room"));
	put("a", "g", 1000, "1");
	full = tick();
	settle();
	delete_row("a");
	tick();
	settle();
	store_history(store, &h);
	first = h.oldest_us;
	ck_assert_uint_eq(h.lost_us, 0);
	volume_mem_available(store->volume, 80 << 20);
	tick();
	settle();
	store_history(store, &h);
	ck_assert_uint_ne(h.lost_us, 0);
	ck_assert_ptr_nonnull(strstr(why_not(full), "for lack of room"));
	ck_assert_int_eq(history_give_up(store_engine(store), UINT64_MAX), 0);
	store_history(store, &h);
	ck_assert_uint_eq(h.oldest_us, 0);
	ck_assert_uint_eq(h.lost_us, now_us);
	ck_assert_ptr_nonnull(strstr(why_not(full), "for lack of room"));
	ck_assert_ptr_nonnull(strstr(why_not(1), "begins again"));
	put("b", "g", 1000, "1");
	tick();
	ck_assert_ptr_nonnull(strstr(why_not(full), "for lack of room"));
	ck_assert_ptr_nonnull(strstr(err_detail(), "history begins at "));
	/* What had been too old before. */
	ck_assert_ptr_null(strstr(why_not(first - 1), "lack of room"));
	/* It is told as long as it could have been there. */
	now_us += 90000 * SECOND;
	tick();
	store_history(store, &h);
	ck_assert_uint_eq(h.lost_us, 0);
	ck_assert_int_eq(store_set_history(store, 0, 0), 0);
	ck_assert_ptr_nonnull(strstr(why_not(full), "no history is kept"));
}
END_TEST

/* A quota is another end of the disk. */
START_TEST(history_goes_for_the_quota)
{
	uint64_t full;

	put_large("a", 1);
	put_large("b", 2);
	full = tick();
	settle();
	delete_row("a");
	tick();
	settle();
	store_set_quota(store, 1000000);
	tick();
	settle();
	ck_assert_int_eq(seen(full), 2);
	/* What is to be seen takes half of it, and history the rest. */
	store_set_quota(store, 200000);
	tick();
	settle();
	ck_assert_int_eq(seen(full), -ERR_no_moment);
	ck_assert_uint_eq(taken(), 0);
	ck_assert_int_eq(seen(0), 1);
}
END_TEST

/* By its own time a moment sees what has expired since, though nothing was
 * written after it. */
START_TEST(what_expires_after_the_last_moment)
{
	struct gc_policy *hour =
		gc_policy_leaf(GC_MAX_AGE, (int64_t)(3600 * SECOND));
	uint64_t full;

	store_close(store);
	store = make(3600 * SECOND, 1 << 30);
	ck_assert_int_eq(
		store_set_gc(store, bytes_string("t"), bytes_string("g"), hour),
		0);
	put("a", "g", now_us, "1");
	full = tick();
	settle();
	now_us += 7200 * SECOND;
	tick();
	settle();
	tick();
	settle();
	ck_assert_int_eq(seen(0), 0);
	ck_assert_uint_gt(history_files(), 0);
	ck_assert_int_eq(seen(full), 1);
	gc_policy_free(hour);
}
END_TEST

/* The store as a kill would leave it. */
static struct store *killed(bool read_only)
{
	struct store_options o;
	struct volume *clone;
	struct store *s;

	history_options(&o);
	o.read_only = read_only;
	ck_assert_int_eq(volume_mem_kill_clone(store->volume, &clone), 0);
	ck_assert_int_eq(store_open_volume(clone, &o, &s), 0);
	return s;
}

/* As seen, of another store. */
static int seen_of(struct store *other, uint64_t time_us)
{
	struct store *here = store;
	int count;

	store = other;
	count = seen(time_us);
	store = here;
	return count;
}

/* What came after the last moment that the manifest has was there since nobody
 * knows when. */
START_TEST(a_gap_after_a_kill_is_told)
{
	struct store *s;
	uint64_t known, killed_us;

	put("a", "g", 1000, "1");
	known = tick();
	settle();
	now_us += 1800 * SECOND;
	write_put("b", "g", 1000, "1", true);
	now_us += 1800 * SECOND;
	write_put("c", "g", 1000, "1", true);
	killed_us = now_us += 1800 * SECOND;
	s = killed(true);
	ck_assert_int_eq(seen_of(s, known), 1);
	ck_assert_int_eq(seen_of(s, known + 1), -ERR_no_moment);
	ck_assert_int_eq(seen_of(s, killed_us), -ERR_no_moment);
	ck_assert_int_eq(seen_of(s, 0), 3);
	ck_assert_int_eq(store_close(s), 0);
	s = killed(false);
	ck_assert_int_eq(seen_of(s, known), 1);
	ck_assert_int_eq(seen_of(s, known + 1800 * SECOND), -ERR_no_moment);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1970-01-12T13:46:41"));
	ck_assert_ptr_nonnull(strstr(err_detail(), "1970-01-12T15:16:41"));
	ck_assert_int_eq(seen_of(s, killed_us), 3);
	store_close(store);
	store = s;
	/* It is one as long as its ends are there. */
	for (now_us += 3600 * SECOND; now_us < killed_us + 8000 * SECOND;) {
		put("d", "g", 1000, "1");
		tick();
		settle();
		s = killed(false);
		ck_assert_int_eq(seen_of(s, known), 1);
		ck_assert_int_eq(seen_of(s, killed_us - 1), -ERR_no_moment);
		ck_assert_int_eq(seen_of(s, killed_us), 3);
		ck_assert_int_eq(seen_of(s, now_us), 4);
		ck_assert_int_eq(store_close(s), 0);
		now_us += 2000 * SECOND;
	}
}
END_TEST

static uint64_t steady_us;

static uint64_t steady(void *context)
{
	(void)context;
	return steady_us;
}

/* A second goes by on both clocks, and its moment is noted: its time by that
 * which can be set. */
static uint64_t true_tick(void)
{
	steady_us += SECOND;
	return tick();
}

/* A store with something in it and its clock, which is right: that time. */
static uint64_t begin_by_true_clock(void)
{
	static const struct clock clock = { steady, NULL };

	steady_us = SECOND;
	store_engine(store)->options.steady = &clock;
	true_tick();
	put("a", "g", 1000, "1");
	return true_tick();
}

/* A clock that was ahead for some seconds: what was there until it was right
 * again and had caught up is not known, nor told as if it was. */
START_TEST(a_clock_that_was_ahead_makes_a_gap)
{
	uint64_t good = begin_by_true_clock(), ahead, caught;
	int i;

	now_us += 86400 * SECOND;
	put("b", "g", 1000, "1");
	ahead = true_tick();
	ck_assert_int_eq(seen(good), 1);
	ck_assert_int_eq(seen(good + 3 * SECOND), -ERR_no_moment);
	ck_assert_ptr_nonnull(strstr(err_detail(), "or the clock was set"));
	ck_assert_int_eq(seen(ahead), 2);
	now_us -= 86400 * SECOND;
	for (i = 0; i < 20; i++) {
		put("c", "g", 1000, "1");
		true_tick();
	}
	ck_assert_int_eq(seen(now_us), -ERR_no_moment);
	ck_assert_int_eq(seen(ahead), 2);
	ck_assert_int_eq(seen(ahead + 1), -ERR_no_moment);
	now_us += 86400 * SECOND;
	steady_us += 86400 * SECOND;
	caught = true_tick();
	ck_assert_int_eq(seen(caught - 1), -ERR_no_moment);
	ck_assert_int_eq(seen(caught), 3);
	put("d", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(now_us - 1), 3);
}
END_TEST

/* Nothing was written while it was ahead, but then. */
START_TEST(a_clock_that_was_ahead_of_nothing)
{
	uint64_t good = begin_by_true_clock(), late;

	now_us += 86400 * SECOND;
	true_tick();
	ck_assert_int_eq(seen(good + SECOND), 1);
	now_us -= 86400 * SECOND;
	true_tick();
	late = true_tick();
	ck_assert_int_eq(seen(late), 1);
	put("b", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(late), -ERR_no_moment);
	ck_assert_int_eq(seen(good), 1);
}
END_TEST

/* Nor do edits say that nothing came in a time that did not go by. */
START_TEST(a_clock_that_was_ahead_says_nothing)
{
	uint64_t good = begin_by_true_clock();
	struct store *s;

	settle();
	now_us += 86400 * SECOND;
	true_tick();
	ck_assert_int_eq(engine_apply(store_engine(store), &(struct edit){ 0 }),
			 0);
	write_put("b", "g", 1000, "1", true);
	s = killed(false);
	ck_assert_int_eq(seen_of(s, good), 1);
	ck_assert_int_eq(seen_of(s, good + 60 * SECOND), -ERR_no_moment);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* By less than some seconds it may be set, and be wrong by a thousandth; and
 * what GC time is held for is in no way strange. */
START_TEST(a_clock_that_is_a_little_wrong)
{
	uint64_t good = begin_by_true_clock();

	now_us += 4 * SECOND;
	put("b", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(good + SECOND), 1);
	now_us += 40060 * SECOND;
	steady_us += 40030 * SECOND;
	good = now_us;
	put("c", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(good), 2);
	engine_hold_gc_time(store_engine(store), GC_HELD_BY_LOOK, true);
	true_tick();
	now_us += 30 * SECOND;
	steady_us += 30 * SECOND;
	true_tick();
	engine_hold_gc_time(store_engine(store), GC_HELD_BY_LOOK, false);
	good = now_us;
	put("d", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(good), 3);
}
END_TEST

/* What was closed is known up to then, and up to the next opening, though that
 * one is killed; also when edits are begun anew. */
START_TEST(a_gap_begins_when_what_was_there_is_known)
{
	struct store_options o;
	struct volume *v = store->volume;
	uint64_t opened;
	struct store *s;

	put("a", "g", 1000, "1");
	tick();
	now_us += 100 * SECOND;
	volume_mem_keep(v);
	ck_assert_int_eq(store_close(store), 0);
	opened = now_us += 1000 * SECOND;
	history_options(&o);
	ck_assert_int_eq(store_open_volume(v, &o, &store), 0);
	now_us += 30 * SECOND;
	write_put("b", "g", 1000, "1", true);
	now_us += SECOND;
	s = killed(false);
	ck_assert_int_eq(seen_of(s, opened - 1000 * SECOND), 1);
	ck_assert_int_eq(seen_of(s, opened), 1);
	ck_assert_int_eq(seen_of(s, opened + 1), -ERR_no_moment);
	ck_assert_int_eq(seen_of(s, now_us - 1), -ERR_no_moment);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1970-01-12T14:05:01"));
	ck_assert_int_eq(store_close(store), 0);
	store = s;
	now_us += SECOND;
	put("c", "g", 1000, "1");
	tick();
	settle();
	s = killed(false);
	ck_assert_int_eq(seen_of(s, opened), 1);
	ck_assert_int_eq(seen_of(s, opened + 1), -ERR_no_moment);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

static void note_doubt(void *context, const char *text)
{
	if (strstr(text, "what was deleted may be back"))
		*(bool *)context = true;
}

/* An sst that became a history file as it is looks as others do: who repairs a
 * store without its manifest is told what that means. */
START_TEST(repair_tells_of_ssts_that_were_dropped)
{
	struct repair_result result;
	struct volume *clone, *repaired;
	struct write *w;
	bool told = false;
	char row[8];
	int i;

	settle();
	for (i = 0; i < 100; i++) {
		snprintf(row, sizeof(row), "%d", i);
		put(row, "g", 1000, "1");
	}
	tick();
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_delete_range(w, bytes_string("t"), BYTES_NONE,
					    BYTES_NONE),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
	tick();
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	engine_tick(store_engine(store));
	while (engine_step(store_engine(store)) > 0)
		;
	ck_assert_uint_gt(history_files(), 0);
	ck_assert_int_eq(volume_mem_kill_clone(store->volume, &clone), 0);
	ck_assert_int_eq(volume_mem_new(&repaired), 0);
	((uint8_t *)volume_mem_file(clone, "root").data)[40] ^= 1;
	ck_assert_int_eq(store_repair_volume(clone, repaired, note_doubt, &told,
					     &result),
			 0);
	ck_assert(told);
	clone->ops->close(clone);
}
END_TEST

/* What is closed has none, however long ago it was. */
START_TEST(no_gap_after_a_close)
{
	struct store_options o;
	struct volume *v = store->volume;
	uint64_t last;

	put("a", "g", 1000, "1");
	tick();
	now_us += 100 * SECOND;
	put("b", "g", 1000, "1");
	last = now_us += SECOND;
	volume_mem_keep(v);
	ck_assert_int_eq(store_close(store), 0);
	now_us += 1000 * SECOND;
	history_options(&o);
	ck_assert_int_eq(store_open_volume(v, &o, &store), 0);
	ck_assert_int_eq(seen(last - SECOND), 1);
	ck_assert_int_eq(seen(last), 2);
	ck_assert_int_eq(seen(last + 500 * SECOND), 2);
	ck_assert_int_eq(seen(now_us), 2);
}
END_TEST

/* A store that is written to tells of each minute, though none is flushed. */
START_TEST(moments_are_told_each_minute)
{
	struct store *s;
	char row[8];
	int i;

	tick();
	settle();
	for (i = 0; i < 200; i++) {
		snprintf(row, sizeof(row), "%d", i);
		write_put(row, "g", 1000, "1", true);
		now_us += SECOND;
		engine_tick(store_engine(store));
		while (engine_step(store_engine(store)) > 0)
			;
	}
	s = killed(false);
	ck_assert_int_eq(seen_of(s, now_us - 100 * SECOND), 100);
	ck_assert_int_ge(seen_of(s, now_us - 61 * SECOND), 139);
	ck_assert_int_eq(seen_of(s, now_us - SECOND / 2), -ERR_no_moment);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

struct around {
	struct version *before, *after; /* a merge */
};

/* An output is live then. An input may still be there, if it was its removal
 * that failed. */
static int must_be_live(void *context, const char *name)
{
	const struct around *a = context;
	const char *suffix;
	uint64_t id;

	if (manifest_parse_name(name, &id, &suffix) &&
	    strcmp(suffix, "sst") == 0)
		ck_assert_msg(version_sst(a->before, id) ||
				      version_sst(a->after, id) ||
				      version_past(a->after, id),
			      "%s is of no use", name);
	return 0;
}

/* A merge that fails for lack of space leaves nothing behind, wherever that is.
 */
START_TEST(a_merge_that_fails_leaves_nothing)
{
	uint64_t n;
	bool failed = true;
	int i;

	for (n = 1; failed; n++) {
		struct engine *e = store_engine(store);
		struct volume *v = store->volume;
		struct around around;

		for (i = 0; i < 4; i++) {
			put("a", "g", 1000, "1");
			tick();
			ck_assert_int_eq(engine_flush(e), 0);
		}
		put("b", "g", 1000, "1");
		around.before = engine_version(e);
		volume_mem_fail(v, n, ENOSPC, false, n);
		engine_step(e);
		failed = volume_mem_failed(v);
		volume_mem_fail(v, 0, 0, false, 0);
		while (engine_step(e) > 0)
			;
		around.after = engine_version(e);
		ck_assert_int_eq(v->ops->list(v, must_be_live, &around), 0);
		version_put(around.before);
		version_put(around.after);
		ck_assert_int_eq(store_close(store), 0);
		store = make(86400 * SECOND, 1 << 30);
	}
	ck_assert_uint_gt(n, 5);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		large_values_count,
		what_history_keeps_is_not_emptied,
		so_many_files_are_kept,
		history_goes_for_lack_of_space,
		what_gave_way_is_told,
		history_goes_for_the_quota,
		what_expires_after_the_last_moment,
		a_gap_after_a_kill_is_told,
		a_clock_that_was_ahead_makes_a_gap,
		a_clock_that_was_ahead_of_nothing,
		a_clock_that_was_ahead_says_nothing,
		a_clock_that_is_a_little_wrong,
		a_gap_begins_when_what_was_there_is_known,
		repair_tells_of_ssts_that_were_dropped,
		no_gap_after_a_close,
		moments_are_told_each_minute,
		a_merge_that_fails_leaves_nothing,
	};

	return run_suite("history_kept", set_up, tear_down, tests, 17);
}
