#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/bg.h"
#include "store/engine/run/open.h"
#include "tests/unit/follow_pair.h"

/* A store that follows another, at each moment of the owner's life. */
static struct volume *volume, *others[8];
static size_t other_count;
static struct store *follower;
static struct pair pair;

static struct volume *other_volume(void)
{
	ck_assert_uint_lt(other_count, 8);
	must(volume_mem_other(volume, &others[other_count]));
	return others[other_count++];
}

static struct store *open_owner(struct volume *v)
{
	struct store_options o;
	struct store *s;

	owner_options(&o);
	must(store_open_volume(v, &o, &s));
	return s;
}

static struct store *follow(struct volume *v)
{
	struct store_options o;
	struct store *s;

	owner_options(&o);
	o.create = false;
	o.follow = true;
	must(store_open_volume(v, &o, &s));
	return s;
}

static void set_up(void)
{
	pair = (struct pair){ .first = 1 };
	other_count = 0;
	must(volume_mem_new(&volume));
	volume_mem_keep(volume);
	pair.owner = open_owner(volume);
	make_tables(pair.owner);
	follower = follow(other_volume());
}

static void tear_down(void)
{
	store_close(follower);
	store_close(pair.owner);
	ck_assert_uint_eq(volume_mem_open_count(volume), 0);
	volume->ops->close(volume);
}

/* Before and after a change of the owner's. */
static void at_change(void *context, struct volume *v)
{
	static bool looks;

	(void)context;
	(void)v;
	if (looks)
		return;
	looks = true;
	look(&pair, follower);
	looks = false;
}

START_TEST(each_change_leaves_a_prefix)
{
	volume_mem_hook(volume, at_change, NULL);
	while (pair.events < 130)
		happen(&pair);
	volume_mem_hook(volume, NULL, NULL);
	look(&pair, follower);
	ck_assert_uint_eq(pair.seen, pair.last);
}
END_TEST

START_TEST(owners_come_and_go)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		volume_mem_hook(volume, at_change, NULL);
		while (pair.events < 35 * (i + 1))
			happen(&pair);
		/* As if killed: it does no more. */
		sample_end(&pair.owner->sampler);
		engine_abandon(store_engine(pair.owner));
		pair.owner->engine = NULL;
		volume_mem_hook(volume, NULL, NULL);
		look(&pair, follower);
		ck_assert_uint_eq(pair.seen, pair.last);
		volume_mem_hook(volume, at_change, NULL);
		store_close(pair.owner);
		pair.owner = open_owner(other_volume());
		volume_mem_hook(volume, NULL, NULL);
	}
	look(&pair, follower);
}
END_TEST

START_TEST(a_snapshot_stays_whatever_is_merged)
{
	struct snapshot *at;
	struct pair then;

	while (pair.events < 60)
		happen(&pair);
	must(store_refresh(follower));
	must(store_snapshot(follower, &at));
	then = pair;
	look_at(&then, follower, at);
	while (pair.events < 200) {
		happen(&pair);
		look(&pair, follower);
	}
	must(store_compact(pair.owner, BYTES_NONE));
	look(&pair, follower);
	look_at(&then, follower, at);
	ck_assert_uint_eq(then.seen, then.last);
	store_snapshot_release(follower, at);
}
END_TEST

static void count_change(void *context, struct volume *v)
{
	(void)v;
	++*(unsigned int *)context;
}

START_TEST(nothing_is_changed_through_it)
{
	unsigned int changes = 0;
	struct store_stats stats;
	struct write *w;

	happen(&pair);
	volume_mem_hook(volume, count_change, &changes);
	must(write_new(follower, &w));
	set_row(w, 1, 100);
	ck_assert_int_eq(store_commit(follower, w, false), -ERR_store_readonly);
	ck_assert_ptr_nonnull(strstr(err_detail(), "follows"));
	ck_assert_int_eq(err_errno(-ERR_store_readonly), EROFS);
	write_free(w);
	ck_assert_int_eq(store_drop_table(follower, BYTES_LITERAL("t"), false),
			 -ERR_store_readonly);
	must(store_refresh(follower));
	store_stats(follower, &stats);
	ck_assert_uint_eq(stats.follow_staleness_us, 2000000);
	ck_assert_uint_lt(stats.follow_age_us, 2000000);
	ck_assert_uint_gt(store_answer_left(follower), 0);
	look(&pair, follower);
	volume_mem_hook(volume, NULL, NULL);
	ck_assert_uint_eq(pair.seen, 1);
	ck_assert_uint_eq(changes, 0);
}
END_TEST

