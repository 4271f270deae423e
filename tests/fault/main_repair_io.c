#include <stdio.h>
#include <stdlib.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "tests/sim/ruin.h"

/*
 * The sweep of repairs under failing calls: a damaged store is repaired while
 * the n-th call of the new store's volume, or of the damaged one's, fails, for
 * every n of a stride, once or for ever. The damaged one must stay as it is,
 * and free. When the new one's volume failed, the error is what is returned, or
 * the new store is as if nothing had failed; of what cannot be read of the
 * damaged one it is told. Nothing is leaked, no cell has a value that it never
 * had, and another repair does what the first would have done.
 *
 *   main_repair_io [stride [first]]
 */
struct ruin {
	const char *name;
	struct volume *volume;
	bool copies; /* nothing can be linked */
	/* What a repair without faults has to tell. */
	unsigned int missing, back, told;
	uint32_t sum; /* of what is there */
};

static unsigned long passed, failed, faults;

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	printf("%s: %s: %s\n", what, err_detail(), err_text(err));
	exit(EXIT_FAILURE);
}

struct summing {
	struct volume *v;
	uint32_t sum;
};

static int add_sum(void *context, const char *name)
{
	struct summing *s = context;

	/* In whatever order they come. */
	s->sum += crc32c(crc32c(0, bytes_string(name)),
			 volume_mem_file(s->v, name));
	return 0;
}

static uint32_t sum_of(struct volume *v)
{
	struct summing s = { v, crc32c(0, volume_mem_file(v, "root")) };

	must(v->ops->list(v, add_sum, &s), "list");
	return s.sum;
}

static void count_told(void *context, const char *text)
{
	++*(unsigned int *)context;
	if (getenv("VERBOSE"))
		printf("    %s\n", text);
}

static int refuse_link(struct volume *v, const char *name, struct volume *to)
{
	(void)v;
	(void)to;
	return fail(EXDEV, "memory/%s: another file system", name);
}

struct outcome {
	int err;
	char detail[600];
	unsigned int told, missing, back;
	const char *problem;
	bool happened;
};

enum whose { NOBODY, TARGET, SOURCE };

static void repair(const struct ruin *r, enum whose whose, uint64_t n,
		   int error, bool forever, struct outcome *o)
{
	static struct volume_ops ops;
	struct repair_result result;
	struct volume *from, *to, *failing;

	*o = (struct outcome){ .missing = RUIN_CELLS };
	must(volume_mem_kill_clone(r->volume, &from), "clone");
	must(volume_mem_new(&to), "volume");
	volume_mem_keep(to);
	ops = *from->ops;
	ops.link = r->copies ? refuse_link : ops.link;
	from->ops = &ops;
	failing = whose == TARGET ? to : from;
	if (whose != NOBODY)
		volume_mem_fail(failing, n, error, forever, n);
	o->err = store_repair_volume(from, to, count_told, &o->told, &result);
	snprintf(o->detail, sizeof(o->detail), "%s", err_detail());
	o->happened = volume_mem_failed(failing);
	volume_mem_fail(failing, 0, 0, false, 0);
	if (volume_mem_open_count(from) + volume_mem_open_count(to) > 0)
		o->problem = "something was not closed";
	if (sum_of(from) != r->sum)
		o->problem = "the damaged store was changed";
	if (from->ops->lease_take(from, "test", NULL, NULL) < 0)
		o->problem = "the damaged store's lease was not given back";
	from->ops->close(from);
	if (o->err < 0)
		to->ops->close(to);
	else if (!o->problem)
		o->problem = ruin_look_at(to, &o->missing, &o->back);
}

static bool as_without(const struct ruin *r, const struct outcome *o)
{
	return o->err == 0 && o->missing == r->missing && o->back == r->back &&
	       o->told == r->told;
}

static void judge(const struct ruin *r, enum whose whose, int error,
		  struct outcome *o)
{
	if (o->problem)
		return;
	if (o->err < 0 && o->err != -error)
		o->problem = "another error";
	else if (o->err == 0 && whose == TARGET && !as_without(r, o))
		o->problem = "it had an effect, and succeeded";
	else if (o->err == 0 && o->told == 0 &&
		 (o->missing > r->missing || o->back > r->back))
		o->problem = "a loss was not told";
}

/* False when there is no n-th call. */
static bool run(const struct ruin *r, enum whose whose, uint64_t n, int error,
		bool forever)
{
	struct outcome o, again;

	repair(r, whose, n, error, forever, &o);
	judge(r, whose, error, &o);
	if (!o.problem && n % 7 == 0) {
		repair(r, NOBODY, 0, 0, false, &again);
		if (again.problem || !as_without(r, &again))
			o.problem = "another repair does otherwise";
	}
	faults += o.happened;
	if (!o.problem) {
		passed++;
		return o.happened;
	}
	failed++;
	printf("%s, call %llu of the %s fails with %s%s: %s\n"
	       "  returned %s: %s; %u told, %u missing, %u back\n",
	       r->name, (unsigned long long)n,
	       whose == TARGET ? "target" : "source", err_text(-error),
	       forever ? " for ever" : "", o.problem, err_text(o.err), o.detail,
	       o.told, o.missing, o.back);
	return o.happened;
}

static void sweep(struct ruin *r, uint64_t stride, uint64_t first)
{
	struct outcome o;
	uint64_t n;

	r->sum = sum_of(r->volume);
	repair(r, NOBODY, 0, 0, false, &o);
	if (o.problem || o.err < 0) {
		printf("%s: without a fault: %s: %s\n", r->name, o.problem,
		       o.detail);
		failed++;
	}
	r->missing = o.missing;
	r->back = o.back;
	r->told = o.told;
	for (n = first;
	     run(r, TARGET, n, EIO, false) | run(r, TARGET, n, EIO, true) |
	     run(r, TARGET, n, ENOSPC, false) | run(r, TARGET, n, ENOSPC, true);
	     n += stride)
		;
	for (n = first;
	     run(r, SOURCE, n, EIO, false) | run(r, SOURCE, n, EIO, true);
	     n += stride)
		;
	r->volume->ops->close(r->volume);
}

int main(int argc, char **argv)
{
	uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 0) : 5;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct ruin whole = { .name = "a store that is whole", .copies = true };
	struct ruin bits = { .name = "damage in each file" };
	struct ruin rootless = { .name = "no manifest and no schema",
				 .copies = true };

	whole.volume = ruin_build();
	bits.volume = ruin_build();
	rootless.volume = ruin_build();
	ruin_harm(bits.volume, false);
	ruin_harm(rootless.volume, true);
	sweep(&whole, stride, first);
	sweep(&bits, stride, first);
	sweep(&rootless, stride, first);
	printf("%lu failures injected\n", faults);
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
