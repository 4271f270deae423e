#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_name.h"
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
		repair_tells_of_ssts_that_were_dropped,
		a_merge_that_fails_leaves_nothing,
	};

	return run_suite("history_kept", set_up, tear_down, tests, 9);
}
