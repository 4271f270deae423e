#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/engine/files/memtable.h"

/* After err.h, because it defines a macro named fail. */
#include <check.h>

static uint64_t random_state;

static uint32_t draw(uint32_t n)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void version_key(struct buf *b, uint32_t row, uint64_t timestamp)
{
	char name[16];

	snprintf(name, sizeof(name), "row%06u", row);
	buf_reset(b);
	ck_assert_int_eq(key_add_table(b, 1), 0);
	ck_assert_int_eq(key_add_part(b, bytes_string(name)), 0);
	ck_assert_int_eq(key_add_part(b, bytes_string("f")), 0);
	ck_assert_int_eq(key_add_part(b, bytes_string("q")), 0);
	ck_assert_int_eq(key_add_timestamp(b, timestamp), 0);
}

static void put(struct memtable *m, uint32_t row, uint64_t timestamp,
		uint64_t seq)
{
	struct batch b = BATCH_INIT;
	struct buf key = BUF_INIT;
	uint8_t value[8];

	put_u64le(value, seq);
	version_key(&key, row, timestamp);
	ck_assert_int_eq(batch_put(&b, buf_bytes(&key), bytes_of(value, 8)), 0);
	ck_assert_int_eq(memtable_reserve(m, &b), 1);
	memtable_apply(m, &b, seq);
	batch_release(&b);
	buf_release(&key);
}

/* Every cell comes once and in order; returns how many there are. */
static uint32_t check_order(struct memtable *m, uint64_t seq_limit)
{
	struct buf last = BUF_INIT;
	struct iter *it;
	uint32_t count = 0;
	int found;

	ck_assert_int_eq(memtable_iter_new(m, &it), 0);
	for (found = iter_seek(it, BYTES_NONE); found == 1;
	     found = iter_next(it)) {
		ck_assert_int_lt(bytes_compare(buf_bytes(&last), it->key), 0);
		ck_assert_uint_eq(get_u64le(it->value.data), key_seq(it->key));
		ck_assert_int_eq(buf_set(&last, it->key), 0);
		if (key_seq(it->key) <= seq_limit)
			count++;
	}
	ck_assert_int_eq(found, 0);
	iter_close(it);
	buf_release(&last);
	return count;
}

START_TEST(cells_in_any_order)
{
	struct memtable *m;
	uint64_t seq;

	random_state = (uint64_t)_i;
	ck_assert_int_eq(memtable_new(1 << 20, &m), 0);
	for (seq = 1; seq <= 2000; seq++) {
		uint32_t row = _i == 0   ? (uint32_t)seq
			       : _i == 1 ? (uint32_t)(3000 - seq)
					 : draw(500);

		put(m, row, draw(3), seq);
	}
	ck_assert_uint_eq(check_order(m, UINT64_MAX), 2000);
	ck_assert_uint_eq(m->cell_count, 2000);
	ck_assert_uint_eq(m->first_seq, 1);
	ck_assert_uint_eq(m->last_seq, 2000);
	ck_assert_uint_eq(m->max_timestamp, 2);
	memtable_put(m);
}
END_TEST

/* seek, skip and before land where a walk from the start says. */
START_TEST(positions)
{
	struct buf key = BUF_INIT;
	struct iter *it, *walk;
	struct memtable *m;
	uint32_t i;

	random_state = 5;
	ck_assert_int_eq(memtable_new(1 << 20, &m), 0);
	for (i = 1; i <= 300; i++)
		put(m, draw(1000), 1, i);
	ck_assert_int_eq(memtable_iter_new(m, &it), 0);
	ck_assert_int_eq(memtable_iter_new(m, &walk), 0);
	for (i = 0; i < 1010; i++) {
		struct bytes before = BYTES_NONE;
		int found, have = 0;

		version_key(&key, i, 1);
		for (found = iter_seek(walk, BYTES_NONE);
		     found && bytes_compare(walk->key, buf_bytes(&key)) < 0;
		     found = iter_next(walk)) {
			before = walk->key;
			have = 1;
		}
		ck_assert_int_eq(iter_seek(it, buf_bytes(&key)), found);
		if (found)
			ck_assert(bytes_equal(it->key, walk->key));
		ck_assert_int_eq(iter_before(it, buf_bytes(&key)), have);
		if (have)
			ck_assert(bytes_equal(it->key, before));
		ck_assert_int_eq(iter_seek(it, BYTES_NONE), 1);
		ck_assert_int_eq(iter_skip(it, buf_bytes(&key)), found);
		if (found)
			ck_assert(bytes_equal(it->key, walk->key));
	}
	iter_close(it);
	iter_close(walk);
	memtable_put(m);
	buf_release(&key);
}
END_TEST

