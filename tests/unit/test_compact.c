#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/compact/compact.h"
#include "store/engine/compact/pick.h"
#include "store/engine/files/edit.h"
#include "store/format/sst/sst_iter.h"
#include "tests/sim/history.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"
#include "tests/unit/tombstones_of.h"

/*
 * A small store of manifest, memtable, flush and compaction, driven at random
 * and compared with the history of all that was written to it.
 */
#define ROWS 12
#define VISIBLE_MAX 4000
#define SNAPSHOTS_MAX 4

struct point {
	uint64_t seq, now_us;
};

static struct volume *volume;
static struct cache *cache;
static struct manifest *manifest;
static struct memtable *memtable;
static struct gc_rules *rules;
static struct history history;
static struct point snapshots[SNAPSHOTS_MAX];
static size_t snapshot_count;
static uint64_t seq, now_us, birth_seq;
static size_t flushed_count; /* of the history's records */
static uint32_t state;

static uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static void check(int err)
{
	ck_assert_msg(err >= 0, "%s: %s", err_text(err), err_detail());
}

static void unused(struct file_owner *owner, uint64_t id, uint64_t size)
{
	char name[VOLUME_NAME_MAX + 1];

	(void)owner;
	(void)size;
	manifest_name(id, "sst", name);
	check(volume->ops->remove(volume, name));
}

static struct file_owner owner = { .unused = unused };

/* Families: age, keep, rebirth, versions; gone is in no rule. */
static const char *const families[] = { "age", "gone", "keep", "rebirth",
					"versions" };

static void make_rules(void)
{
	struct gc_rules *r = calloc(1, sizeof(*r));
	size_t i;

	ck_assert_ptr_nonnull(r);
	r->references = 1;
	r->table_count = 1;
	r->tables = calloc(1, sizeof(*r->tables));
	r->tables[0].id = 1;
	r->tables[0].families = calloc(5, sizeof(struct gc_family));
	for (i = 0; i < 5; i++) {
		struct gc_family *f =
			&r->tables[0].families[r->tables[0].family_count];

		if (i == 1)
			continue;
		r->tables[0].family_count++;
		f->name = bytes_string(strdup(families[i]));
		if (i == 0)
			f->policy = gc_policy_leaf(GC_MAX_AGE, 30);
		if (i == 4)
			f->policy = gc_policy_leaf(GC_MAX_VERSIONS, 2);
		if (i == 3)
			f->birth_seq = birth_seq;
	}
	gc_rules_put(rules);
	rules = r;
}

static void setup(void)
{
	check(volume_mem_new(&volume));
	check(cache_new(1 << 20, &cache));
	check(manifest_open(volume, cache, &owner, true, false, &manifest));
	check(memtable_new(1 << 20, &memtable));
	seq = flushed_count = snapshot_count = 0;
	birth_seq = 0;
	now_us = 100;
	make_rules();
}

static void teardown(void)
{
	memtable_put(memtable);
	manifest_close(manifest);
	cache_free(cache);
	gc_rules_put(rules);
	rules = NULL;
	history_release(&history);
	volume->ops->close(volume);
}

/* The prefix of a random column; fewer parts if so wanted. */
static void draw_prefix(struct buf *b, uint32_t row, int parts, uint32_t family)
{
	char text[32];

	buf_reset(b);
	key_add_table(b, 1);
	snprintf(text, sizeof(text), "row%02u", row);
	check(key_add_part(b, bytes_string(text)));
	if (parts > 1)
		check(key_add_part(b, bytes_string(families[family])));
	if (parts > 2) {
		snprintf(text, sizeof(text), "q%u", draw(3));
		check(key_add_part(b, bytes_string(text)));
	}
}

