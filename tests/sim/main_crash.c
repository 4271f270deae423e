#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/script.h"

/*
 * The crash test: a short script runs, and before and after each change that it
 * makes to the volume the power is cut, many times with different damage to
 * what was not synced. Each time the store has to open and hold what was
 * durable, and no more than was written, without holes. In a third of the cases
 * the power is cut a second time, while it opens; in another third, a call
 * fails while it opens, once or with all after it. A run is a function of the
 * seed.
 *
 *   main_crash [-cuts N] [-seed S]
 */
struct crash_test {
	struct script script;
	struct rng rng;
	unsigned int cuts;
	unsigned long point, second, errors, passed, failed;
};

/* A second power cut, while the store recovers from the first. */
struct second_cut {
	struct rng *rng;
	uint32_t left; /* changes until then */
	struct volume *clone;
};

static void cut_again(void *context, struct volume *v)
{
	struct second_cut *c = context;

	if (c->left == 0 || --c->left > 0)
		return;
	if (volume_mem_crash_clone(v, c->rng, &c->clone) < 0)
		abort();
}

/* Opens v and cuts the power meanwhile. Returns what is left; ends v. */
static struct volume *recover_and_cut(struct crash_test *t, struct script *r,
				      struct volume *v)
{
	struct second_cut c = { .rng = &t->rng,
				.left = 1 + rng_below(&t->rng, 40) };

	volume_mem_keep(v);
	volume_mem_hook(v, cut_again, &c);
	script_try(v, r);
	volume_mem_hook(v, NULL, NULL);
	if (!c.clone)
		return v;
	v->ops->close(v);
	t->second++;
	return c.clone;
}

/* Opens v while one of its calls fails. */
static void recover_and_fail(struct crash_test *t, struct script *r,
			     struct volume *v)
{
	int error = rng_one_in(&t->rng, 2) ? EIO : ENOSPC;
	bool forever = rng_one_in(&t->rng, 2);

	volume_mem_keep(v);
	volume_mem_fail(v, 1 + rng_below(&t->rng, 60), error, forever,
			rng_next(&t->rng));
	script_try(v, r);
	t->errors += volume_mem_failed(v);
	if (volume_mem_open_count(v) > 0)
		script_complain(r, "something of the volume was not closed");
	volume_mem_fail(v, 0, 0, false, 0);
}

static void cut(void *context, struct volume *v)
{
	struct crash_test *t = context;
	struct volume *clone;
	unsigned int i;

	t->point++;
	for (i = 0; i < t->cuts; i++) {
		struct script r = t->script;
		uint64_t seed = t->rng.state;

		if (volume_mem_crash_clone(v, &t->rng, &clone) < 0)
			abort();
		if (i % 3 == 0)
			clone = recover_and_cut(t, &r, clone);
		else if (i % 3 == 1)
			recover_and_fail(t, &r, clone);
		script_look(clone, &r, true);
		if (r.problem[0]) {
			t->failed++;
			printf("power cut at change %lu, damage %llu: %s\n",
			       t->point, (unsigned long long)seed, r.problem);
		} else {
			t->passed++;
		}
	}
}

int main(int argc, char **argv)
{
	struct crash_test t = { .cuts = 140, .rng = { 1 } };
	struct volume *v;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		uint64_t n = strtoull(argv[i + 1], NULL, 0);

		if (strcmp(argv[i], "-cuts") == 0)
			t.cuts = (unsigned int)n;
		else if (strcmp(argv[i], "-seed") == 0)
			t.rng.state = n;
	}
	printf("seed %llu\n", (unsigned long long)t.rng.state);
	if (volume_mem_new(&v) < 0)
		abort();
	volume_mem_hook(v, cut, &t);
	script_run(v, &t.script);
	if (t.script.problem[0]) {
		printf("%s\n", t.script.problem);
		t.failed++;
	}
	printf("%lu changes to the volume, %u power cuts at each, %lu more "
	       "and %lu errors while recovering\n",
	       t.point, t.cuts, t.second, t.errors);
	printf("%lu passed, %lu failed, 0 skipped\n", t.passed, t.failed);
	return t.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
