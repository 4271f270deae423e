#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/compact/level0.h"
#include "store/engine/core/pace.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * What keeps writers from waiting, by counts and steps: flushes go before the
 * merge that is under way, merges take a part of what is there, and writers pay
 * for debt. A store without a background, whose steps are called by hand.
 */
#define ROWS 4000

static unsigned int rows, first; /* how many, from which on */
static struct volume *volume;
static struct store *store;
static struct store_options options;
static struct engine *engine;
static bool armed; /* to have a full memtable in the middle of a merge */

static bool watched; /* how much the volume has, whenever the time is asked */
static uint64_t peak;

static int add_size(void *context, const char *name)
{
	uint64_t *size = context;

	*size += volume_mem_file(volume, name).size;
	return 0;
}

static uint64_t volume_size(void)
{
	uint64_t size = 0;

	ck_assert_int_eq(volume->ops->list(volume, add_size, &size), 0);
	return size;
}

static bool is_held(pthread_mutex_t *mutex)
{
	if (pthread_mutex_trylock(mutex) != 0)
		return true;
	pthread_mutex_unlock(mutex);
	return false;
}

static uint64_t now(void *context)
{
	(void)context;
	/* A unit of work begins. */
	if (armed && engine->memtable->last_seq > 0 &&
	    engine->immutable_count == 0 && is_held(&engine->work)) {
		armed = false;
		ck_assert_int_eq(engine_rotate(engine, 0), 0);
	}
	if (watched && volume_size() > peak)
		peak = volume_size();
	return UINT64_C(1000000000000);
}

static const struct clock by_hand = { .now = now };

static void start(unsigned int row_count, uint64_t file_size)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct family_spec family = { .name = BYTES_LITERAL("f"), .gc = one };

	rows = row_count;
	first = 0;
	small_store_options(&options);
	options.clock = &by_hand;
	options.memtable_size = 256 << 10;
	options.file_size = file_size;
	armed = watched = false;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
	engine = store_engine(store);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
	gc_policy_free(one);
}

static void set_up(void)
{
	start(ROWS, 32 << 10);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static void put(unsigned int row, uint64_t timestamp)
{
	char name[20], value[50];
	struct write *w;
	size_t i;

	for (i = 0; i < sizeof(value); i++)
		value[i] =
			(char)((row + timestamp) * (i + 7) * 2654435761u >> 16);
	snprintf(name, sizeof(name), "r%06u", row);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(name)),
			 0);
	ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"),
				   timestamp, bytes_of(value, sizeof(value))),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* All rows, in an order that goes all over them. */
static void put_all(uint64_t timestamp)
{
	unsigned int i;

	for (i = 0; i < rows; i++)
		put(first + i * 1237 % rows, timestamp);
}

static void settle(void)
{
	ck_assert_int_eq(engine_flush(engine), 0);
	while (engine_step(engine) > 0)
		;
}

static uint64_t size_below(void)
{
	uint64_t size = 0;
	unsigned int i;

	for (i = 1; i < LEVEL_COUNT; i++)
		size += engine->version->levels[i].size;
	return size;
}

/* Writers would wait for a merge of all that there is. */
START_TEST(a_flush_goes_before_the_merge_under_way)
{
	uint64_t flushes = 0, merges;
	bool met = false;

	put_all(1000);
	settle();
	while (!met) {
		put_all(2000);
		ck_assert_int_eq(engine_flush_waiting(engine), 0);
		put(1, 3000);
		flushes = engine->counters.flushes;
		merges = engine->counters.compactions;
		armed = true;
		ck_assert_int_ge(engine_step(engine), 0);
		met = !armed && engine->counters.compactions > merges;
		armed = false;
	}
	ck_assert_uint_eq(engine->immutable_count, 0);
	ck_assert_uint_eq(engine->counters.flushes, flushes + 1);
}
END_TEST

/* Flushes of what is all over the place fall into parts, of which each is
 * merged with its own part of what is below. */
START_TEST(a_merge_takes_a_part)
{
	uint64_t most = 0, before, took;
	int did;

	put_all(1000);
	settle();
	ck_assert_uint_gt(size_below(), 4 * options.file_size);
	put_all(2000);
	ck_assert_int_eq(engine_flush(engine), 0);
	settle();
	put_all(3000);
	ck_assert_int_eq(engine_flush_waiting(engine), 0);
	do {
		before = engine->counters.compacted_size;
		did = engine_step(engine);
		took = engine->counters.compacted_size - before;
		most = took > most ? took : most;
	} while (did > 0);
	ck_assert_int_eq(did, 0);
	ck_assert_uint_gt(engine->guards.count, 2);
	ck_assert_uint_gt(engine->counters.compactions, 2);
	ck_assert_uint_lt(most, size_below() * 2 / 3);
}
END_TEST

/* It goes part by part and file by file, and removes as it goes. */
START_TEST(a_compaction_needs_little_room)
{
	uint64_t before;

	put_all(1000);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	put_all(2000);
	ck_assert_int_eq(engine_flush(engine), 0);
	settle();
	put_all(3000);
	ck_assert_int_eq(engine_flush(engine), 0);
	before = peak = volume_size();
	watched = true;
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	watched = false;
	ck_assert_uint_lt(peak, before * 4 / 3);
	ck_assert_uint_lt(volume_size(), before);
}
END_TEST

/* A round over all rows, beside which background work goes on. */
static void overwrite(uint64_t timestamp)
{
	unsigned int i;

	for (i = 0; i < rows; i++) {
		put(i * 1237 % rows, timestamp);
		watched = true;
		if (i % 200 == 0)
			ck_assert_int_ge(engine_step(engine), 0);
		watched = false;
	}
}

