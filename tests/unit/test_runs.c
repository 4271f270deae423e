#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/runs.h"
#include "store/engine/read/cursor.h"
#include "store/engine/read/get.h"
#include "store/engine/read/sources.h"
#include "store/engine/run/open.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_iter.h"
#include "tests/sim/rng.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/*
 * Level 0 as sorted runs, for random files: of ROWS rows, each of one column
 * with VERSIONS versions, a file has some of a span, and maybe a tombstone over
 * rows. All that a file writes has one sequence, as if it had been loaded.
 */
#define ROWS 12
#define VERSIONS 3
#define PLACES (ROWS * VERSIONS) /* keys in order: of rows, newest first */
#define FILES_MAX 24

static struct volume *volume;
static struct engine *engine;
static struct edit edit;
static uint64_t written[PLACES]; /* the sequence that is seen there, or 0 */

static void check(int err)
{
	ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
}

static void set_up(void)
{
	struct engine_options o;

	engine_options_init(&o);
	o.create = true;
	check(volume_mem_new(&volume));
	check(engine_open(volume, &o, &engine));
	edit = (struct edit)EDIT_INIT;
	memset(written, 0, sizeof(written));
}

static void tear_down(void)
{
	edit_release(&edit);
	engine_abandon(engine);
	volume->ops->close(volume);
}

static void make_row(unsigned int row, struct buf *key)
{
	char name[8];

	snprintf(name, sizeof(name), "r%02u", row);
	buf_reset(key);
	check(key_add_table(key, 1));
	check(key_add_part(key, bytes_string(name)));
}

static void make_column(unsigned int row, struct buf *key)
{
	make_row(row, key);
	check(key_add_part(key, BYTES_LITERAL("f")));
	check(key_add_part(key, BYTES_LITERAL("q")));
}

static uint64_t timestamp_of(unsigned int place)
{
	return VERSIONS - place % VERSIONS;
}

static void add_cell(struct sst_builder *b, unsigned int place, uint64_t seq)
{
	struct buf key = BUF_INIT;

	make_column(place / VERSIONS, &key);
	check(key_add_timestamp(&key, timestamp_of(place)));
	check(key_add_trailer(&key, seq, KEY_PUT));
	check(sst_build_add(b, buf_bytes(&key), BYTES_LITERAL("v")));
	buf_release(&key);
	if (written[place] < seq)
		written[place] = seq;
}

/* Hides what is older in rows [first, end). */
static void add_tombstone(struct sst_builder *b, unsigned int first,
			  unsigned int end, uint64_t seq)
{
	struct buf keys[2] = { BUF_INIT, BUF_INIT };
	struct tombstone t = { .seq = seq };
	unsigned int place;

	make_row(first, &keys[0]);
	make_row(end, &keys[1]);
	t.start = buf_bytes(&keys[0]);
	t.end = buf_bytes(&keys[1]);
	check(sst_build_tombstone(b, &t));
	buf_release(&keys[0]);
	buf_release(&keys[1]);
	for (place = first * VERSIONS; place < end * VERSIONS && place < PLACES;
	     place++)
		if (written[place] < seq)
			written[place] = 0;
}

/* A file of level 0 with the places from first to last, of those between about
 * one in so many; a tombstone over rows [from, to) if from is less. */
static void add_file(struct rng *r, uint64_t seq, unsigned int first,
		     unsigned int last, unsigned int from, unsigned int to)
{
	struct sst_options options = { .filter_bits = 10 };
	uint64_t id = engine_new_id(engine);
	char name[VOLUME_NAME_MAX + 1];
	struct segment_writer *writer;
	struct sst_builder *b;
	unsigned int place;

	manifest_name(id, "sst", name);
	check(volume->ops->segment_create(volume, name, &writer));
	check(sst_build_new(writer, &options, &b));
	if (from < to)
		add_tombstone(b, from, to, seq);
	for (place = first; place <= last; place++)
		if (place == first || place == last || rng_one_in(r, 3))
			add_cell(b, place, seq);
	check(sst_build_finish(b, NULL));
	check(edit_add_file(&edit, 0, id, volume_mem_file(volume, name).size));
	edit.last_seq = seq;
	atomic_store(&engine->visible_seq, seq);
}

static void publish(void)
{
	check(engine_apply(engine, &edit));
	edit_release(&edit);
	edit = (struct edit)EDIT_INIT;
}

static void add_random(struct rng *r, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		unsigned int first = rng_below(r, PLACES);
		unsigned int width = rng_one_in(r, 4) ? PLACES : PLACES / 4;
		unsigned int last = first + rng_below(r, width);
		unsigned int from = first / VERSIONS + rng_below(r, 2);

		if (last >= PLACES)
			last = PLACES - 1;
		add_file(r, i + 1, first, last, from,
			 rng_one_in(r, 2) ? from + rng_below(r, 4) : 0);
	}
	publish();
}

static bool shares(const struct sst_file *a, const struct sst_file *b)
{
	return !files_are_apart(a, b) && !files_are_apart(b, a);
}

static size_t run_of(const struct version *v, const struct sst_file *f)
{
	size_t found = v->run_count, i, j;

	for (i = 0; i < v->run_count; i++)
		for (j = 0; j < v->runs[i].count; j++)
			if (v->runs[i].files[j] == f) {
				ck_assert_uint_eq(found, v->run_count);
				found = i;
			}
	ck_assert_uint_lt(found, v->run_count);
	return found;
}

/* Each file is in one run, in order; and right behind the last of the newer
 * files that share something with it: by all pairs. */
