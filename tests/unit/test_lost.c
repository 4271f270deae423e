#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "store/base/bg.h"
#include "store/bulk_load.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* A store whose volume another holder takes, or that does not answer, or has no
 * space for what is on its way. */
static struct volume *volume, *other_volume;
static struct store *store, *other;

static void check(int err)
{
	ck_assert_msg(err >= 0, "%s: %s", err_text(err), err_detail());
}

static struct store *open_on(struct volume *v)
{
	struct store_options o;
	struct store *s;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	o.lease_wait_ms = 300;
	o.memtable_size = 64 << 10;
	check(store_open_volume(v, &o, &s));
	return s;
}

static void set_up(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	check(volume_mem_new(&volume));
	volume_mem_keep(volume);
	store = open_on(volume);
	check(store_create_table(store, BYTES_LITERAL("t"), false, &family, 1));
	other = NULL;
}

static void tear_down(void)
{
	store_close(store);
	if (other)
		check(store_close(other));
	ck_assert_uint_eq(volume_mem_open_count(volume), 0);
	volume->ops->close(volume);
}

static int put(struct store *s, const char *row, bool sync)
{
	struct write *w;
	int err;

	check(write_new(s, &w));
	check(write_row(w, BYTES_LITERAL("t"), bytes_string(row)));
	check(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1000,
			BYTES_LITERAL("v")));
	err = store_commit(s, w, sync);
	write_free(w);
	return err;
}

static bool has(struct store *s, const char *row)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int found = store_get(s, NULL, BYTES_LITERAL("t"), bytes_string(row),
			      BYTES_LITERAL("f"), BYTES_LITERAL("q"), &cell,
			      &memory);

	check(found);
	buf_release(&memory);
	return found == 1;
}

static void take_over(void)
{
	check(volume_mem_other(volume, &other_volume));
	volume_mem_expire(volume);
	other = open_on(other_volume);
}

START_TEST(who_lost_it_neither_writes_nor_answers)
{
	check(put(store, "mine", false));
	check(store_answerable(store, true));
	take_over();
	ck_assert(has(other, "mine"));
	check(put(other, "theirs", true));
	ck_assert_int_eq(store_answerable(store, true), -ESTALE);
	ck_assert_ptr_nonnull(strstr(err_detail(), "memory"));
	ck_assert_int_eq(err_errno(put(store, "late", false)), EROFS);
	ck_assert_int_eq(put(store, "late", true), -ERR_store_lost);
	ck_assert_ptr_nonnull(strstr(err_detail(), "another process"));
	ck_assert_int_lt(store_close(store), 0);
	check(store_answerable(other, true));
	ck_assert(!has(other, "late"));
	/* For tear_down. */
	store = other;
	other = NULL;
}
END_TEST

static int speak(void *context)
{
	(void)context;
	usleep(50000);
	volume_mem_silence(volume, false);
	return 0;
}

START_TEST(what_is_not_known_is_waited_for)
{
	struct task task = TASK_INIT;

	check(put(store, "mine", true));
	volume_mem_silence(volume, true);
	ck_assert_int_eq(store_answerable(store, false), -EAGAIN);
	task_start(&task, true, speak, NULL);
	check(store_answerable(store, true));
	check(task_wait(&task));
	check(put(store, "more", true));
}
END_TEST

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whoever asks while it goes on waits for no more than is left of one wait. */
START_TEST(it_is_waited_for_once)
{
	int64_t start = now_ms();
	int i;

	volume_mem_silence(volume, true);
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(store_answerable(store, true), -ESTALE);
	ck_assert_int_ge(now_ms() - start, 300);
	ck_assert_int_lt(now_ms() - start, 600);
	ck_assert_int_eq(store_answerable(store, false), -ESTALE);
	volume_mem_silence(volume, false);
	check(store_answerable(store, false));
	volume_mem_silence(volume, true);
	ck_assert_int_eq(store_answerable(store, false), -EAGAIN);
	/* What was seen long ago is no wait that goes on. */
	usleep(400000);
	ck_assert_int_eq(store_answerable(store, false), -EAGAIN);
	volume_mem_silence(volume, false);
}
END_TEST

START_TEST(a_commit_is_waited_for)
{
	ck_assert(!store_commit_waits(store, false));
	ck_assert(store_commit_waits(store, true));
	volume_mem_forgetful(volume);
	ck_assert(store_commit_waits(store, false));
}
END_TEST

/* A sync that lacks space has lost nothing. */
START_TEST(a_sync_without_space_is_tried_again)
{
	struct volume *clone;
	struct store *s;
	struct rng rng = { 1 };

	check(put(store, "one", false));
	volume_mem_fail(volume, 1, ENOSPC, false, 1);
	ck_assert_int_eq(store_sync(store), -ENOSPC);
	ck_assert(volume_mem_failed(volume));
	ck_assert_int_eq(store_health(store), -ENOSPC);
	check(put(store, "two", false));
	check(store_sync(store));
	check(store_health(store));
	check(volume_mem_crash_clone(volume, &rng, &clone));
	s = open_on(clone);
	ck_assert(has(s, "one") && has(s, "two"));
	check(store_close(s));
}
END_TEST