/* What is overwritten all over waits in level 0 until there is much of it for
 * what lies below, and takes no more space than it may. */
START_TEST(overwriting_costs_few_bytes_and_little_space)
{
	uint64_t live, merged, round;

	tear_down();
	start(40000, 512 << 10);
	put_all(1000);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	live = size_below();
	overwrite(2000);
	merged = engine->counters.compacted_size;
	peak = 0;
	for (round = 3; round < 6; round++)
		overwrite(1000 * round);
	merged = engine->counters.compacted_size - merged;
	ck_assert_uint_lt(merged, 3 * 11 * live / 4);
	ck_assert_uint_lt(peak, live * 16 / 10);
	/* Now readers come first. */
	engine_tick(engine);
	engine_tick(engine);
	while (engine_step(engine) > 0)
		;
	ck_assert_uint_lt(level0_depth(engine->version), 8);
	ck_assert_uint_lt(engine->version->levels[0].size, live / 4);
}
END_TEST

/* Or parts of level 0 that have nothing to do with each other would become one,
 * which is merged with all that is below. */
START_TEST(guards_stay)
{
	struct buf was[GUARD_PARTS_MAX];
	size_t count, i, j, kept = 0;
	unsigned int row;

	first = ROWS;
	put_all(1000);
	settle();
	put_all(2000);
	ck_assert_int_eq(engine_flush(engine), 0);
	count = engine->guards.count;
	ck_assert_uint_gt(count, 4);
	for (i = 0; i < count; i++) {
		was[i] = (struct buf)BUF_INIT;
		ck_assert_int_eq(buf_set(&was[i], engine->guards.keys[i]), 0);
	}
	for (row = 0; row < ROWS / 4; row++)
		put(row, 1000);
	settle();
	put_all(3000);
	ck_assert_int_eq(engine_flush(engine), 0);
	for (i = 0; i < count; i++) {
		for (j = 0; j < engine->guards.count; j++)
			kept += bytes_equal(buf_bytes(&was[i]),
					    engine->guards.keys[j]);
		buf_release(&was[i]);
	}
	ck_assert_uint_ge(kept, count - 1);
	ck_assert_uint_lt(engine->guards.count, GUARD_PARTS_MAX);
	/* All of it goes. */
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	settle();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_int_eq(guards_choose(&engine->guards, engine->version,
				       options.file_size),
			 0);
	ck_assert_uint_eq(engine->guards.count, 0);
}
END_TEST

/* Logs and files under way are little beside the data. */
START_TEST(memtables_grow_with_the_store)
{
	tear_down();
	options.memtable_size = 8 << 20;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
	engine = store_engine(store);
	ck_assert_uint_eq(engine->memtable->arena.size, 2 << 20);
	tear_down();
	set_up();
	put(1, 1000);
	engine->options.memtable_size = 8 << 20;
	settle();
	ck_assert_uint_eq(engine->memtable->arena.size, 2 << 20);
	put(1, 2000);
	engine->version->levels[6].size += 96 << 20;
	settle();
	ck_assert_uint_ge(engine->memtable->arena.size, 9 << 19);
	ck_assert_uint_lt(engine->memtable->arena.size, 5 << 20);
	engine->options.memtable_size = options.memtable_size;
}
END_TEST

START_TEST(debt_has_a_price)
{
	struct pace *p = &engine->pace;
	uint64_t half, all;

	atomic_store(&p->price, 1000 * 1024);
	atomic_store(&p->debt, PACE_STOP / 2);
	ck_assert_uint_eq(pace_price(engine, 100, 0), 0);
	/* What the background needs for as much. */
	atomic_store(&p->debt, PACE_STOP / 4 * 3);
	half = pace_price(engine, 100, 0);
	ck_assert_uint_eq(half, 100 * 1000);
	atomic_store(&p->debt, PACE_STOP);
	all = pace_price(engine, 100, 0);
	ck_assert_uint_eq(all, 4 * half);
	atomic_store(&p->debt, PACE_STOP + 1);
	ck_assert_uint_gt(pace_price(engine, 1, 0), 1000000);
	/* A flush that is late is debt as well. */
	atomic_store(&p->debt, 0);
	ck_assert_uint_eq(pace_price(engine, 100, PACE_STOP), 0);
	pace_waiting(engine, 1);
	ck_assert_uint_eq(pace_price(engine, 100, PACE_STOP), all);
	pace_waiting(engine, 0);
}
END_TEST

/* Half way to where writers are stopped for the depth of level 0, and beyond.
 */
START_TEST(depth_is_debt)
{
	const struct engine_options *o = &engine->options;
	struct version *v = engine->version;

	ck_assert_uint_eq(pace_debt(engine, v, 0), 0);
	ck_assert_uint_eq(pace_debt(engine, v, o->level0_slow), PACE_STOP / 2);
	ck_assert_uint_eq(pace_debt(engine, v, o->level0_stop), PACE_STOP);
	v->levels[0].size = 3 * o->memtable_size;
	ck_assert_uint_eq(pace_debt(engine, v, 0), PACE_STOP);
	v->levels[0].size = 0;
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_flush_goes_before_the_merge_under_way,
		a_merge_takes_a_part,
		a_compaction_needs_little_room,
		overwriting_costs_few_bytes_and_little_space,
		guards_stay,
		memtables_grow_with_the_store,
		debt_has_a_price,
		depth_is_debt,
	};

	return run_suite("pace", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