START_TEST(what_is_too_old_is_not_told)
{
	struct store_options o;
	struct snapshot *at;
	struct volume *v = other_volume();
	struct bytes root;
	struct store *s;
	uint8_t kept;

	owner_options(&o);
	o.create = false;
	o.follow = true;
	o.staleness_ms = 50;
	must(store_open_volume(v, &o, &s));
	must(store_answerable(s, true));
	ck_assert_uint_le(store_answer_left(s), 50 / STORE_LOOKS);
	/* It cannot be read any more. */
	root = volume_mem_file(volume, "root");
	kept = root.data[9];
	((uint8_t *)root.data)[9] ^= 1;
	usleep(60000);
	ck_assert(store_is_behind(s));
	ck_assert_uint_eq(store_answer_left(s), 0);
	ck_assert_int_eq(store_answerable(s, false), -EAGAIN);
	ck_assert_int_eq(store_answerable(s, true), -ESTALE);
	ck_assert_ptr_nonnull(strstr(err_detail(), "staleness=50ms"));
	ck_assert_int_eq(store_snapshot(s, &at), -ESTALE);
	((uint8_t *)root.data)[9] = kept;
	must(store_answerable(s, true));
	/* What failed then is no reason any more. */
	usleep(60000);
	ck_assert_int_eq(store_snapshot(s, &at), -ESTALE);
	ck_assert_ptr_nonnull(strstr(err_detail(), "not been looked at"));
	store_close(s);
}
END_TEST

static int count_sst(void *context, const char *name)
{
	*(unsigned int *)context += strstr(name, ".sst") != NULL;
	return 0;
}

static unsigned int sst_count(void)
{
	unsigned int count = 0;

	must(volume->ops->list(volume, count_sst, &count));
	return count;
}

static unsigned int live_count(struct store *s)
{
	struct store_stats stats;
	unsigned int count = 0;
	size_t i;

	store_stats(s, &stats);
	for (i = 0; i < 7; i++)
		count += (unsigned int)stats.sst_count[i];
	return count;
}

static void step(struct store *s)
{
	while (engine_step(store_engine(s)) > 0)
		continue;
}

START_TEST(files_stay_for_readers)
{
	struct store_options o;
	unsigned int live, before;

	must(store_close(pair.owner));
	owner_options(&o);
	o.reader_grace_us = 300000;
	must(store_open_volume(other_volume(), &o, &pair.owner));
	while (pair.events < 50)
		happen(&pair);
	step(pair.owner);
	live = live_count(pair.owner);
	before = sst_count();
	ck_assert_uint_gt(before, live);
	/* Across an end of the owner's. */
	must(store_close(pair.owner));
	must(store_open_volume(other_volume(), &o, &pair.owner));
	step(pair.owner);
	ck_assert_uint_gt(sst_count(), live_count(pair.owner));
	usleep(310000);
	step(pair.owner);
	ck_assert_uint_eq(sst_count(), live_count(pair.owner));
	look(&pair, follower);
	ck_assert_uint_eq(pair.seen, pair.last);
}
END_TEST

/* Rows in order by one thread, beside its store's background. */
static atomic_bool is_over;

static int write_rows(void *context)
{
	struct pair *p = context;
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		p->events = i;
		commit_row(p, false, i % 10 == 3 ? LARGE : 100);
		if (i % 700 == 300)
			load_rows(p);
	}
	atomic_store(&is_over, true);
	return 0;
}

/* What it sees goes on from look to look, without a hole. */
static int read_rows(void *context)
{
	struct scan_range range = { .table = BYTES_LITERAL("t"),
				    .start = BYTES_LITERAL("r"),
				    .end = BYTES_LITERAL("s") };
	unsigned int seen = 0, last;
	struct scan *scan;
	struct cell cell;

	while (!atomic_load(&is_over) || seen == 0) {
		must(scan_open(context, NULL, &range, &scan));
		for (last = 0; scan_next(scan, CURSOR_ROW, &cell) == 1; last++)
			ck_assert_uint_eq(
				strtoul((const char *)cell.row.data + 1, NULL,
					10),
				last + 1);
		scan_close(scan);
		ck_assert_uint_ge(last, seen);
		seen = last;
		must(store_answerable(context, true));
	}
	return 0;
}

static int look_again(void *context)
{
	while (!atomic_load(&is_over)) {
		must(store_refresh(context));
		usleep(2000);
	}
	return 0;
}

