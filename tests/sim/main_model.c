#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/sim/sim.h"

/*
 * The model test: random operations on a store and on the naive model, with
 * flushes, compactions, reopenings and crashes between them; every answer must
 * be the same. A run is a function of its seed.
 *
 *   main_model [-seeds N] [-ops N] [-seed S] [-v]
 */
static bool run_seed(uint64_t seed, unsigned int ops, bool verbose,
		     struct sim *s)
{
	*s = (struct sim){ .verbose = verbose };
	if (setjmp(s->failed)) {
		printf("seed %llu, operation %u: %s\n"
		       "replay: build/tests/sim/main_model -seed %llu -ops %u "
		       "-v\n",
		       (unsigned long long)seed, s->op, s->problem,
		       (unsigned long long)seed, ops);
		return false;
	}
	sim_start(s, seed);
	while (s->op < ops)
		sim_step(s);
	sim_compare_all(s);
	sim_end(s);
	return true;
}

static unsigned long long number(int argc, char **argv, int *i)
{
	char *end = NULL;
	unsigned long long n = 0;

	if (*i + 1 < argc)
		n = strtoull(argv[++*i], &end, 0);
	if (!end || *end || end == argv[*i]) {
		fprintf(stderr, "usage: main_model [-seeds N] [-ops N] "
				"[-seed S] [-v]\n");
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct sim s;
	unsigned long long seeds = 200, first = 1, seed;
	unsigned long long writes = 0, reads = 0, crashes = 0, kills = 0;
	unsigned long long reopens = 0, lost = 0;
	unsigned int ops = 1000, failed = 0;
	bool verbose = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-seeds") == 0)
			seeds = number(argc, argv, &i);
		else if (strcmp(argv[i], "-ops") == 0)
			ops = (unsigned int)number(argc, argv, &i);
		else if (strcmp(argv[i], "-seed") == 0)
			first = number(argc, argv, &i), seeds = 1;
		else if (strcmp(argv[i], "-v") == 0)
			verbose = true;
		else
			number(0, argv, &i);
	}
	for (seed = first; seed < first + seeds; seed++) {
		if (!run_seed(seed, ops, verbose, &s))
			failed++;
		writes += s.counts.writes;
		reads += s.counts.reads;
		crashes += s.counts.crashes;
		kills += s.counts.kills;
		reopens += s.counts.reopens;
		lost += s.counts.lost;
	}
	printf("%llu writes, %llu reads, %llu power cuts, %llu kills (%llu "
	       "lost unsynced writes), %llu reopenings\n",
	       writes, reads, crashes, kills, lost, reopens);
	printf("%llu passed, %u failed, 0 skipped\n", seeds - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
