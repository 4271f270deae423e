#include <stdio.h>
#include <stdlib.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/operations.h"
#include "tests/sim/volume_mem.h"

/*
 * Each operation of tests/sim/operations.c, with a fault in it:
 *
 *   errors   each call that it makes of the volume fails, with EIO or ENOSPC,
 *            once or with all that come after it
 *   crashes  the power is cut, or the process killed, before and after each
 *            change that it makes to the volume, so also between the log and
 *            what follows, and each that storing it makes afterwards
 *   batches  another change in the same batch is refused
 *
 * The store, as it goes on and as it is opened again, must then hold what it
 * held before or what it holds after the operation, and nothing else: after it,
 * if it was acknowledged, and before it, if its batch was refused.
 *
 *   main_operations [-cuts N] [-only NAME]
 */
struct test {
	const struct operation *operation;
	struct buf before, after;
	bool acknowledged;
	unsigned int cuts; /* at each change to the volume */
	struct rng rng;
	unsigned long point;
	unsigned long passed, failed, errors, crashes;
};

static void require(int err, const char *what)
{
	if (err < 0) {
		fprintf(stderr, "%s: %s: %s\n", what, err_text(err),
			err_detail());
		abort();
	}
}

static void complain(struct test *t, const char *where, const char *what,
		     const struct buf *got)
{
	t->failed++;
	printf("%s: %s, %lu: %s\n", t->operation->name, where, t->point, what);
	if (got)
		printf("before:\n%.*safter:\n%.*sgot:\n%.*s",
		       (int)t->before.size, (char *)t->before.data,
		       (int)t->after.size, (char *)t->after.data,
		       (int)got->size, (char *)got->data);
}

static bool same(const struct buf *a, const struct buf *b)
{
	return bytes_equal(buf_bytes(a), buf_bytes(b));
}

/* Whether s holds one of the two states, that after it if it must. */
static void judge(struct test *t, struct store *s, const char *where)
{
	struct buf got = BUF_INIT;
	int err = operations_dump(s, &got);

	if (err < 0)
		complain(t, where, err_detail(), NULL);
	else if (same(&got, &t->after) ||
		 (!t->acknowledged && same(&got, &t->before)))
		t->passed++;
	else
		complain(t, where, "neither before nor after it", &got);
	buf_release(&got);
}

/* Opens what a fault has left, and ends it. */
static void look(struct test *t, struct volume *v, const char *where)
{
	struct store *s;
	int err = operations_open(v, &s);

	if (err < 0) {
		complain(t, where, err_detail(), NULL);
		return;
	}
	judge(t, s, where);
	if (store_close(s) < 0)
		complain(t, where, "cannot be closed", NULL);
}

/* A prepared store on a volume of its own, which is kept. */
static struct store *prepared(struct volume **v)
{
	struct store *s;

	require(volume_mem_new(v), "volume");
	volume_mem_keep(*v);
	require(operations_open(*v, &s), "open");
	require(operations_prepare(s), "prepare");
	return s;
}

/* What there is before and after it, if nothing fails. */
static void learn(struct test *t)
{
	struct volume *v;
	struct store *s = prepared(&v);

	buf_reset(&t->before);
	buf_reset(&t->after);
	require(operations_dump(s, &t->before), "dump");
	require(operation_run(t->operation, s), t->operation->name);
	require(operations_dump(s, &t->after), "dump");
	require(store_close(s), "close");
	t->acknowledged = true;
	if (same(&t->before, &t->after))
		complain(t, "alone", "does nothing", NULL);
	look(t, v, "alone");
}

/* Its n-th call of the volume fails; false if there is none. */
static bool run_error(struct test *t, int error, bool forever)
{
	struct volume *v, *cut;
	struct store *s = prepared(&v);
	bool happened;

	volume_mem_fail(v, t->point, error, forever, t->point);
	t->acknowledged = operation_run(t->operation, s) == 0;
	happened = volume_mem_failed(v);
	volume_mem_fail(v, 0, 0, false, 0);
	judge(t, s, "an error, going on");
	require(volume_mem_crash_clone(v, &t->rng, &cut), "clone");
	look(t, cut, "an error and a power cut");
	(void)store_close(s);
	look(t, v, "an error, opened again");
	t->errors += happened;
	return happened;
}

static void sweep_errors(struct test *t)
{
	bool more = true;

	for (t->point = 1; more; t->point++) {
		more = run_error(t, EIO, false);
		more |= run_error(t, EIO, true);
		more |= run_error(t, ENOSPC, false);
		more |= run_error(t, ENOSPC, true);
	}
}

static void cut(void *context, struct volume *v)
{
	struct test *t = context;
	struct volume *clone;
	unsigned int i;

	t->point++;
	for (i = 0; i <= t->cuts; i++) {
		int err = i ? volume_mem_crash_clone(v, &t->rng, &clone)
			    : volume_mem_kill_clone(v, &clone);

		require(err, "clone");
		look(t, clone, i ? "a power cut" : "a kill");
		t->crashes++;
	}
}

static void run_crashes(struct test *t)
{
	struct volume *v;
	struct store *s = prepared(&v);

	t->point = 0;
	t->acknowledged = false;
	volume_mem_hook(v, cut, t);
	require(operation_run(t->operation, s), t->operation->name);
	t->acknowledged = true;
	require(engine_flush(store_engine(s)), "flush");
	require(store_compact(s, BYTES_NONE), "compact");
	require(store_close(s), "close");
	volume_mem_hook(v, NULL, NULL);
	look(t, v, "after all");
}

/* The batch is refused; only the family that doomed it has gone. */
static void run_wrong(struct test *t)
{
	struct volume *v;
	struct store *s = prepared(&v);
	int err;

	t->point = 0;
	if (t->operation->add) {
		require(store_drop_family(s, BYTES_LITERAL("t"),
					  BYTES_LITERAL("doomed")),
			"drop family");
		buf_reset(&t->before);
		require(operations_dump(s, &t->before), "dump");
		require(store_create_family(
				s, BYTES_LITERAL("t"),
				&(struct family_spec){
					.name = BYTES_LITERAL("doomed") }),
			"create family");
	}
	/* Nothing but what there was is right. */
	require(buf_set(&t->after, buf_bytes(&t->before)), "copy");
	err = operation_run_wrong(t->operation, s);
	if (err != (t->operation->add ? -ERR_no_family : -ECANCELED))
		complain(t, "a wrong batch", "is not refused", NULL);
	judge(t, s, "a wrong batch");
	require(store_close(s), "close");
	look(t, v, "a wrong batch, opened again");
}

int main(int argc, char **argv)
{
	struct test t = { .cuts = 4, .rng = { 1 } };
	const char *only = NULL;
	size_t i;
	int k;

	for (k = 1; k + 1 < argc; k += 2) {
		if (strcmp(argv[k], "-cuts") == 0)
			t.cuts = (unsigned int)strtoul(argv[k + 1], NULL, 0);
		else if (strcmp(argv[k], "-only") == 0)
			only = argv[k + 1];
	}
	for (i = 0; i < operation_count; i++) {
		t.operation = &operations[i];
		if (only && strcmp(only, t.operation->name) != 0)
			continue;
		learn(&t);
		sweep_errors(&t);
		run_crashes(&t);
		if (!t.operation->call)
			run_wrong(&t);
	}
	buf_release(&t.before);
	buf_release(&t.after);
	printf("%zu operations, %lu calls failed, %lu crashes\n",
	       operation_count, t.errors, t.crashes);
	printf("%lu passed, %lu failed, 0 skipped\n", t.passed, t.failed);
	return t.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
