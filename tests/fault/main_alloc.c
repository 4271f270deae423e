#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/err.h"
#include "store/store.h"
#include "store/text/value/quote.h"
#include "tests/sim/ruin.h"
#include "tests/sim/script.h"

/*
 * The sweep of failing allocations: the n-th call of malloc or its like that a
 * short script makes fails, once or with all after it, for every n of a
 * stride. Nothing may crash or leak, answers are right or errors, and a store
 * that is opened again holds what was acknowledged. And the same of the repair
 * of a damaged store, and of the inspection of one: it returns -ENOMEM, or does
 * what it does without.
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

static void count(const char *what, unsigned long n, bool forever,
		  const char *problem)
{
	if (!problem[0]) {
		passed++;
		return;
	}
	failed++;
	printf("%s: allocation %lu fails%s: %s\n"
	       "replay: build/tests/fault/main_alloc 1000000 %lu\n",
	       what, n, forever ? " with all after it" : "", problem, n);
}

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
	count("script", n, forever, r.problem);
	return happened;
}

static void must(int err)
{
	if (err < 0) {
		printf("%s: %s\n", err_text(err), err_detail());
		abort();
	}
}

static uint32_t table_id(struct store *s, const char *name)
{
	struct schema *schema = store_schema(s);
	const struct table *t = schema_table(schema, bytes_string(name));
	uint32_t id = t ? t->id : 0;

	schema_put(schema);
	return id;
}

/* Whether all cells of table b have a time. */
static bool has_times(struct store *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("b") };
	bool good = true;
	struct scan *scan;
	struct cell cell;

	must(scan_open(s, NULL, &range, &scan));
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		good = good && cell.timestamp_us > 0;
	scan_close(scan);
	return good;
}

/* One change that lacks memory is followed by one that does not: a table is
 * made and a row written. Nothing of what failed is there, nor in the way. */
static bool run_on(unsigned long n)
{
	struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct store_options o;
	const char *problem = "";
	struct volume *v;
	struct store *s;
	struct write *w;
	bool happened, whole;
	int made;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	must(volume_mem_new(&v));
	volume_mem_keep(v);
	must(store_open_volume(v, &o, &s));
	must(store_create_table(s, bytes_string("b"), false, &f, 1));
	must(write_new(s, &w));
	must(write_row(w, bytes_string("b"), bytes_string("r")));
	calls = 0;
	fail_at = n;
	made = store_create_table(s, bytes_string("a"), false, &f, 1);
	write_set(w, f.name, bytes_string("q"), STORE_NOW, bytes_string("v"));
	happened = calls >= n;
	fail_at = 0;
	/* What the log failed to take leaves it read-only. */
	whole = store_health(s) == 0;
	if (whole) {
		must(store_commit(s, w, true));
		must(store_create_table(s, bytes_string("c"), false, &f, 1));
	}
	write_free(w);
	store_close(s);
	must(store_open_volume(v, &o, &s));
	if (whole && made < 0 && table_id(s, "a"))
		problem = "a table is there that could not be made";
	else if (table_id(s, "a") && table_id(s, "a") == table_id(s, "c"))
		problem = "two tables have one id";
	else if (!has_times(s))
		problem = "a cell without its time was written";
	must(store_close(s));
	count("change", n, false, problem);
	return happened;
}

/* Adds one to a sum and another number to a sketch, as one commit. */
static int add_both(struct store *s, struct write *w, int64_t number)
{
	int err = write_row(w, bytes_string("t"), bytes_string("r"));

	if (!err)
		err = write_add(w, bytes_string("sum"), BYTES_NONE, 1000, 1);
	if (!err)
		err = write_add(w, bytes_string("hll"), BYTES_NONE, 1000,
				number);
	if (!err)
		return store_commit(s, w, false);
	write_reset(w);
	return err;
}

/* The number that a column's newest version shows. */
static int64_t shown(struct store *s, const char *family)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int64_t number;

	must(store_get(s, NULL, bytes_string("t"), bytes_string("r"),
		       bytes_string(family), BYTES_NONE, &cell, &memory));
	number = aggregate_number(cell.aggregate, cell.value);
	buf_release(&memory);
	return number;
}

/* Additions so many that a memtable joins them: one that lacks memory is left
 * out, and the others count. */