static void write_range(struct batch *batch)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	uint32_t family = draw(5), row = draw(ROWS);

	switch (draw(5)) {
	case 0: /* a row */
		draw_prefix(&start, row, 1, family);
		check(key_successor(buf_bytes(&start), &end));
		break;
	case 1: /* a family or a column of a row */
		draw_prefix(&start, row, 2 + (int)draw(2), family);
		check(key_successor(buf_bytes(&start), &end));
		break;
	case 2: /* rows */
		draw_prefix(&start, row, 1, family);
		draw_prefix(&end, row + 1 + draw(3), 1, family);
		break;
	default: /* a time range; where rank counts, it would uncover */
		draw_prefix(&start, row, 3, draw(4));
		check(buf_set(&end, buf_bytes(&start)));
		check(key_add_timestamp(&start, 60 + draw(60)));
		check(key_add_timestamp(&end, draw(60)));
	}
	check(batch_delete_range(batch, buf_bytes(&start), buf_bytes(&end)));
	history_add_range(&history, buf_bytes(&start), buf_bytes(&end), ++seq);
	buf_release(&start);
	buf_release(&end);
}

static void write_cell(struct batch *batch)
{
	static const uint8_t zeros[700];
	bool is_delete = draw(5) == 0;
	struct buf key = BUF_INIT;
	/* Row 3 is large. */
	uint32_t row = draw(3) ? draw(ROWS) : 3;

	draw_prefix(&key, row, 3, draw(is_delete ? 4 : 5));
	check(key_add_timestamp(&key, 1 + draw(100)));
	if (is_delete)
		check(batch_delete(batch, buf_bytes(&key)));
	else
		check(batch_put(batch, buf_bytes(&key),
				bytes_of(zeros, draw(700))));
	check(key_add_trailer(&key, ++seq, is_delete ? KEY_DELETE : KEY_PUT));
	history_add_key(&history, buf_bytes(&key));
	buf_release(&key);
}

static void write_some(void)
{
	struct batch batch = BATCH_INIT;
	uint64_t first = seq + 1;
	uint32_t n = 1 + draw(20);

	while (n-- > 0) {
		if (draw(12) == 0)
			write_range(&batch);
		else
			write_cell(&batch);
	}
	batch_seal(&batch, first);
	ck_assert_int_eq(memtable_reserve(memtable, &batch), 1);
	memtable_apply(memtable, &batch, first);
	batch_release(&batch);
}

static uint64_t new_id(void *context)
{
	return manifest_new_id(context);
}

/* The present and all snapshots, and their times. */
#define POINTS_SIZE (2 * (SNAPSHOTS_MAX + 1))

/* What a merge may go by; seqs has POINTS_SIZE. */
static void make_context(struct merge_context *c, uint64_t *seqs)
{
	uint64_t *us = seqs + SNAPSHOTS_MAX + 1;
	size_t i;

	*c = (struct merge_context){ .volume = volume,
				     .rules = rules,
				     .snapshots = seqs,
				     .snapshot_us = us,
				     .rules_seq = UINT64_MAX,
				     .above_seq = UINT64_MAX,
				     .above_us = UINT64_MAX,
				     .file_size = 2000,
				     .new_id = new_id,
				     .new_id_context = manifest };
	for (i = 0; i < snapshot_count; i++) {
		us[c->snapshot_count] = snapshots[i].now_us;
		seqs[c->snapshot_count++] = snapshots[i].seq;
	}
	us[c->snapshot_count] = now_us;
	seqs[c->snapshot_count++] = seq;
}

static void flush(void)
{
	struct edit edit = EDIT_INIT;
	struct merge_context c;
	uint64_t seqs[POINTS_SIZE];

	make_context(&c, seqs);
	check(compact_flush(&c, memtable, &edit));
	edit.last_seq = seq;
	check(manifest_apply(manifest, &edit));
	edit_release(&edit);
	memtable_put(memtable);
	check(memtable_new(1 << 20, &memtable));
	flushed_count = history.count;
}

static void run(struct compaction *compaction)
{
	struct edit edit = EDIT_INIT;
	struct merge_context c;
	uint64_t seqs[POINTS_SIZE];

	make_context(&c, seqs);
	check(compact_run(&c, manifest->current, compaction, &edit));
	compaction_release(compaction);
	check(manifest_apply(manifest, &edit));
	edit_release(&edit);
}

static void compact_some(void)
{
	struct compaction_options options = { 2, 3000, 2, false };
	struct compaction c;
	int n = (int)draw(3), result = 1;

	while (n-- > 0 && result > 0) {
		result = compact_pick(manifest->current, &options, &c);
		check(result);
		if (result > 0)
			run(&c);
	}
}