START_TEST(readers_and_looks_beside_a_writer)
{
	char directory[] = "/tmp/test_follow.XXXXXX", command[64];
	struct task writer = TASK_INIT, reader = TASK_INIT, looker = TASK_INIT;
	struct pair beside = { .first = 1 };
	struct store_options o;
	struct store *s;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	owner_options(&o);
	o.background = true;
	must(store_open(directory, &o, &beside.owner));
	make_tables(beside.owner);
	o.create = false;
	o.follow = true;
	o.background = false;
	o.staleness_ms = 60000;
	must(store_open(directory, &o, &s));
	atomic_store(&is_over, false);
	task_start(&writer, true, write_rows, &beside);
	task_start(&reader, true, read_rows, s);
	task_start(&looker, true, look_again, s);
	must(task_wait(&writer));
	must(task_wait(&reader));
	must(task_wait(&looker));
	look(&beside, s);
	ck_assert_uint_eq(beside.seen, beside.last);
	must(store_close(s));
	must(store_close(beside.owner));
	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(what_is_no_store_is_told)
{
	struct store_options o;
	struct volume *v;
	struct store *s;

	owner_options(&o);
	o.follow = true;
	must(volume_mem_new(&v));
	ck_assert_int_eq(store_open_volume(v, &o, &s), -ERR_not_a_store);
}
END_TEST

#define BETWEEN 1800

/* A volume through which the owner acts between two calls of the follower's. */
struct between {
	struct volume volume;
	struct volume *inner;
	struct rng rng;
};

static void act(struct volume *v)
{
	struct between *b = (struct between *)v;

	if (rng_below(&b->rng, 4) == 0 && pair.events < BETWEEN)
		happen(&pair);
}

static int open_between(struct volume *v, const char *name, struct reader **out)
{
	act(v);
	return ((struct between *)v)
		->inner->ops->open(((struct between *)v)->inner, name, out);
}

static int root_between(struct volume *v, uint64_t *version, struct buf *out)
{
	act(v);
	return ((struct between *)v)
		->inner->ops->root_get(((struct between *)v)->inner, version,
				       out);
}

static int space_between(struct volume *v, struct volume_space *out)
{
	struct volume *inner = ((struct between *)v)->inner;

	return inner->ops->space(inner, out);
}

static int heat_between(struct volume *v, struct buf *out)
{
	struct volume *inner = ((struct between *)v)->inner;

	return inner->ops->heat_read(inner, out);
}

static void close_between(struct volume *v)
{
	struct volume *inner = ((struct between *)v)->inner;

	inner->ops->close(inner);
}

START_TEST(the_owner_goes_on_meanwhile)
{
	struct between between = { .inner = other_volume() };
	struct volume_ops ops = *between.inner->ops;
	struct store *s;

	between.rng.state = 7;
	ops.open = open_between;
	ops.root_get = root_between;
	ops.space = space_between;
	ops.heat_read = heat_between;
	ops.close = close_between;
	between.volume.ops = &ops;
	between.volume.path = between.inner->path;
	s = follow(&between.volume);
	while (pair.events < BETWEEN)
		look(&pair, s);
	look(&pair, s);
	ck_assert_uint_eq(pair.seen, pair.last);
	store_close(s);
}
END_TEST

/* The end of the log was not durable, and another owner goes on before it. */
START_TEST(what_was_shown_and_is_lost)
{
	char name[VOLUME_NAME_MAX + 1];
	unsigned int i;
	size_t size;

	manifest_name(store_engine(pair.owner)->log_id, "log", name);
	size = volume_mem_file(volume, name).size;
	pair.events = 1; /* of which none is durable */
	for (i = 0; i < 3; i++)
		commit_row(&pair, false, 100);
	look(&pair, follower);
	ck_assert_uint_eq(pair.seen, 3);
	sample_end(&pair.owner->sampler);
	engine_abandon(store_engine(pair.owner));
	pair.owner->engine = NULL;
	store_close(pair.owner);
	volume_mem_truncate(volume, name, size);
	pair.owner = open_owner(other_volume());
	/* As many as were lost, and more. */
	pair.last = 0;
	for (i = 0; i < 6; i++)
		commit_row(&pair, false, 100);
	ck_assert_int_eq(store_refresh(follower), -ERR_store_lost);
	ck_assert_ptr_nonnull(strstr(err_detail(), "mount it again"));
	/* No log tells of it any more. */
	must(engine_flush(store_engine(pair.owner)));
	while (engine_step(store_engine(pair.owner)) > 0)
		continue;
	ck_assert_int_eq(store_refresh(follower), -ERR_store_lost);
}
END_TEST

/* What the owner has in one memtable takes more of the follower's than it may
 * have of one size. */
START_TEST(the_owner_has_more_memory)
{
	struct store_options o;
	struct store *small;
	unsigned int i;

	store_close(pair.owner);
	owner_options(&o);
	o.memtable_size = 16 << 20;
	must(store_open_volume(other_volume(), &o, &pair.owner));
	owner_options(&o);
	o.create = false;
	o.follow = true;
	o.memtable_size = 64 << 10;
	must(store_open_volume(other_volume(), &o, &small));
	for (i = 1; i <= 3000; i++) {
		commit_row(&pair, false, 1000);
		if (i % 500 == 0)
			look(&pair, small);
	}
	ck_assert_uint_eq(pair.seen, pair.last);
	store_close(small);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { each_change_leaves_a_prefix,
				 owners_come_and_go,
				 a_snapshot_stays_whatever_is_merged,
				 nothing_is_changed_through_it,
				 what_is_too_old_is_not_told,
				 files_stay_for_readers,
				 readers_and_looks_beside_a_writer,
				 what_is_no_store_is_told,
				 the_owner_goes_on_meanwhile,
				 what_was_shown_and_is_lost,
				 the_owner_has_more_memory };

	return run_suite("follow", set_up, tear_down, tests, 11);
}
