#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/err.h"
#include "tests/sim/script.h"

/*
 * The sweep of failing calls: a short script runs on a volume whose n-th call
 * fails, for every n, once or for ever. Whatever fails, the program goes on,
 * every failure is told, nothing is leaked, answers are right or errors; and a
 * store that is opened again afterwards, after a kill or a power cut, and with
 * one more failure in that opening, holds what was acknowledged.
 *
 * And the sweep of the full disk: from the n-th call on that needs space there
 * is none, until the script has ended. Then the same store has to go on,
 * without being opened again.
 *
 *   main_io [-every N] [n [full]]
 */
static unsigned int passed, failed;
static unsigned long faults;

/* Opens with one more failure, then without. */
static void look_twice(struct volume *v, struct script *r, uint64_t seed)
{
	struct rng rng = { seed };

	volume_mem_keep(v);
	volume_mem_fail(v, 1 + rng_below(&rng, 60), EIO, rng_one_in(&rng, 2),
			rng_next(&rng));
	script_try(v, r);
	if (volume_mem_open_count(v) > 0)
		script_complain(r, "something of the volume was not closed");
	volume_mem_fail(v, 0, 0, false, 0);
	script_look(v, r, true);
}

/* One run with the n-th call failing; false when there is no n-th call. */
static bool run(uint64_t n, int error, bool forever)
{
	struct script r = { .table = false };
	struct rng rng = { n };
	struct volume *v, *cut, *cut_again;
	bool happened;

	if (volume_mem_new(&v) < 0)
		abort();
	volume_mem_keep(v);
	volume_mem_fail(v, n, error, forever, n);
	script_run(v, &r);
	happened = volume_mem_failed(v);
	if (volume_mem_open_count(v) > 0)
		script_complain(&r, "something of the volume was not closed");
	volume_mem_fail(v, 0, 0, false, 0);
	if (volume_mem_crash_clone(v, &rng, &cut) < 0 ||
	    volume_mem_crash_clone(v, &rng, &cut_again) < 0)
		abort();
	script_look(v, &r, false);
	script_look(cut, &r, true);
	look_twice(cut_again, &r, n);
	if (r.problem[0]) {
		printf("call %llu fails with %s%s: %s\n"
		       "replay: build/tests/fault/main_io %llu\n",
		       (unsigned long long)n, err_text(-error),
		       forever ? " for ever" : "", r.problem,
		       (unsigned long long)n);
		failed++;
	} else {
		passed++;
	}
	faults += happened;
	return happened;
}

static struct volume *filled;

static void empty_disk(struct script *r, struct store *s)
{
	volume_mem_fill(filled, 0, 0);
	script_must_go_on(r, s);
}

/* One run on a disk that is full from the n-th call on that needs space. */
static bool run_full(uint64_t n)
{
	struct script r = { .before_close = empty_disk };
	struct rng rng = { n };
	struct volume *cut;
	bool happened;

	if (volume_mem_new(&filled) < 0)
		abort();
	volume_mem_keep(filled);
	volume_mem_fill(filled, n, n);
	script_run(filled, &r);
	happened = volume_mem_calls(filled) >= n;
	volume_mem_fill(filled, 0, 0);
	if (volume_mem_open_count(filled) > 0)
		script_complain(&r, "something of the volume was not closed");
	if (volume_mem_crash_clone(filled, &rng, &cut) < 0)
		abort();
	script_look(filled, &r, false);
	script_look(cut, &r, true);
	if (r.problem[0]) {
		printf("disk is full from call %llu on: %s\n"
		       "replay: build/tests/fault/main_io %llu full\n",
		       (unsigned long long)n, r.problem, (unsigned long long)n);
		failed++;
	} else {
		passed++;
	}
	faults += happened;
	return happened;
}

static void sweep(uint64_t n, uint64_t every)
{
	static const int errors[] = { EIO, ENOSPC };
	uint64_t first = n ? n : 1;
	bool more = true;
	size_t i;

	for (; more; first += every) {
		more = false;
		for (i = 0; i < 4; i++)
			more |= run(first, errors[i % 2], i / 2);
		if (n)
			break;
	}
}

int main(int argc, char **argv)
{
	uint64_t every = 1, n;

	if (argc > 2 && strcmp(argv[1], "-every") == 0) {
		every = strtoull(argv[2], NULL, 0);
		every += every == 0;
		argc -= 2;
		argv += 2;
	}
	n = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	if (argc < 3)
		sweep(n, every);
	if (argc > 2)
		run_full(n);
	for (n = n ? UINT64_MAX : 1; n != UINT64_MAX && run_full(n); n += every)
		;
	printf("%lu failures injected\n", faults);
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
