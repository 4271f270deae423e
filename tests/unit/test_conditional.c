#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "store/bulk_load.h"
#include "store/model/model.h"
#include "store/store.h"
#include "store/text/filter/filter_text.h"
#include "store/text/json/json_mutation.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

/* Updates whose conditions take long: who else writes, and what then holds. */
enum { CELLS = 4000 };

static struct store *s;

/* Holds if the row has the column "z", which it comes to at last. */
#define HAS_Z                                                           \
	"interleave(column_qualifier_regex('z'), chain(interleave("     \
	"pass_all, pass_all, pass_all, pass_all, pass_all, pass_all, "  \
	"pass_all, pass_all, pass_all, pass_all, pass_all, pass_all, "  \
	"pass_all, pass_all, pass_all, pass_all, pass_all, pass_all, "  \
	"pass_all, pass_all, pass_all, pass_all, pass_all, pass_all, "  \
	"pass_all, pass_all, pass_all, pass_all, pass_all, pass_all), " \
	"value_range(>= 'x')))"

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static int create(void)
{
	struct family_spec family = { .name = str("f") };

	return store_create_table(s, str("t"), false, &family, 1);
}

/* What makes asking about a row long. */
static void add_cells(struct write *w)
{
	char name[16];
	int i;

	for (i = 0; i < CELLS; i++) {
		snprintf(name, sizeof(name), "c%04d", i);
		ck_assert_int_eq(write_set(w, str("f"), str(name), 1, str("v")),
				 0);
	}
}

static void setup(void)
{
	struct store_options options;
	struct write *w;

	set_up();
	mem_store_options(&options);
	ck_assert_int_eq(store_open(directory, &options, &s), 0);
	ck_assert_int_eq(create(), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	add_cells(w);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
	tear_down();
}

static int set_mark(void *context, struct write *w)
{
	(void)context;
	return write_set(w, str("f"), str("mark"), 1, str("v"));
}

static bool has(const char *row, const char *qualifier)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int found = store_get(s, NULL, str("t"), str(row), str("f"),
			      str(qualifier), &cell, &memory);

	ck_assert_int_ge(found, 0);
	buf_release(&memory);
	return found;
}

/* What others do while the condition is asked and nobody waits, as long as they
 * have not changed the row: first before it begins, and then within. */
static void (*meanwhile)(unsigned int time);
static unsigned int times, locked;

static bool stop(void *context)
{
	ck_assert_ptr_eq(context, &times);
	if (pthread_mutex_trylock(&s->writing) != 0) {
		locked++;
		return false;
	}
	pthread_mutex_unlock(&s->writing);
	if (s->guards.first && !s->guards.first->changed)
		meanwhile(++times);
	return false;
}

/* Whether the filter was found to hold; mark is set if it was not. */
static bool check(const char *filter)
{
	bool matched;
	struct row_check c = { .table = str("t"),
			       .row = str("r"),
			       .if_false = set_mark,
			       .stop = stop,
			       .context = &times };

	times = locked = 0;
	ck_assert_int_eq(filter_parse(str(filter), &c.filter), 0);
	ck_assert_int_eq(store_check_and_mutate(s, &c, false, &matched), 0);
	filter_free(c.filter);
	ck_assert_ptr_null(s->guards.first);
	return matched;
}

static void set(const char *row, const char *qualifier)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
	ck_assert_int_eq(write_set(w, str("f"), str(qualifier), 1, str("v")),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void write_others(unsigned int time)
{
	struct write *w;

	(void)time;
	set("q", "z");
	set("r2", "z");
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_delete_range(w, str("t"), str("q"), str("r")),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* What others write to other rows, and delete before this one, is no reason to
 * ask once more; and they write while it is asked. */
START_TEST(others_go_on)
{
	meanwhile = write_others;
	ck_assert(!check(HAS_Z));
	ck_assert_uint_gt(times, 1);
	ck_assert_uint_lt(locked, times);
	ck_assert(has("r", "mark") && has("r2", "z") && !has("q", "z"));
}
END_TEST

static void set_z(unsigned int time)
{
	if (time == 2)
		set("r", "z");
}

static void delete_row(unsigned int time)
{
	struct write *w;

	if (time != 2)
		return;
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void delete_range(unsigned int time)
{
	struct write *w;

	if (time != 2)
		return;
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_delete_range(w, str("t"), str("a"), BYTES_NONE),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void make_anew(unsigned int time)
{
	if (time != 2)
		return;
	ck_assert_int_eq(store_drop_table(s, str("t"), false), 0);
	ck_assert_int_eq(create(), 0);
}

static void load_z(unsigned int time)
{
	struct bulk_load *load;
	struct write *w;

	if (time != 2)
		return;
	ck_assert_int_eq(store_bulk_begin(s, &load), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("z"), 1, str("v")), 0);
	ck_assert_int_eq(store_bulk_add(load, w), 1);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	store_bulk_free(load);
	write_free(w);
}

static void keep_one(unsigned int time)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);

	if (time == 2)
		ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), one), 0);
	gc_policy_free(one);
}