static bool run_counter(unsigned long n)
{
	struct family_spec families[] = {
		{ .name = BYTES_LITERAL("sum"), .type = FAMILY_INTSUM },
		{ .name = BYTES_LITERAL("hll"), .type = FAMILY_INTHLL },
	};
	long before = live;
	struct store_options o;
	const char *problem = "";
	struct volume *v;
	struct store *s;
	struct write *w;
	int64_t i, added = 0;
	bool happened;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	must(volume_mem_new(&v));
	must(store_open_volume(v, &o, &s));
	must(store_create_table(s, bytes_string("t"), false, families, 2));
	must(write_new(s, &w));
	must(add_both(s, w, 0));
	calls = 0;
	fail_at = n;
	fail_forever = false;
	for (i = 1; i < 60; i++)
		added += add_both(s, w, i) == 0;
	happened = calls >= n;
	fail_at = 0;
	/* What the log failed to take leaves it read-only. */
	if (store_health(s) == 0 && added < 58)
		problem = "more than one addition failed";
	else if (shown(s, "sum") != added + 1 || shown(s, "hll") != added + 1)
		problem = "an addition counts twice, or not";
	write_free(w);
	store_close(s);
	if (live != before)
		problem = "memory was leaked";
	count("counter", n, false, problem);
	return happened;
}

static unsigned int told;

static void count_told(void *context, const char *text)
{
	(void)context;
	(void)text;
	told++;
}

/* The same of the repair of v. *lost is what one without a failure, n 0, tells
 * of and lacks. */
static bool run_repair(struct volume *v, unsigned long n, bool forever,
		       unsigned int *lost)
{
	struct repair_result result;
	struct volume *from, *to;
	const char *problem = NULL;
	unsigned int missing, back;
	long before = live;
	bool happened;
	int err;

	if (volume_mem_kill_clone(v, &from) < 0 || volume_mem_new(&to) < 0)
		abort();
	volume_mem_keep(to);
	calls = 0;
	fail_at = n;
	fail_forever = forever;
	told = 0;
	err = store_repair_volume(from, to, count_told, NULL, &result);
	happened = calls >= n;
	fail_at = 0;
	if (volume_mem_open_count(from) + volume_mem_open_count(to) > 0)
		problem = "something of a volume was not closed";
	from->ops->close(from);
	if (err < 0) {
		to->ops->close(to);
		if (err != -ENOMEM)
			problem = err_text(err);
	} else if (!problem) {
		problem = ruin_look_at(to, &missing, &back);
		if (n == 0)
			*lost = told + missing + back;
		else if (!problem && *lost != told + missing + back)
			problem = "it had an effect, and succeeded";
	}
	if (!problem && live != before)
		problem = "memory was leaked";
	count("repair", n, forever, problem ? problem : "");
	return happened;
}

static void sweep_repair(bool manifest, unsigned long stride, unsigned long n)
{
	struct volume *v = ruin_build();
	unsigned int lost;
	bool more = true;

	ruin_harm(v, manifest);
	run_repair(v, 0, false, &lost);
	for (; more; n += stride) {
		more = run_repair(v, n, false, &lost);
		more |= run_repair(v, n, true, &lost);
	}
	printf("%lu allocations in one repair\n", n);
	v->ops->close(v);
}

static int count_line(void *context, const char *text)
{
	*(uint64_t *)context += strlen(text);
	return 0;
}

/* The same of the inspection of a store: it tells what it tells without a
 * failure, n 0, or fails. */
static bool run_inspect(const char *path, unsigned long n, bool forever,
			uint64_t *want)
{
	uint64_t size = 0, problem_count;
	const struct inspect_options options = { .count = 2,
						 .entries = true,
						 .quote = quote_go,
						 .line = count_line,
						 .context = &size };
	const char *problem = NULL;
	long before = live;
	bool happened;
	int err;

	calls = 0;
	fail_at = n;
	fail_forever = forever;
	err = store_inspect(path, &options, &problem_count);
	happened = calls >= n;
	fail_at = 0;
	if (n == 0)
		*want = size;
	if (err < 0 && err != -ENOMEM)
		problem = err_text(err);
	else if (err == 0 && size != *want)
		problem = "it had an effect, and succeeded";
	if (!problem && live != before)
		problem = "memory was leaked";
	count("inspection", n, forever, problem ? problem : "");
	return happened;
}

static void sweep_inspect(const char *path, unsigned long stride,
			  unsigned long n)
{
	uint64_t want;
	bool more = true;

	run_inspect(path, 0, false, &want);
	for (; more; n += stride) {
		more = run_inspect(path, n, false, &want);
		more |= run_inspect(path, n, true, &want);
	}
	printf("%lu allocations in one inspection\n", n);
}

int main(int argc, char **argv)
{
	unsigned long stride = argc > 1 ? strtoul(argv[1], NULL, 0) : 3;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	unsigned long first = n;
	bool more = true;

	/* What standard output needs is allocated first. */
	printf("every %lu. allocation\n", stride);
	for (; more && stride > 0; n += stride) {
		more = run(n, false);
		more |= run(n, true);
	}
	printf("%lu allocations in one run\n", n);
	for (n = first; stride > 0 && run_on(n); n++)
		;
	for (n = first; stride > 0 && run_counter(n); n++)
		;
	if (stride > 0) {
		sweep_repair(false, stride, first);
		sweep_repair(true, stride, first);
		sweep_inspect("tests/golden/v1/store", stride, first);
	}
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
