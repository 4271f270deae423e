#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/sim/sim_past.h"

/*
 * The model test of the recent past: as main_model, of a store that keeps
 * history, while now and then one of its moments, and at the end all of them,
 * are held against what the model was then. A run is a function of its seed.
 *
 *   main_history [-seeds N] [-first S] [-ops N] [-seed S] [-v 1]
 */
static uint64_t running;

/* A run that goes on for ever is ended, with all that are to come. */
static void too_long(int signal)
{
	(void)signal;
	dprintf(STDOUT_FILENO, "seed %llu: does not end\n",
		(unsigned long long)running);
	_exit(EXIT_FAILURE);
}

/* How many times as slow as others this machine is. */
static unsigned int slowness(void)
{
	const char *slow = getenv("SLOW");
	int n = slow ? atoi(slow) : 1;

	return n > 0 ? (unsigned int)n : 1;
}

static bool run_seed(uint64_t seed, unsigned int ops, bool verbose,
		     struct sim *s, struct sim_past *past)
{
	*past = (struct sim_past){ .count = 0 };
	*s = (struct sim){ .verbose = verbose, .past = past };
	running = seed;
	alarm((60 + ops / 10) * slowness());
	if (setjmp(s->failed)) {
		printf("seed %llu, operation %u: %s\n"
		       "replay: build/tests/sim/main_history -seed %llu -ops "
		       "%u -v 1\n",
		       (unsigned long long)seed, s->op, s->problem,
		       (unsigned long long)seed, ops);
		return false;
	}
	sim_start(s, seed);
	while (s->op < ops)
		sim_step(s);
	sim_past_compare_all(s);
	sim_quiet_op(s);
	sim_compare_all(s);
	sim_past_compare_all(s);
	sim_end(s);
	sim_past_end(s);
	return true;
}

int main(int argc, char **argv)
{
	static struct sim s;
	static struct sim_past past;
	unsigned long long seeds = 60, first = 1, seed, moments = 0, gone = 0;
	unsigned long long seconds = 0;
	unsigned long long files = 0, crashes = 0, compactions = 0;
	unsigned long long purges = 0, erased = 0;
	unsigned int ops = 600, failed = 0;
	bool verbose = false;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		unsigned long long n = strtoull(argv[i + 1], NULL, 0);

		if (strcmp(argv[i], "-seeds") == 0)
			seeds = n;
		else if (strcmp(argv[i], "-ops") == 0)
			ops = (unsigned int)n;
		else if (strcmp(argv[i], "-seed") == 0)
			first = n, seeds = 1;
		else if (strcmp(argv[i], "-first") == 0)
			first = n;
		else if (strcmp(argv[i], "-v") == 0)
			verbose = n > 0;
	}
	signal(SIGALRM, too_long);
	for (seed = first; seed < first + seeds; seed++) {
		if (!run_seed(seed, ops, verbose, &s, &past))
			failed++;
		moments += past.checked;
		gone += past.gone;
		seconds += past.seconds;
		files = past.files > files ? past.files : files;
		purges += past.purges;
		erased += past.erased;
		crashes += s.counts.crashes + s.counts.kills;
		compactions += s.counts.compactions;
	}
	printf("seeds %llu to %llu: %llu moments read, %llu of them given up, "
	       "%llu seconds found, up to %llu history files\n%llu crashes, "
	       "%llu compactions, %llu purges of %llu entries\n",
	       first, first + seeds - 1, moments, gone, seconds, files, crashes,
	       compactions, purges, erased);
	printf("%llu passed, %u failed, 0 skipped\n", seeds - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
