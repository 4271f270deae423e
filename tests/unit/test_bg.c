#include <stdatomic.h>
#include <semaphore.h>

#include "store/base/bg.h"
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

int main(void)
{
	const TTest *tests[] = {
		works_until_idle_and_again_when_woken,
		tries_again_what_failed,
		a_step_may_wake_it,
	};

	return run_suite("bg", NULL, NULL, tests, 3);
}
