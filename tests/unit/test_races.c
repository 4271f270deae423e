#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "store/engine/run/backup.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/rng.h"
#include "tests/unit/suite.h"

/*
 * Bulk loads, large values, compactions and backups at once, in a directory
 * whose calls pause as a seed says (RACES_SEED), so that what lies between two
 * of them is met. Made for the thread sanitizer; without it, a backup that
 * lacks something is found by opening it.
 */
#define ROWS 16
#define ROUNDS 60
#define BACKUPS 6

static char directory[64];
static struct store *store;
static struct volume_ops slow;
static const struct volume_ops *fast;
static _Atomic uint64_t turn;
static _Atomic unsigned int writing;
static _Atomic int problems;
static uint64_t seed = 1;

/* One call in four waits for up to 2 ms. */
static void pause_by_seed(void)
{
	struct rng rng = { seed * 1000003 + turn++ };

	if (rng_one_in(&rng, 4))
		usleep(rng_below(&rng, 2000));
}

static int slow_segment_create(struct volume *v, const char *name,
			       struct segment_writer **out)
{
	pause_by_seed();
	return fast->segment_create(v, name, out);
}

static int slow_log_create(struct volume *v, const char *name, struct log **out)
{
	int err;

	pause_by_seed();
	err = fast->log_create(v, name, out);
	if (err == 0)
		(*out)->ops = &slow;
	return err;
}

static int slow_log_append(struct log *l, struct bytes data)
{
	int err = fast->log_append(l, data);

	pause_by_seed();
	return err;
}

static int slow_open(struct volume *v, const char *name, struct reader **out)
{
	pause_by_seed();
	return fast->open(v, name, out);
}

static int slow_remove(struct volume *v, const char *name)
{
	pause_by_seed();
	return fast->remove(v, name);
}

static int slow_link(struct volume *v, const char *name, struct volume *to)
{
	pause_by_seed();
	return fast->link(v, name, to);
}

static void problem(const char *what)
{
	fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)seed, what,
		err_detail());
	problems++;
}

static void small_options(struct store_options *o)
{
	store_options_init(o);
	o->gap_steps = 1;
	o->create = true;
	o->memtable_size = 16 << 10;
	o->file_size = 8 << 10;
	o->cache_size = 64 << 10;
	o->sync_interval_ms = 5;
	o->blob_threshold = 200;
	o->blob_chunk_size = 128;
	o->blob_file_size = 4 << 10;
}

static void set_up(void)
{
	struct family_spec families[] = { { .name = BYTES_LITERAL("f0") },
					  { .name = BYTES_LITERAL("f1") },
					  { .name = BYTES_LITERAL("f2") } };
	struct store_options o;
	struct volume *v;

	if (getenv("RACES_SEED"))
		seed = strtoull(getenv("RACES_SEED"), NULL, 0);
	strcpy(directory, "/tmp/test-races-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(volume_posix_open(directory, true, &v), 0);
	fast = v->ops;
	slow = *fast;
	slow.segment_create = slow_segment_create;
	slow.log_create = slow_log_create;
	slow.log_append = slow_log_append;
	slow.open = slow_open;
	slow.remove = slow_remove;
	slow.link = slow_link;
	v->ops = &slow;
	small_options(&o);
	ck_assert_int_eq(store_open_volume(v, &o, &store), 0);
	ck_assert_int_eq(store_create_table(store, bytes_string("t"), false,
					    families, 3),
			 0);
	problems = 0;
}

static void tear_down(void)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -rf %s %s-backup", directory,
		 directory);
	ck_assert_int_eq(system(command), 0);
}

/* Sets all rows of the family to the number, in values of size bytes. */
static int collect(struct write *w, const char *family, uint64_t number,
		   size_t size)
{
	uint8_t value[700] = { 0 };
	char row[16];
	unsigned int i;
	int err = 0;

	put_u64le(value, number);
	for (i = 0; i < ROWS && err == 0; i++) {
		snprintf(row, sizeof(row), "row%02u", i);
		err = write_row(w, bytes_string("t"), bytes_string(row));
		if (err == 0)
			err = write_set(w, bytes_string(family),
					bytes_string("q"), 1,
					bytes_of(value, size));
	}
	return err;
}

