#include <stdlib.h>
#include <string.h>

#include "tests/soak/soak.h"

/*
 * The same workloads on a volume in memory, by a clock that the seed moves:
 * some runs of a day, some of a year; see soak.h. A run is a function of its
 * seed.
 *
 *   main_clock [-days N] [-years N] [-turns N] [-seed S] [WORKLOAD...]
 */
#define DAY_US (UINT64_C(86400) * 1000000)

static struct soak k;

static void run(const struct workload *w, const char *form, uint64_t seed,
		uint64_t days, uint64_t turns, struct soak_count *count)
{
	unsigned int failed = count->failed;

	memset(&k, 0, sizeof(k));
	k.workload = w;
	k.simulated = true;
	k.seed = seed;
	k.now_us = 365 * 50 * DAY_US;
	k.span_us = days * DAY_US;
	k.turns_max = turns;
	k.max_age_us = k.span_us / (2 + seed % 50);
	soak_run(&k, form, 0, count);
	if (count->failed > failed)
		printf("replay: build/tests/soak/main_clock -days %d -years %d "
		       "-turns %llu -seed %llu %s\n",
		       days == 1, days > 1, (unsigned long long)turns,
		       (unsigned long long)seed, w->name);
}

static bool wanted(const char *name, char **names, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return count == 0;
}

int main(int argc, char **argv)
{
	struct soak_count count = { 0, 0 };
	uint64_t days = 1, years = 1, seed = 1, turns = 3000, n;
	size_t i;
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		n = strtoull(argv[at + 1], NULL, 0);
		if (strcmp(argv[at], "-days") == 0)
			days = n;
		else if (strcmp(argv[at], "-years") == 0)
			years = n;
		else if (strcmp(argv[at], "-turns") == 0)
			turns = n;
		else if (strcmp(argv[at], "-seed") == 0)
			seed = n;
		else
			break;
	}
	if ((at < argc && argv[at][0] == '-') || turns == 0 ||
	    !soak_bounds_read("tests/soak/bounds")) {
		fprintf(stderr, "usage, where tests/soak/bounds is: main_clock "
				"[-days N] [-years N] [-turns N] [-seed S] "
				"[WORKLOAD...]\n");
		return 2;
	}
	for (i = 0; i < workload_count; i++) {
		if (!wanted(workloads[i].name, argv + at, argc - at))
			continue;
		for (n = 0; n < days; n++)
			run(&workloads[i], "clock", seed + n, 1, turns, &count);
		for (n = 0; n < years; n++)
			run(&workloads[i], "clock", seed + days + n, 365, turns,
			    &count);
	}
	printf("%u passed, %u failed, 0 skipped\n", count.passed, count.failed);
	return count.failed || !count.passed ? EXIT_FAILURE : EXIT_SUCCESS;
}