/* The answer is that of the commit, whatever has been done to the row since it
 * was asked first. */
START_TEST(a_change_is_noticed)
{
	meanwhile = set_z;
	ck_assert(check(HAS_Z));
	meanwhile = delete_row;
	ck_assert(!check(HAS_Z));
	ck_assert(has("r", "mark"));
	teardown();
	setup();
	set("r", "z");
	meanwhile = delete_range;
	ck_assert(!check(HAS_Z));
	teardown();
	setup();
	set("r", "z");
	meanwhile = make_anew;
	ck_assert(!check(HAS_Z));
	teardown();
	setup();
	meanwhile = load_z;
	ck_assert(check(HAS_Z));
	meanwhile = keep_one;
	ck_assert(check(HAS_Z));
}
END_TEST

static void change(unsigned int time)
{
	if (time % 2 == 0)
		set("r", time == 6 ? "z" : "c0000");
}

/* Where they keep changing it, it is asked with them waiting, and comes to an
 * end. */
START_TEST(what_keeps_changing_is_decided)
{
	meanwhile = change;
	ck_assert(check(HAS_Z));
	ck_assert_uint_eq(times, 6);
	ck_assert_uint_gt(locked, 4);
}
END_TEST

/* The same of JSON. */
START_TEST(json_waits_for_nobody)
{
	static const char line[] =
		"{\"if\": {\"filter\": \"" HAS_Z
		"\"}, \"delete\": true, \"else\": {\"set\": {\"f\": "
		"{\"mark\": \"v\"}}}}";
	struct json_result result = { .matched = true };

	ck_assert_int_eq(mutation_run_json(s, str("t"), str("r"), str(line),
					   false, &result),
			 0);
	ck_assert(!result.matched && has("r", "mark"));
	set("r", "z");
	ck_assert_int_eq(mutation_run_json(s, str("t"), str("r"), str(line),
					   false, &result),
			 0);
	ck_assert(result.matched && !has("r", "z") && !has("r", "mark"));
	json_result_release(&result);
}
END_TEST

/* A lock: whoever finds no z sets it. What is done under it is done by one. */
enum { THREADS = 4, ROUNDS = 25 };

static atomic_uint holders;
static unsigned int held; /* protected by z */
static atomic_uint awaited;

static int set_z_in(void *context, struct write *w)
{
	(void)context;
	return write_set(w, str("f"), str("z"), 1, str("v"));
}

/* Gives z back in some way, and has the row as long as it was. */
static void unlock(unsigned int how)
{
	struct write *w;

	if (how % 5 == 0) {
		ck_assert_int_eq(store_drop_table(s, str("t"), false), 0);
		ck_assert_int_eq(create(), 0);
		return;
	}
	ck_assert_int_eq(write_new(s, &w), 0);
	if (how % 5 == 1)
		ck_assert_int_eq(
			write_delete_range(w, str("t"), str("a"), BYTES_NONE),
			0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	if (how % 5 == 2)
		ck_assert_int_eq(write_delete_row(w), 0);
	else
		ck_assert_int_eq(write_delete_column(w, str("f"), str("z")), 0);
	add_cells(w);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void *take_turns(void *context)
{
	struct row_check c = { .table = str("t"),
			       .row = str("r"),
			       .if_false = set_z_in };
	unsigned int got = 0;
	bool matched;
	int err;

	ck_assert_int_eq(filter_parse(str(HAS_Z), &c.filter), 0);
	while (got < ROUNDS) {
		err = store_check_and_mutate(s, &c, false, &matched);
		ck_assert(err == 0 || err == -ERR_no_table ||
			  err == -ERR_no_family);
		if (err < 0 || matched) {
			awaited++;
			continue;
		}
		ck_assert_uint_eq(holders++, 0);
		got++;
		held++;
		ck_assert_uint_eq(holders--, 1);
		unlock(held);
	}
	filter_free(c.filter);
	return context;
}

START_TEST(a_row_is_a_lock)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, take_turns, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(held, THREADS * ROUNDS);
	ck_assert_uint_gt(awaited, 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { others_go_on, a_change_is_noticed,
				 what_keeps_changing_is_decided,
				 json_waits_for_nobody, a_row_is_a_lock };

	return run_suite("conditional", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