struct range {
	uint8_t start, end;
	uint64_t seq;
};

static uint64_t naive_cover(const struct range *ranges, size_t count,
			    uint8_t key, uint64_t visible)
{
	uint64_t seq = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (ranges[i].start <= key && key < ranges[i].end &&
		    ranges[i].seq <= visible && ranges[i].seq > seq)
			seq = ranges[i].seq;
	return seq;
}

START_TEST(ranges_against_a_list)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct range ranges[40];
	uint64_t snapshots[40];
	struct memtable *m;
	struct tombstone span;
	unsigned int key, n;
	uint64_t seq;

	random_state = (uint64_t)_i * 77 + 1;
	ck_assert_int_eq(memtable_new(1 << 20, &m), 0);
	for (n = 0; n < 40; n++) {
		struct batch b = BATCH_INIT;
		struct range *r = &ranges[n];

		r->start = (uint8_t)draw(100);
		r->end = (uint8_t)(r->start + 1 + draw(100));
		r->seq = n + 1;
		snapshots[n] = r->seq;
		ck_assert_int_eq(batch_delete_range(&b, bytes_of(&r->start, 1),
						    bytes_of(&r->end, 1)),
				 0);
		ck_assert_int_eq(memtable_reserve(m, &b), 1);
		memtable_apply(m, &b, r->seq);
		batch_release(&b);
	}
	ck_assert_uint_eq(m->tombstone_count, 40);
	ck_assert_int_eq(memtable_tombstones(m, snapshots, 40, &list), 0);
	for (key = 0; key < 256; key++) {
		uint8_t k = (uint8_t)key;
		struct bytes b = bytes_of(&k, 1);

		for (seq = 0; seq <= 41; seq++) {
			uint64_t want = naive_cover(ranges, 40, k, seq);
			unsigned int other;

			ck_assert_uint_eq(memtable_cover(m, b, seq, NULL),
					  want);
			ck_assert_uint_eq(memtable_cover(m, b, seq, &span),
					  want);
			ck_assert_uint_eq(tombstone_cover(&list, b, seq, NULL),
					  want);
			/* The span holds key and the same answer. */
			ck_assert_int_le(bytes_compare(span.start, b), 0);
			ck_assert(!span.end.size ||
				  bytes_compare(b, span.end) < 0);
			other = span.end.size ? span.end.data[0] : 256;
			for (; other > key; other--)
				ck_assert_uint_eq(
					naive_cover(ranges, 40,
						    (uint8_t)(other - 1), seq),
					want);
		}
	}
	tombstone_list_release(&list);
	memtable_put(m);
}
END_TEST

/* What memtable_need promises is enough for any batch, and fits says so. */
START_TEST(need_is_enough)
{
	struct batch b = BATCH_INIT;
	struct buf key = BUF_INIT;
	struct memtable *m;
	uint32_t i;

	random_state = (uint64_t)_i;
	for (i = 0; i < 300; i++) {
		uint8_t start = (uint8_t)draw(200), end;

		end = (uint8_t)(start + 1 + draw(50));
		if (draw(2)) {
			ck_assert_int_eq(batch_delete_range(&b,
							    bytes_of(&start, 1),
							    bytes_of(&end, 1)),
					 0);
		} else {
			version_key(&key, draw(1000), draw(5));
			ck_assert_int_eq(
				batch_put(&b, buf_bytes(&key), BYTES_NONE), 0);
		}
	}
	ck_assert_int_eq(memtable_new(memtable_need(&b), &m), 0);
	ck_assert_int_eq(memtable_reserve(m, &b), 1);
	memtable_apply(m, &b, 1);
	memtable_put(m);
	ck_assert_int_eq(memtable_new(memtable_need(&b) / 100, &m), 0);
	ck_assert_int_eq(memtable_reserve(m, &b), 0);
	memtable_put(m);
	batch_release(&b);
	buf_release(&key);
}
END_TEST

/* Many deletions, as a script that removes rows makes them in any order, must
 * not look as if each covered all the others. */