static void compact_range(struct bytes start, struct bytes end)
{
	uint64_t before = manifest_new_id(manifest);
	struct compaction c;

	while (compact_pick_range(manifest->current, start, end, &c) > 0)
		run(&c);
	while (compact_pick_bottom(manifest->current, start, end, before, &c) >
	       0)
		run(&c);
}

static void compact_rows(void)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	uint32_t row = draw(ROWS);

	draw_prefix(&start, row, 1, 0);
	draw_prefix(&end, row + draw(4), 1, 0);
	compact_range(buf_bytes(&start), buf_bytes(&end));
	buf_release(&start);
	buf_release(&end);
}

/* Everything that is in files, and what was not flushed. */
static void read_store(struct history *h)
{
	struct version *v = manifest->current;
	unsigned int number;
	size_t i, j;

	for (number = 0; number < LEVEL_COUNT; number++) {
		for (i = 0; i < v->levels[number].count; i++) {
			struct sst *sst = v->levels[number].files[i]->sst;
			struct tombstone_pile pile = { 0 };
			const struct tombstone *items;
			struct iter *it;
			size_t count;
			int result;

			items = tombstones_of(sst, &pile, &count);
			for (j = 0; j < count; j++)
				history_add_range(h, items[j].start,
						  items[j].end, items[j].seq);
			tombstone_pile_release(&pile);
			check(sst_iter_new(sst, true, &it));
			result = iter_seek(it, BYTES_NONE);
			for (; result > 0; result = iter_next(it))
				history_add_key(h, it->key);
			check(result);
			iter_close(it);
		}
	}
	for (i = flushed_count; i < history.count; i++) {
		const struct record *r = &history.records[i];

		if (r->end.size > 0)
			history_add_range(h, r->key, r->end, r->seq);
		else
			history_add_key(h, r->key);
	}
}

static void compare_at(const struct history *h, struct point m)
{
	static struct bytes wanted[VISIBLE_MAX], found[VISIBLE_MAX];
	size_t count, i;

	count = history_visible(&history, rules, m.seq, m.now_us, wanted,
				VISIBLE_MAX);
	ck_assert_uint_eq(
		history_visible(h, rules, m.seq, m.now_us, found, VISIBLE_MAX),
		count);
	for (i = 0; i < count; i++)
		ck_assert(bytes_equal(wanted[i], found[i]));
}

/* Files of a level are apart, and no version is in two of them. */
static void check_levels(void)
{
	const struct version *v = manifest->current;
	unsigned int number;
	size_t i;

	for (number = 1; number < LEVEL_COUNT; number++) {
		for (i = 1; i < v->levels[number].count; i++) {
			const struct sst_file *a =
				v->levels[number].files[i - 1];
			const struct sst_file *b = v->levels[number].files[i];
			int order = bytes_compare(a->largest, b->smallest);

			ck_assert(order < 0 ||
				  (order == 0 && a->largest_exclusive));
			if (!a->largest_exclusive)
				ck_assert(!bytes_starts_with(
					b->smallest, key_version(a->largest)));
		}
	}
}

static void check_store(void)
{
	struct history h = { NULL, 0, 0 };
	size_t i;

	read_store(&h);
	for (i = 0; i < snapshot_count; i++)
		compare_at(&h, snapshots[i]);
	compare_at(&h, (struct point){ seq, now_us });
	history_release(&h);
	check_levels();
}

static void change_snapshots(void)
{
	size_t i;

	if (snapshot_count < SNAPSHOTS_MAX && draw(2)) {
		snapshots[snapshot_count++] = (struct point){ seq, now_us };
		return;
	}
	if (snapshot_count == 0)
		return;
	i = draw((uint32_t)snapshot_count);
	snapshot_count--;
	for (; i < snapshot_count; i++)
		snapshots[i] = snapshots[i + 1];
}

