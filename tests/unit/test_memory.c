#include <pthread.h>
#include <time.h>

#include "store/base/memory.h"
#include "tests/unit/suite.h"

#define LIMIT 1000

static struct memory *memory;

static void setup(void)
{
	ck_assert_int_eq(memory_new(LIMIT, &memory), 0);
}

static void teardown(void)
{
	memory_free(memory);
}

START_TEST(takes_up_to_the_limit)
{
	ck_assert(memory_take(memory, MEMORY_SCANS, 400, 0));
	ck_assert(memory_take(memory, MEMORY_DRAFTS, 400, 0));
	ck_assert(!memory_take(memory, MEMORY_VALUES, 201, 0));
	ck_assert(memory_take(memory, MEMORY_VALUES, 200, 0));
	ck_assert_uint_eq(memory_used(memory, MEMORY_VALUES), 200);
	ck_assert(!memory_take(memory, MEMORY_REQUESTS, 1, 0));
	ck_assert_uint_eq(memory_used(memory, MEMORY_REQUESTS), 0);
	memory_give(memory, MEMORY_SCANS, 400);
	ck_assert(memory_take(memory, MEMORY_REQUESTS, 1, 0));
	memory_give(memory, MEMORY_REQUESTS, 1);
	memory_give(memory, MEMORY_DRAFTS, 400);
	memory_give(memory, MEMORY_VALUES, 200);
}
END_TEST

START_TEST(one_account_has_half_at_most)
{
	ck_assert(memory_take(memory, MEMORY_IMPORTS, 500, 0));
	ck_assert(!memory_take(memory, MEMORY_IMPORTS, 1, 0));
	ck_assert(memory_take(memory, MEMORY_DRAFTS, 500, 0));
	memory_give(memory, MEMORY_IMPORTS, 500);
	/* It would wait for ever. */
	ck_assert(!memory_take(memory, MEMORY_IMPORTS, 501, 3600000));
	memory_give(memory, MEMORY_DRAFTS, 500);
}
END_TEST

START_TEST(what_is_held_counts)
{
	memory_hold(memory, MEMORY_IMPORTS, 2000);
	ck_assert(!memory_take(memory, MEMORY_SCANS, 1, 0));
	memory_give(memory, MEMORY_IMPORTS, 1400);
	ck_assert(memory_take(memory, MEMORY_SCANS, 400, 0));
	memory_give(memory, MEMORY_SCANS, 400);
	memory_give(memory, MEMORY_IMPORTS, 600);
	/* It has bounds of its own. */
	memory_hold(memory, MEMORY_MEMTABLES, 2000);
	ck_assert(memory_take(memory, MEMORY_SCANS, 400, 0));
	memory_give(memory, MEMORY_SCANS, 400);
	memory_give(memory, MEMORY_MEMTABLES, 2000);
}
END_TEST

START_TEST(a_wait_ends_with_its_time)
{
	struct timespec start, end;

	ck_assert(memory_take(memory, MEMORY_SCANS, 500, 0));
	clock_gettime(CLOCK_MONOTONIC, &start);
	ck_assert(!memory_take(memory, MEMORY_SCANS, 1, 20));
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_int_ge((end.tv_sec - start.tv_sec) * 1000000000 +
				 end.tv_nsec - start.tv_nsec,
			 20000000);
	memory_give(memory, MEMORY_SCANS, 500);
}
END_TEST

/* Takes and gives by turns, with waits; what is held never is over the limit.
 */
static void *take_turns(void *context)
{
	enum memory_account account = *(enum memory_account *)context;
	int i;

	for (i = 0; i < 2000; i++) {
		if (!memory_take(memory, account, 500, 600000))
			return context;
		memory_give(memory, account, 500);
	}
	return NULL;
}

START_TEST(whoever_waits_is_woken)
{
	enum memory_account accounts[] = { MEMORY_SCANS, MEMORY_SCANS,
					   MEMORY_DRAFTS, MEMORY_VALUES };
	pthread_t threads[4];
	void *failed;
	int i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_turns,
						&accounts[i]),
				 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
}
END_TEST

START_TEST(accounts_have_names)
{
	ck_assert_str_eq(memory_name(MEMORY_MEMTABLES), "memtables");
	ck_assert_str_eq(memory_name(MEMORY_VALUES), "values");
	ck_assert_uint_eq(memory_limit(memory), LIMIT);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		takes_up_to_the_limit,  one_account_has_half_at_most,
		what_is_held_counts,    a_wait_ends_with_its_time,
		whoever_waits_is_woken, accounts_have_names,
	};

	return run_suite("memory", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
