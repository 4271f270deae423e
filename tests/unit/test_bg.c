#include <stdatomic.h>
#include <semaphore.h>

#include "store/base/bg.h"
#include "store/base/err.h"
#include "tests/unit/suite.h"

static atomic_int work, steps;
static sem_t idle, ticked;

static int step(void *context)
{
	(void)context;
	if (atomic_load(&work) == 0) {
		sem_post(&idle);
		return 0;
	}
	atomic_fetch_sub(&work, 1);
	atomic_fetch_add(&steps, 1);
	return 1;
}

static void tick(void *context)
{
	(void)context;
	sem_post(&ticked);
}

START_TEST(works_until_idle_and_again_when_woken)
{
	struct bg *bg;

	sem_init(&idle, 0, 0);
	sem_init(&ticked, 0, 0);
	atomic_store(&work, 5);
	ck_assert_int_eq(bg_start(step, tick, 1, NULL, &bg), 0);
	sem_wait(&idle);
	ck_assert_int_eq(atomic_load(&steps), 5);
	atomic_store(&work, 3);
	bg_wake(bg);
	sem_wait(&idle);
	ck_assert_int_eq(atomic_load(&steps), 8);
	sem_wait(&ticked);
	sem_wait(&ticked);
	bg_stop(bg);
	bg_stop(NULL);
}
END_TEST

static int fail_twice(void *context)
{
	(void)context;
	if (atomic_fetch_add(&steps, 1) < 2)
		return -1;
	sem_post(&idle);
	return 0;
}

START_TEST(tries_again_what_failed)
{
	struct bg *bg;

	sem_init(&idle, 0, 0);
	atomic_store(&steps, 0);
	ck_assert_int_eq(bg_start(fail_twice, NULL, 0, NULL, &bg), 0);
	sem_wait(&idle);
	ck_assert_int_eq(atomic_load(&steps), 3);
	bg_stop(bg);
}
END_TEST

static struct bg *self;

/* Wakes itself once, as the engine's work wakes who does it. */
static int wake_self(void *context)
{
	(void)context;
	if (!self)
		return 0;
	if (atomic_fetch_add(&steps, 1) == 0)
		bg_wake(self);
	else
		sem_post(&idle);
	return 0;
}

/* The first step finds the worker where bg_start puts it. */
START_TEST(a_step_may_wake_it)
{
	int round;

	sem_init(&idle, 0, 0);
	for (round = 0; round < 200; round++) {
		self = NULL;
		atomic_store(&steps, 0);
		ck_assert_int_eq(bg_start(wake_self, NULL, 0, NULL, &self), 0);
		sem_wait(&idle);
		bg_stop(self);
	}
}
END_TEST

static pthread_t ran_in;

static int succeed(void *context)
{
	ran_in = pthread_self();
	*(int *)context += 1;
	return 7;
}

static int go_wrong(void *context)
{
	return fail(EIO, "%s: offset 4096: %s", (const char *)context,
		    "damaged");
}

START_TEST(runs_where_it_is_to)
{
	struct task t = TASK_INIT;
	int runs = 0, beside;

	for (beside = 0; beside < 2; beside++) {
		task_start(&t, beside, succeed, &runs);
		ck_assert_int_eq(task_wait(&t), 7);
		ck_assert_int_eq(runs, beside + 1);
		ck_assert_int_eq(pthread_equal(ran_in, pthread_self()) != 0,
				 !beside);
	}
}
END_TEST

START_TEST(the_waiter_gets_the_reason)
{
	struct task t = TASK_INIT;
	char name[] = "00000001-00000002.sst";
	int beside;

	for (beside = 0; beside < 2; beside++) {
		task_start(&t, beside, go_wrong, name);
		fail(ENOENT, "something else, meanwhile");
		ck_assert_int_eq(task_wait(&t), -EIO);
		ck_assert_str_eq(err_detail(),
				 "00000001-00000002.sst: offset 4096: damaged");
	}
}
END_TEST

START_TEST(waits_for_none)
{
	struct task t = TASK_INIT;
	int runs = 0;

	ck_assert_int_eq(task_wait(&t), 0);
	task_start(&t, true, succeed, &runs);
	ck_assert_int_eq(task_wait(&t), 7);
	ck_assert_int_eq(task_wait(&t), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		works_until_idle_and_again_when_woken,
		tries_again_what_failed,
		a_step_may_wake_it,
		runs_where_it_is_to,
		the_waiter_gets_the_reason,
		waits_for_none,
	};

	return run_suite("bg", NULL, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
