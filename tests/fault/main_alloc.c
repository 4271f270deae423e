#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tests/sim/script.h"

/*
 * The sweep of failing allocations: the n-th call of malloc or its like that a
 * short script makes fails, once or with all after it, for every n of a
 * stride. Nothing may crash or leak, answers are right or errors, and a store
 * that is opened again holds what was acknowledged.
 *
 *   main_alloc [stride [first]]
 *
 * The functions below take the place of the C library's, whose own are reached
 * by other names. Sanitizers do the same, so with them there is no test.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("0 passed, 0 failed, 1 skipped\n");
	return 77;
}

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static unsigned long calls, fail_at;
static bool fail_forever;
static long live; /* allocations that were not freed */

static bool fails(void)
{
	calls++;
	return fail_at &&
	       (calls == fail_at || (fail_forever && calls > fail_at));
}

void *malloc(size_t size)
{
	void *p = fails() ? NULL : __libc_malloc(size);

	live += p != NULL;
	errno = p ? errno : ENOMEM;
	return p;
}

void *calloc(size_t count, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(count, size);

	live += p != NULL;
	errno = p ? errno : ENOMEM;
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p = fails() ? NULL : __libc_realloc(old, size);

	live += p && !old;
	errno = p ? errno : ENOMEM;
	return p;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *p = fails() ? NULL : __libc_memalign(alignment, size);

	live += p != NULL;
	errno = p ? errno : ENOMEM;
	return p;
}

void free(void *p)
{
	live -= p != NULL;
	__libc_free(p);
}

static unsigned long passed, failed;

/* False when there is no n-th allocation. */
static bool run(unsigned long n, bool forever)
{
	struct script r = { .table = false };
	struct rng rng = { n };
	struct volume *v, *cut;
	long before = live;
	bool happened;

	if (volume_mem_new(&v) < 0)
		abort();
	volume_mem_keep(v);
	calls = 0;
	fail_at = n;
	fail_forever = forever;
	script_run(v, &r);
	happened = calls >= n;
	fail_at = 0;
	if (volume_mem_open_count(v) > 0)
		script_complain(&r, "something of the volume was not closed");
	if (volume_mem_crash_clone(v, &rng, &cut) < 0)
		abort();
	script_look(v, &r, false);
	script_look(cut, &r, true);
	if (live != before)
		script_complain(&r, "memory was leaked");
	if (r.problem[0]) {
		failed++;
		printf("allocation %lu fails%s: %s\n"
		       "replay: build/tests/fault/main_alloc 1000000 %lu\n",
		       n, forever ? " with all after it" : "", r.problem, n);
	} else {
		passed++;
	}
	return happened;
}

int main(int argc, char **argv)
{
	unsigned long stride = argc > 1 ? strtoul(argv[1], NULL, 0) : 3;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	bool more = true;

	/* What standard output needs is allocated first. */
	printf("every %lu. allocation\n", stride);
	for (; more && stride > 0; n += stride) {
		more = run(n, false);
		more |= run(n, true);
	}
	printf("%lu allocations in one run\n", n);
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
