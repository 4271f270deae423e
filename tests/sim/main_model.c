#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/sim.h"

/*
 * The model test: random operations on a store and on the naive model, with
 * flushes, compactions, reopenings and crashes between them; every answer must
 * be the same. A run is a function of its seed.
 *
 *   main_model [-seeds N] [-first S] [-ops N] [-seed S] [-v]
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

static bool run_seed(uint64_t seed, unsigned int ops, bool verbose,
		     struct sim *s)
{
	*s = (struct sim){ .verbose = verbose };
	running = seed;
	alarm(30 + ops / 50);
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
	sim_quiet_op(s);
	sim_compare_all(s);
	sim_end(s);
	return true;
}

static void add_counts(struct sim_counts *sum, const struct sim_counts *c)
{
	sum->writes += c->writes;
	sum->reads += c->reads;
	sum->cells += c->cells;
	sum->crashes += c->crashes;
	sum->kills += c->kills;
	sum->reopens += c->reopens;
	sum->lost += c->lost;
	sum->flushes += c->flushes;
	sum->compactions += c->compactions;
	sum->moves += c->moves;
	sum->full += c->full;
	sum->unmarked += c->unmarked;
}

static void print_counts(const struct sim_counts *c)
{
	printf("%llu writes, %llu reads, %llu cells compared\n"
	       "%llu power cuts, %llu kills (%llu lost unsynced writes), %llu "
	       "reopenings\n"
	       "%llu flushes, %llu compactions, %llu trivial moves\n"
	       "%llu operations on a full disk, %llu loads without a mark\n",
	       (unsigned long long)c->writes, (unsigned long long)c->reads,
	       (unsigned long long)c->cells, (unsigned long long)c->crashes,
	       (unsigned long long)c->kills, (unsigned long long)c->lost,
	       (unsigned long long)c->reopens, (unsigned long long)c->flushes,
	       (unsigned long long)c->compactions, (unsigned long long)c->moves,
	       (unsigned long long)c->full, (unsigned long long)c->unmarked);
}

static unsigned long long number(int argc, char **argv, int *i)
{
	char *end = NULL;
	unsigned long long n = 0;

	if (*i + 1 < argc)
		n = strtoull(argv[++*i], &end, 0);
	if (!end || *end || end == argv[*i]) {
		fprintf(stderr, "usage: main_model [-seeds N] [-first S] "
				"[-ops N] [-seed S] [-v]\n");
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct sim s;
	unsigned long long seeds = 200, first = 1, seed;
	struct sim_counts sum = { 0 };
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
		else if (strcmp(argv[i], "-first") == 0)
			first = number(argc, argv, &i);
		else if (strcmp(argv[i], "-v") == 0)
			verbose = true;
		else
			number(0, argv, &i);
	}
	signal(SIGALRM, too_long);
	for (seed = first; seed < first + seeds; seed++) {
		if (!run_seed(seed, ops, verbose, &s))
			failed++;
		add_counts(&sum, &s.counts);
	}
	print_counts(&sum);
	printf("%llu passed, %u failed, 0 skipped\n", seeds - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
