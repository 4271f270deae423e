#ifndef TESTS_UNIT_HISTORY_STORE_H
#define TESTS_UNIT_HISTORY_STORE_H

#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/run/step.h"
#include "store/history.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/mem_store.h"

/* A store in memory that keeps history, by a clock that a test sets. */

#define SECOND UINT64_C(1000000)

static struct store *store;
static uint64_t now_us;

static inline uint64_t now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { now, NULL };

static inline void history_options(struct store_options *o)
{
	mem_store_options(o);
	o->clock = &test_clock;
}

static inline struct store *make(uint64_t window_us, uint64_t size)
{
	struct store_options o;
	struct family_spec families[] = { { .name = BYTES_LITERAL("f") },
					  { .name = BYTES_LITERAL("g") },
					  { .name = BYTES_LITERAL("sum"),
					    .type = FAMILY_INTSUM } };
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct store *s;

	now_us = UINT64_C(1000000) * SECOND;
	history_options(&o);
	s = mem_store(&o);
	if (window_us > 0)
		ck_assert_int_eq(store_set_history(s, window_us, size), 0);
	families[0].gc = one;
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, families, 3),
		0);
	gc_policy_free(one);
	return s;
}

static inline void set_up(void)
{
	store = make(86400 * SECOND, 1 << 30);
}

static inline void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static inline void write_put(const char *row, const char *family, uint64_t time,
			     const char *value, bool sync)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_set(w, bytes_string(family), bytes_string("q"),
				   time, bytes_string(value)),
			 0);
	ck_assert_int_eq(store_commit(store, w, sync), 0);
	write_free(w);
}

static inline void put(const char *row, const char *family, uint64_t time,
		       const char *value)
{
	write_put(row, family, time, value, false);
}

static inline void delete_row(const char *row)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* A second goes by, and its moment is noted: its time. */
static inline uint64_t tick(void)
{
	now_us += SECOND;
	ck_assert_int_eq(history_note(store_engine(store)), 0);
	return now_us;
}

static inline void settle(void)
{
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	while (engine_step(store_engine(store)) > 0)
		;
}

/* How many cells there are at a time, 0: now; or an error. */
static inline int seen(uint64_t time_us)
{
	struct scan_range all = { .table = bytes_string("t") };
	struct snapshot *moment = NULL;
	struct scan *scan;
	struct cell cell;
	int count = 0, err = 0;

	if (time_us > 0)
		err = store_moment(store, time_us, &moment);
	if (err == 0)
		err = scan_open(store, moment, &all, &scan);
	if (err == 0) {
		while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
			count++;
		scan_close(scan);
	}
	store_snapshot_release(store, moment);
	return err < 0 ? err : count;
}

static inline size_t history_files(void)
{
	struct version *v = engine_version(store_engine(store));
	size_t count = v->past_count;

	version_put(v);
	return count;
}

/* Entries that the tree holds. */
static inline uint64_t tree_entries(void)
{
	struct version *v = engine_version(store_engine(store));
	uint64_t count = 0;
	unsigned int i;
	size_t j;

	for (i = 0; i < LEVEL_COUNT; i++)
		for (j = 0; j < v->levels[i].count; j++) {
			const struct sst_properties *p =
				sst_properties(v->levels[i].files[j]->sst);

			count += p->put_count + p->delete_count +
				 p->tombstone_count;
		}
	version_put(v);
	return count;
}

#endif