static int load_some(const char *row)
{
	static const uint8_t value[4096];
	struct bulk_load *load;
	struct write *w;
	int err = store_bulk_begin(store, &load);

	if (err < 0)
		return err;
	err = write_new(store, &w);
	if (err == 0)
		err = write_row(w, BYTES_LITERAL("t"), bytes_string(row));
	if (err == 0)
		err = write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1000,
				bytes_of(value, sizeof(value)));
	if (err == 0)
		err = store_bulk_add(load, w);
	write_free(w);
	if (err >= 0)
		err = store_bulk_publish(load);
	store_bulk_free(load);
	return err;
}

/* Whichever call of a load or a commit it was that lacked space. */
START_TEST(trouble_of_a_sync_ends)
{
	uint64_t n;
	bool failed = true;

	for (n = 1; failed; n++) {
		volume_mem_fail(volume, n, ENOSPC, false, n);
		if (load_some("load") < 0 || put(store, "one", true) < 0)
			err_clear();
		failed = volume_mem_failed(volume);
		volume_mem_fail(volume, 0, 0, false, 1);
		check(store_sync(store));
		ck_assert_msg(store_health(store) == 0, "call %d: %s", (int)n,
			      err_detail());
	}
	ck_assert_uint_gt(n, 10);
}
END_TEST

/* One that failed in another way has lost what it was for. */
START_TEST(a_sync_that_failed_is_not)
{
	check(put(store, "one", false));
	volume_mem_fail(volume, 1, EIO, false, 1);
	ck_assert_int_eq(store_sync(store), -EIO);
	ck_assert_int_eq(store_sync(store), -ERR_store_readonly);
	ck_assert_int_eq(put(store, "two", false), -ERR_store_readonly);
}
END_TEST

/* On a volume of which a kill leaves what was synced alone. */
START_TEST(what_is_taken_survives_a_kill)
{
	struct volume *v, *clone;
	struct write *w;
	struct store *s;

	check(volume_mem_new(&v));
	volume_mem_forgetful(v);
	s = open_on(v);
	check(store_create_table(
		s, BYTES_LITERAL("t"), false,
		&(struct family_spec){ .name = BYTES_LITERAL("f") }, 1));
	check(put(s, "one", false));
	check(write_new(s, &w));
	check(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("many")));
	check(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1000,
			BYTES_LITERAL("v")));
	check(store_commit_more(s, w));
	write_free(w);
	check(volume_mem_kill_clone(v, &clone));
	other = open_on(clone);
	ck_assert(has(other, "one") && !has(other, "many"));
	check(store_close(other));
	check(store_settle(s));
	check(volume_mem_kill_clone(v, &clone));
	other = open_on(clone);
	ck_assert(has(other, "one") && has(other, "many"));
	check(store_close(other));
	other = NULL;
	check(store_close(s));
}
END_TEST

static _Atomic unsigned int calls;

static void count_call(void *context)
{
	(void)context;
	atomic_fetch_add(&calls, 1);
}

static bool is_called_within(unsigned int ms)
{
	unsigned int before = atomic_load(&calls);

	for (; ms > 0 && atomic_load(&calls) == before; ms--)
		usleep(1000);
	return ms > 0;
}

/* Who waits for it can be told that it does not answer, and for how long what
 * it answered is so. */
START_TEST(silence_is_told)
{
	ck_assert_uint_eq(store_answer_left(store), UINT64_MAX);
	check(store_on_silence(store, count_call, NULL));
	volume_mem_silence(volume, true);
	ck_assert_uint_eq(store_answer_left(store), 0);
	ck_assert(!is_called_within(2000));
	volume_mem_silence(volume, false);
	volume_mem_lease_of(volume, 5000);
	ck_assert_uint_eq(store_answer_left(store), 5000);
	check(store_on_silence(store, count_call, NULL));
	ck_assert(!is_called_within(2000));
	volume_mem_silence(volume, true);
	ck_assert(is_called_within(30000));
	ck_assert(is_called_within(30000));
	volume_mem_silence(volume, false);
	usleep(1000000);
	ck_assert(!is_called_within(2000));
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		who_lost_it_neither_writes_nor_answers,
		what_is_not_known_is_waited_for,
		it_is_waited_for_once,
		a_commit_is_waited_for,
		a_sync_without_space_is_tried_again,
		trouble_of_a_sync_ends,
		a_sync_that_failed_is_not,
		what_is_taken_survives_a_kill,
		silence_is_told,
	};

	return run_suite("lost", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