static void step(void)
{
	switch (draw(10)) {
	default:
		write_some();
		break;
	case 4:
	case 5:
		flush();
		compact_some();
		break;
	case 6:
		compact_some();
		break;
	case 7:
		change_snapshots();
		break;
	case 8:
		now_us += draw(10);
		break;
	case 9:
		if (draw(4) == 0) {
			birth_seq = ++seq;
			make_rules();
		} else if (draw(8) == 0) {
			flush();
			compact_rows();
		}
	}
}

static int compare_data(const void *a, const void *b)
{
	const uint8_t *x = ((const struct bytes *)a)->data;
	const uint8_t *y = ((const struct bytes *)b)->data;

	return (x > y) - (x < y);
}

/* How many puts of h somebody sees: who has a snapshot, or the present. */
static size_t count_seen(const struct history *h)
{
	static struct bytes cells[(SNAPSHOTS_MAX + 1) * VISIBLE_MAX];
	size_t count, seen = 0, i;

	count = history_visible(h, rules, seq, now_us, cells, VISIBLE_MAX);
	for (i = 0; i < snapshot_count; i++)
		count += history_visible(h, rules, snapshots[i].seq,
					 snapshots[i].now_us, cells + count,
					 VISIBLE_MAX);
	qsort(cells, count, sizeof(*cells), compare_data);
	for (i = 0; i < count; i++)
		seen += i == 0 || cells[i].data != cells[i - 1].data;
	return seen;
}

/* A full compaction leaves no put that nobody sees. */
static void check_held(void)
{
	struct history h = { NULL, 0, 0 };
	size_t puts = 0, i;

	flush();
	compact_range(BYTES_NONE, BYTES_NONE);
	check_store();
	read_store(&h);
	for (i = 0; i < h.count; i++)
		puts += h.records[i].end.size == 0 &&
			key_kind(h.records[i].key) == KEY_PUT;
	ck_assert_uint_eq(puts, count_seen(&h));
	history_release(&h);
}

/* With no snapshot left, a full compaction leaves the visible cells alone. */
static void check_garbage(void)
{
	static struct bytes cells[VISIBLE_MAX];
	struct history h = { NULL, 0, 0 };
	size_t count;

	snapshot_count = 0;
	flush();
	compact_range(BYTES_NONE, BYTES_NONE);
	check_store();
	read_store(&h);
	count = history_visible(&history, rules, seq, now_us, cells,
				VISIBLE_MAX);
	ck_assert_uint_eq(h.count, count);
	history_release(&h);
}

START_TEST(no_reader_sees_a_difference)
{
	int round, i;

	for (round = 0; round < 40; round++) {
		state = (uint32_t)round;
		setup();
		for (i = 0; i < 100; i++) {
			step();
			if (i % 3 == 0)
				check_store();
		}
		check_held();
		check_garbage();
		teardown();
	}
}
END_TEST

static int count_name(void *context, const char *name)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

static size_t count_names(void)
{
	size_t n = 0;

	check(volume->ops->list(volume, count_name, &n));
	return n;
}

START_TEST(failures_leave_nothing_behind)
{
	struct compaction_options options = { 2, 3000, 2, false };
	struct merge_context context;
	struct compaction c;
	uint64_t seqs[POINTS_SIZE];
	uint64_t n;
	size_t names;
	int i, err = -1;

	state = 99;
	setup();
	for (i = 0; i < 60; i++) {
		write_some();
		if (i % 20 == 19)
			flush();
	}
	check(compact_pick(manifest->current, &options, &c));
	ck_assert_uint_gt(c.input_count[0], 1);
	names = count_names();
	make_context(&context, seqs);
	for (n = 1; err < 0; n++) {
		struct edit edit = EDIT_INIT;

		volume_mem_fail(volume, n, EIO, false, n);
		err = compact_run(&context, manifest->current, &c, &edit);
		volume_mem_fail(volume, 0, 0, false, 0);
		if (err < 0)
			ck_assert_uint_eq(count_names(), names);
		else
			ck_assert_uint_eq(count_names(),
					  names + edit.added_count);
		edit_release(&edit);
	}
	ck_assert_uint_gt(n, 50);
	compaction_release(&c);
	check_store();
	teardown();
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		no_reader_sees_a_difference,
		failures_leave_nothing_behind,
	};

	return run_suite("compact", NULL, NULL, tests, 2);
}