START_TEST(separate_ranges_are_cheap)
{
	struct batch b = BATCH_INIT;
	uint8_t start[4], end[4];
	uint32_t i, n;

	for (i = 0; i < 100000; i++) {
		n = _i ? i * 7919 % 100000 : i;
		put_u32be(start, n);
		put_u32be(end, n + 1);
		ck_assert_int_eq(batch_delete_range(&b, bytes_of(start, 4),
						    bytes_of(end, 4)),
				 0);
	}
	ck_assert_uint_lt(memtable_need(&b), 32 << 20);
	batch_release(&b);
}
END_TEST

/* The i-th of n ranges, each inside the one before (nesting 0), over it (1), or
 * with the same start and a later end (2). */
static void add_nested(struct batch *b, int nesting, uint32_t i, uint32_t n)
{
	uint32_t inner = nesting == 0 ? i : n - 1 - i;
	uint8_t start[4], end[4];

	put_u32be(start, nesting == 2 ? 0 : inner);
	put_u32be(end, 2 * n - inner);
	ck_assert_int_eq(
		batch_delete_range(b, bytes_of(start, 4), bytes_of(end, 4)), 0);
}

/* Ranges of one request take room for themselves, and not for each other. */
START_TEST(nested_ranges_of_one_batch)
{
	const uint32_t n = BATCH_RECORDS_MAX;
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct batch b = BATCH_INIT;
	struct memtable *m;
	uint8_t key[4];
	uint32_t i;

	for (i = 0; i < n; i++)
		add_nested(&b, _i, i, n);
	ck_assert_uint_lt(memtable_need(&b), 32 << 20);
	ck_assert_int_eq(memtable_new(memtable_need(&b), &m), 0);
	ck_assert_int_eq(memtable_reserve(m, &b), 1);
	memtable_apply(m, &b, 1);
	ck_assert_uint_lt(m->arena.used, n * 150);
	ck_assert_uint_eq(m->last_seq, n);
	ck_assert_int_eq(memtable_tombstones(m, NULL, 0, &list), 0);
	ck_assert_uint_eq(list.count, _i == 0 ? 2 * n - 1 : 1);
	/* In the middle, the last of them covers; at the first key, the last
	 * that begins there. */
	put_u32be(key, n);
	ck_assert_uint_eq(memtable_cover(m, bytes_of(key, 4), n, NULL), n);
	put_u32be(key, 0);
	ck_assert_uint_eq(tombstone_cover(&list, bytes_of(key, 4), n, NULL),
			  _i == 0 ? 1 : n);
	tombstone_list_release(&list);
	memtable_put(m);
	batch_release(&b);
}
END_TEST

/* Ranges of requests of their own keep what an older reader needs: inside one
 * another, they share their covers; over one another, each is on all before. */
START_TEST(nested_ranges_of_many_batches)
{
	const uint32_t n = 2000;
	const uint64_t snapshots[] = { 1, n / 2, n };
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct batch b = BATCH_INIT;
	struct memtable *m;
	uint8_t key[4];
	uint32_t i;

	ck_assert_int_eq(memtable_new(200 << 20, &m), 0);
	for (i = 0; i < n; i++) {
		batch_reset(&b);
		add_nested(&b, _i, i, n);
		ck_assert_int_eq(memtable_reserve(m, &b), 1);
		memtable_apply(m, &b, i + 1);
	}
	ck_assert_uint_lt(m->arena.used, n * 200 + (_i ? n * n * 24 : 0));
	put_u32be(key, n);
	for (i = 0; i <= n; i++)
		ck_assert_uint_eq(memtable_cover(m, bytes_of(key, 4), i, NULL),
				  i);
	ck_assert_int_eq(memtable_tombstones(m, snapshots, 3, &list), 0);
	ck_assert_uint_lt(list.count, 3 * 2 * n);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(tombstone_cover(&list, bytes_of(key, 4),
						  snapshots[i], NULL),
				  snapshots[i]);
	tombstone_list_release(&list);
	memtable_put(m);
	batch_release(&b);
}
END_TEST

#define BATCHES 30
#define BATCH_RANGES 8

