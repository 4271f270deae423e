#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/script.h"

/*
 * The takeover test: a short script runs, and at one of the changes that it
 * makes to the volume, before it or after, its time is past and another holder
 * takes the store, reads, writes and compacts; the first one knows nothing of
 * that and goes on. So for each change. Then every row that the first
 * acknowledged, before or after, has to be there for the second and for a
 * third, and nothing of what the first tried later.
 *
 * And the same with a volume that keeps of logs what was synced alone when its
 * holder is deposed: then who says that something is done has waited for that.
 *
 *   main_takeover [-every N] [-at N]
 */
struct takeover {
	unsigned long at, change; /* when it is taken; so far */
	bool forgetful;           /* see volume_mem_forgetful */
	struct volume *other;     /* the second holder's; NULL: not yet */
	struct store *store;
	const struct script *first;
	struct script script; /* the first's, as it was then; the second's */
	bool seen[SCRIPT_ROWS];
};

static void take(void *context, struct volume *v)
{
	struct takeover *t = context;

	if (t->other || ++t->change < t->at)
		return;
	if (volume_mem_other(v, &t->other) < 0)
		abort();
	if (t->forgetful)
		volume_mem_forget_unsynced(v);
	volume_mem_expire(v);
	t->script = *t->first;
	t->store = script_take(t->other, &t->script, t->seen);
}

/* When the first has ended. Ends v. */
static void look(struct takeover *t, struct volume *v)
{
	const struct script *first = t->first;
	struct script *r = &t->script;
	unsigned int row;

	for (row = 0; row < SCRIPT_ROWS; row++) {
		if (first->acknowledged[row] && !t->seen[row])
			script_complain(r, "a row was acknowledged that the "
					   "next holder did not see");
		r->acknowledged[row] |= t->seen[row];
	}
	if (first->problem[0])
		script_complain(r, first->problem);
	if (t->store)
		script_end(t->store, r);
	for (row = 0; row < SCRIPT_ROWS; row++)
		r->durable[row] = r->acknowledged[row];
	script_look(v, r, true);
}

/* One run that is taken over at a change: 1 if that went well, 0 if it did not,
 * -1 if there was no such change. */
static int run(unsigned long at, bool forgetful)
{
	struct script first = { .begun = 0 };
	struct takeover t = { .at = at,
			      .forgetful = forgetful,
			      .first = &first };
	struct volume *v;

	if (volume_mem_new(&v) < 0)
		abort();
	if (forgetful)
		volume_mem_forgetful(v);
	volume_mem_keep(v);
	volume_mem_hook(v, take, &t);
	script_run(v, &first);
	volume_mem_hook(v, NULL, NULL);
	if (!t.other) {
		if (first.problem[0])
			printf("%s\n", first.problem);
		v->ops->close(v);
		return -1;
	}
	look(&t, v);
	if (!t.script.problem[0])
		return 1;
	printf("taken at change %lu%s: %s\n", at,
	       forgetful ? ", unsynced logs lost" : "", t.script.problem);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long at, only = 0, every = 1, passed = 0, failed = 0, before;
	int forgetful, result, i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "-at") == 0)
			only = strtoul(argv[i + 1], NULL, 0);
		else if (strcmp(argv[i], "-every") == 0)
			every = strtoul(argv[i + 1], NULL, 0);
	}
	every += every == 0;
	for (forgetful = 0; forgetful < 2; forgetful++) {
		before = passed + failed;
		for (at = only ? only : 1;; at += every) {
			result = run(at, forgetful);
			if (result < 0)
				break;
			passed += result == 1;
			failed += result == 0;
			if (only)
				break;
		}
		/* A test that tries nothing is none. */
		if (passed + failed == before) {
			printf("there was no change to take it at\n");
			failed++;
		}
	}
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