/* Large values, again and again, of one cell each. */
static void *write_large(void *context)
{
	struct write *w;
	uint64_t number;

	if (write_new(store, &w) < 0)
		problem("write_new");
	for (number = 1; number <= ROUNDS && !problems; number++)
		if (collect(w, context, number, 700) < 0 ||
		    store_commit(store, w, number % 8 == 0) < 0)
			problem("commit");
	write_free(w);
	writing--;
	return NULL;
}

/* Loads of the same rows, of small values and of large ones. */
static void *load(void *context)
{
	struct bulk_load *l;
	struct write *w;
	uint64_t number;

	if (write_new(store, &w) < 0)
		problem("write_new");
	for (number = 1; number <= ROUNDS && !problems; number++) {
		if (store_bulk_begin(store, &l) < 0)
			problem("begin");
		if (collect(w, context, number, number % 2 ? 150 : 600) < 0 ||
		    store_bulk_add(l, w) != 1 || store_bulk_publish(l) < 0)
			problem("load");
		store_bulk_free(l);
	}
	write_free(w);
	writing--;
	return NULL;
}

/* Every family has the same number in all rows. */
static void look(struct store *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	uint64_t numbers[3] = { 0 }, number;
	struct scan *scan;
	struct cell cell;
	unsigned int family;
	int found = scan_open(s, NULL, &range, &scan);

	if (found < 0) {
		problem("scan");
		return;
	}
	while ((found = scan_next(scan, CURSOR_COLUMN, &cell)) == 1) {
		family = cell.family.data[1] - '0';
		number = get_u64le(cell.value.data);
		if (numbers[family] && numbers[family] != number)
			problem("a commit was seen in part");
		numbers[family] = number;
	}
	scan_close(scan);
	if (found < 0)
		problem("scan");
}

static void tell(void *context, const char *what)
{
	(void)context;
	fprintf(stderr, "check: %s\n", what);
}

/* A backup is whole, whatever is under way. */
static void back_up(void)
{
	struct engine_source own;
	struct backup_source from = engine_source(store_engine(store), &own);
	struct backup_result result;
	struct store_options o;
	struct store *copy;
	struct volume *to;
	char name[80], command[100];

	snprintf(name, sizeof(name), "%s-backup", directory);
	snprintf(command, sizeof(command), "rm -rf %s", name);
	if (volume_posix_open(name, true, &to) < 0 ||
	    backup_bring(&from, NULL, to, &result) < 0) {
		problem("backup");
		return;
	}
	to->ops->close(to);
	small_options(&o);
	o.background = false;
	if (store_open(name, &o, &copy) < 0) {
		problem("the backup does not open");
		return;
	}
	if (store_check(copy, tell, NULL) < 0)
		problem("the backup is not whole");
	look(copy);
	if (store_close(copy) < 0 || system(command) != 0)
		problem("close");
}

static void run(void)
{
	static char families[3][3] = { "f0", "f1", "f2" };
	pthread_t threads[3];
	unsigned int i;

	writing = 3;
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
						i ? load : write_large,
						families[i]),
				 0);
	for (i = 0; i < BACKUPS && !problems; i++)
		back_up();
	while (writing > 0 && !problems)
		look(store);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(problems, 0);
	look(store);
	ck_assert_int_eq(store_check(store, tell, NULL), 0);
	ck_assert_int_eq(problems, 0);
	ck_assert_int_eq(store_close(store), 0);
}

START_TEST(loads_large_values_and_backups)
{
	run();
}
END_TEST

/* By other pauses. */
START_TEST(loads_large_values_and_backups_again)
{
	seed += 1000;
	run();
}
END_TEST

int main(void)
{
	const TTest *tests[] = { loads_large_values_and_backups,
				 loads_large_values_and_backups_again };

	return run_suite("races", set_up, tear_down, tests, 2);
}