/* Between batches, all readers see what a list of the ranges says. */
START_TEST(batches_of_ranges_against_a_list)
{
	struct range ranges[BATCHES * BATCH_RANGES];
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	uint64_t snapshots[BATCHES], seq = 1;
	size_t count = 0, i, j;
	struct memtable *m;
	unsigned int key;

	random_state = (uint64_t)_i * 31 + 7;
	ck_assert_int_eq(memtable_new(1 << 20, &m), 0);
	for (i = 0; i < BATCHES; i++) {
		struct batch b = BATCH_INIT;
		uint64_t first = seq;

		for (j = 1 + draw(BATCH_RANGES); j > 0; j--) {
			struct range *r = &ranges[count++];

			r->start = (uint8_t)draw(100);
			r->end = (uint8_t)(r->start + 1 + draw(100));
			r->seq = seq++;
			ck_assert_int_eq(
				batch_delete_range(&b, bytes_of(&r->start, 1),
						   bytes_of(&r->end, 1)),
				0);
		}
		ck_assert_int_eq(memtable_reserve(m, &b), 1);
		memtable_apply(m, &b, first);
		snapshots[i] = seq - 1;
		batch_release(&b);
	}
	ck_assert_int_eq(memtable_tombstones(m, snapshots, BATCHES, &list), 0);
	for (key = 0; key < 256; key++) {
		uint8_t k = (uint8_t)key;
		struct bytes b = bytes_of(&k, 1);

		for (i = 0; i < BATCHES; i++) {
			uint64_t want =
				naive_cover(ranges, count, k, snapshots[i]);

			ck_assert_uint_eq(
				memtable_cover(m, b, snapshots[i], NULL), want);
			ck_assert_uint_eq(
				tombstone_cover(&list, b, snapshots[i], NULL),
				want);
		}
	}
	tombstone_list_release(&list);
	memtable_put(m);
}
END_TEST

#define SHARED_COUNT 8000

struct shared {
	struct memtable *m;
	_Atomic uint64_t visible;
};

static void *read_along(void *context)
{
	struct shared *s = context;
	uint64_t seen, seq, cover;
	uint8_t key = 5;

	do {
		seen = atomic_load_explicit(&s->visible, memory_order_acquire);
		/* Every tenth write is a range, the others are cells. */
		seq = check_order(s->m, seen);
		if (seq != seen - seen / 10)
			return (void *)(uintptr_t) "cells are missing";
		cover = memtable_cover(s->m, bytes_of(&key, 1), seen, NULL);
		if (cover != seen / 10 * 10)
			return (void *)(uintptr_t) "a range is missing";
	} while (seen < SHARED_COUNT);
	return NULL;
}

START_TEST(readers_beside_a_writer)
{
	struct shared s = { 0 };
	pthread_t readers[3];
	uint64_t seq;
	void *problem;
	size_t i;

	random_state = 9;
	ck_assert_int_eq(memtable_new(8 << 20, &s.m), 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(
			pthread_create(&readers[i], NULL, read_along, &s), 0);
	for (seq = 1; seq <= SHARED_COUNT; seq++) {
		struct batch b = BATCH_INIT;
		uint8_t start = (uint8_t)draw(6);
		uint8_t end = (uint8_t)(6 + draw(6));

		if (seq % 10) {
			put(s.m, draw(100000), draw(3), seq);
		} else {
			ck_assert_int_eq(batch_delete_range(&b,
							    bytes_of(&start, 1),
							    bytes_of(&end, 1)),
					 0);
			ck_assert_int_eq(memtable_reserve(s.m, &b), 1);
			memtable_apply(s.m, &b, seq);
			batch_release(&b);
		}
		atomic_store_explicit(&s.visible, seq, memory_order_release);
	}
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_join(readers[i], &problem), 0);
		ck_assert_msg(!problem, "%s", (const char *)problem);
	}
	memtable_put(s.m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memtable");
	TCase *tests = tcase_create("memtable");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, cells_in_any_order, 0, 4);
	tcase_add_test(tests, positions);
	tcase_add_loop_test(tests, ranges_against_a_list, 0, 5);
	tcase_add_loop_test(tests, need_is_enough, 0, 5);
	tcase_add_loop_test(tests, separate_ranges_are_cheap, 0, 2);
	tcase_add_loop_test(tests, nested_ranges_of_one_batch, 0, 3);
	tcase_add_loop_test(tests, nested_ranges_of_many_batches, 0, 3);
	tcase_add_loop_test(tests, batches_of_ranges_against_a_list, 0, 5);
	tcase_add_test(tests, readers_beside_a_writer);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