static void runs_are_right(const struct version *v)
{
	const struct level *level = &v->levels[0];
	size_t count = 0, i, j;

	for (i = 0; i < v->run_count; i++) {
		count += v->runs[i].count;
		for (j = 1; j < v->runs[i].count; j++)
			ck_assert(files_are_apart(v->runs[i].files[j - 1],
						  v->runs[i].files[j]));
	}
	ck_assert_uint_eq(count, level->count);
	for (i = 0; i < level->count; i++) {
		size_t wanted = 0, run;

		for (j = 0; j < i; j++) {
			run = run_of(v, level->files[j]);
			if (shares(level->files[i], level->files[j]) &&
			    run >= wanted)
				wanted = run + 1;
		}
		ck_assert_uint_eq(run_of(v, level->files[i]), wanted);
	}
}

/* Gets and a scan see what was written. */
static void reads_are_right(void)
{
	struct buf key = BUF_INIT, memory = BUF_INIT;
	struct large *large;
	struct cursor *c;
	struct cell cell;
	unsigned int place, row;

	check(cursor_open(engine, NULL, BYTES_NONE, BYTES_NONE, BYTES_NONE,
			  &c));
	for (place = 0; place < PLACES; place++) {
		if (written[place] == 0)
			continue;
		ck_assert_int_eq(cursor_next(c, CURSOR_VERSION, &cell), 1);
		ck_assert_uint_eq(cell.timestamp_us, timestamp_of(place));
		ck_assert_uint_eq(cell.seq, written[place]);
	}
	ck_assert_int_eq(cursor_next(c, CURSOR_VERSION, &cell), 0);
	cursor_close(c);
	for (row = 0; row < ROWS; row++) {
		int found;

		place = row * VERSIONS;
		while (place < (row + 1) * VERSIONS && written[place] == 0)
			place++;
		make_column(row, &key);
		found = cursor_get(engine, NULL, buf_bytes(&key), &cell,
				   &memory, &large);
		ck_assert_int_eq(found, place < (row + 1) * VERSIONS);
		if (found == 0)
			continue;
		ck_assert_uint_eq(cell.timestamp_us, timestamp_of(place));
		ck_assert_uint_eq(cell.seq, written[place]);
	}
	buf_release(&key);
	buf_release(&memory);
}

START_TEST(random_files_are_in_right_runs)
{
	unsigned int seed;

	for (seed = 1; seed <= 200; seed++) {
		struct rng r = { seed };

		add_random(&r, 1 + rng_below(&r, FILES_MAX));
		runs_are_right(engine->version);
		reads_are_right();
		tear_down();
		set_up();
	}
}
END_TEST

/* Of six flushes in eight parts a scan has six sources and opens a file of each
 * at first; and of one row's range it asks no other part. */
START_TEST(a_scan_has_a_source_for_each_flush)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	struct rng r = { 1 };
	struct sources s;
	uint64_t seq;

	for (seq = 1; seq <= 48; seq++) {
		unsigned int part = (unsigned int)(seq - 1) % 8;

		add_file(&r, seq, part * VERSIONS, part * VERSIONS + 1, part,
			 part + 1);
	}
	publish();
	runs_are_right(engine->version);
	ck_assert_uint_eq(engine->version->run_count, 6);
	check(sources_open(engine, NULL, BYTES_NONE, BYTES_NONE, BYTES_NONE,
			   &s));
	ck_assert_uint_eq(s.iter_count, 6);
	ck_assert_uint_eq(s.cover_count, 6);
	sources_close(&s);
	make_row(8, &start);
	make_row(9, &end);
	check(sources_open(engine, NULL, buf_bytes(&start), buf_bytes(&end),
			   BYTES_NONE, &s));
	ck_assert_uint_eq(s.iter_count, 0);
	sources_close(&s);
	buf_release(&start);
	buf_release(&end);
}
END_TEST

/* One file ends and an older one begins with the same version, which is written
 * by both, so no key of one lies in the other; and a third file lies over the
 * newer of them alone. */
START_TEST(files_that_share_a_column_are_in_order)
{
	struct rng r = { 1 };

	add_file(&r, 1, 3, 6, 0, 0);
	add_file(&r, 2, 0, 3, 0, 0);
	add_file(&r, 3, 0, 1, 0, 0);
	publish();
	ck_assert_uint_eq(engine->version->run_count, 3);
	runs_are_right(engine->version);
	reads_are_right();
}
END_TEST

static unsigned int opened;

static int open_counted(struct sst *t, struct iter **out)
{
	opened++;
	return sst_iter_new(t, true, out);
}

START_TEST(a_run_opens_one_file_after_the_other)
{
	const struct level *run;
	struct buf key = BUF_INIT;
	struct rng r = { 1 };
	struct iter *it;
	unsigned int i;

	for (i = 0; i < 8; i++)
		add_file(&r, i + 1, i * VERSIONS, i * VERSIONS, 0, 0);
	publish();
	run = version_run(engine->version, 0);
	ck_assert_uint_eq(run->count, 8);
	check(level_iter_new(run, open_counted, &it));
	ck_assert_uint_eq(opened, 0);
	make_row(4, &key);
	ck_assert_int_eq(iter_seek(it, buf_bytes(&key)), 1);
	ck_assert_uint_eq(opened, 1);
	ck_assert_int_eq(iter_next(it), 1);
	ck_assert_uint_eq(opened, 2);
	iter_close(it);
	buf_release(&key);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		random_files_are_in_right_runs,
		a_scan_has_a_source_for_each_flush,
		files_that_share_a_column_are_in_order,
		a_run_opens_one_file_after_the_other,
	};

	return run_suite("runs", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
