#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/soak/soak.h"

/*
 * Workloads that go on, in a directory and in real time; see soak.h.
 *
 *   main_store [-seconds N] [-seed S] [WORKLOAD...]
 */
static struct soak k;

static void run(const struct workload *w, uint64_t seed, uint64_t seconds,
		struct soak_count *count)
{
	char command[96];

	memset(&k, 0, sizeof(k));
	k.workload = w;
	k.seed = seed;
	k.max_age_us = 300000;
	strcpy(k.directory, "/tmp/tabletfs-soak.XXXXXX");
	if (!mkdtemp(k.directory)) {
		perror(k.directory);
		exit(EXIT_FAILURE);
	}
	soak_run(&k, "store", seconds * 1000, count);
	fflush(stdout);
	snprintf(command, sizeof(command), "rm -rf %s", k.directory);
	if (system(command) != 0)
		count->failed++;
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
	uint64_t seconds = 1, seed = 1;
	size_t i;
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (strcmp(argv[at], "-seconds") == 0)
			seconds = strtoull(argv[at + 1], NULL, 0);
		else if (strcmp(argv[at], "-seed") == 0)
			seed = strtoull(argv[at + 1], NULL, 0);
		else
			break;
	}
	if ((at < argc && argv[at][0] == '-') ||
	    !soak_bounds_read("tests/soak/bounds")) {
		fprintf(stderr, "usage, where tests/soak/bounds is: main_store "
				"[-seconds N] [-seed S] [WORKLOAD...]\n");
		return 2;
	}
	for (i = 0; i < workload_count; i++)
		if (wanted(workloads[i].name, argv + at, argc - at))
			run(&workloads[i], seed, seconds, &count);
	printf("%u passed, %u failed, 0 skipped\n", count.passed, count.failed);
	return count.failed || !count.passed ? EXIT_FAILURE : EXIT_SUCCESS;
}
