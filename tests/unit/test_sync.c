#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "store/base/err.h"
#include "store/store.h"
#include "tests/unit/volume_directory.h"

/*
 * Syncs of a log that fail while several threads wait for them. The kernel
 * tells of what it could not write once, to one caller, and forgets it: every
 * other call says that all is well.
 */
enum { THREADS = 6 };

static atomic_bool fails;        /* the next one is told of a failure */
static atomic_uint inside, most; /* calls under way; at once */
static atomic_uint acknowledged;

/* In place of the C library's. Who is told waits a while for a second caller,
 * who is not. */
int fdatasync(int fd)
{
	unsigned int now = atomic_fetch_add(&inside, 1) + 1, i;
	bool told = atomic_exchange(&fails, false);

	if (now > atomic_load(&most))
		atomic_store(&most, now);
	for (i = 0; told && i < 300 && atomic_load(&inside) < 2; i++)
		usleep(1000);
	if (!told)
		syscall(SYS_fdatasync, fd);
	atomic_fetch_sub(&inside, 1);
	errno = EIO;
	return told ? -1 : 0;
}

static void begin(void)
{
	atomic_store(&acknowledged, 0);
	atomic_store(&most, 0);
	atomic_store(&fails, true);
}

static void in_threads(void *(*run)(void *context), void *context)
{
	pthread_t threads[THREADS];
	int i;

	begin();
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, run, context), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert(!atomic_load(&fails));
}

static void *sync_log(void *log)
{
	struct log *l = log;

	if (l->ops->log_sync(l) == 0)
		atomic_fetch_add(&acknowledged, 1);
	return NULL;
}

START_TEST(nobody_is_told_that_a_lost_log_is_durable)
{
	struct volume *v = open_volume();
	struct log *l;

	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("lost")), 0);
	in_threads(sync_log, l);
	ck_assert_uint_eq(atomic_load(&acknowledged), 0);
	ck_assert_uint_eq(atomic_load(&most), 1);
	ck_assert_int_eq(v->ops->log_sync(l), -EIO);
	v->ops->log_close(l);
	v->ops->close(v);
}
END_TEST

static struct store *open_store(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct store_options o;
	struct store *s;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	ck_assert_int_eq(store_open(directory, &o, &s), 0);
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, &family, 1),
		0);
	return s;
}

static int put(struct store *s, bool sync)
{
	struct write *w;
	int err = write_new(s, &w);

	ck_assert_int_eq(err, 0);
	err = write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("row"));
	if (err == 0)
		err = write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1000,
				BYTES_LITERAL("v"));
	if (err == 0)
		err = store_commit(s, w, sync);
	write_free(w);
	return err;
}

static void *commit(void *s)
{
	if (put(s, true) == 0)
		atomic_fetch_add(&acknowledged, 1);
	return NULL;
}

START_TEST(nobody_is_told_that_a_lost_commit_is_durable)
{
	struct store *s = open_store();

	in_threads(commit, s);
	ck_assert_uint_eq(atomic_load(&acknowledged), 0);
	ck_assert_int_eq(put(s, false), -ERR_store_readonly);
	ck_assert_int_lt(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		nobody_is_told_that_a_lost_log_is_durable,
		nobody_is_told_that_a_lost_commit_is_durable,
	};

	return run_suite("sync", set_up, tear_down, tests, 2);
}
