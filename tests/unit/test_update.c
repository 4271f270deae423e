#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "store/base/coding.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/regex.h"
#include "store/store.h"
#include "store/text/filter/filter_text.h"
#include "store/text/json/json_mutation.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Updates: what they read, what they write, and that they do it at once. */
static struct store *s;
static _Atomic uint64_t now_us;

static uint64_t test_now(void *context)
{
	(void)context;
	return now_us++;
}

static const struct clock test_clock = { test_now, NULL };

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static void setup(void)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct family_spec families[] = { { .name = str("f") },
					  { .name = str("one"), .gc = one } };
	struct store_options options;

	now_us = 1000000000;
	mem_store_options(&options);
	options.clock = &test_clock;
	s = mem_store(&options);
	ck_assert_int_eq(store_create_table(s, str("t"), false, families, 2),
			 0);
	gc_policy_free(one);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

/* Runs what an update decides, as a list of steps. */
struct step {
	char what; /* s set, a append, d delete column, v delete version, r row,
		      f fail */
	const char *qualifier;
	uint64_t timestamp;
	const char *value;
	const char *result; /* of an append */
};

static const struct step *script;
static const char *script_family;

static int play(void *context, struct write *w)
{
	const struct step *step;
	struct bytes family = str(script_family);
	struct cell cell;
	int err = write_row(w, str("t"), str("r"));

	(void)context;
	for (step = script; step->what && err == 0; step++) {
		struct bytes qualifier = str(step->qualifier);

		switch (step->what) {
		case 's':
			err = write_set(w, family, qualifier, step->timestamp,
					str(step->value));
			break;
		case 'a':
			err = write_append(w, family, qualifier,
					   str(step->value), &cell);
			if (err == 0)
				ck_assert(bytes_equal(cell.value,
						      str(step->result)));
			break;
		case 'd':
			err = write_delete_column(w, family, qualifier);
			break;
		case 'v':
			err = write_delete_cells(w, family, qualifier,
						 step->timestamp,
						 step->timestamp + 1);
			break;
		case 'r':
			err = write_delete_row(w);
			break;
		default:
			return fail(ERR_bad_argument, "wanted");
		}
	}
	return err;
}

static int update(const char *family, const struct step *steps)
{
	script = steps;
	script_family = family;
	return store_update(s, play, NULL, false);
}

static void expect(const char *family, const char *qualifier, const char *value)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int err = store_get(s, NULL, str("t"), str("r"), str(family),
			    str(qualifier), &cell, &memory);

	ck_assert_int_eq(err, value != NULL);
	if (value)
		ck_assert(bytes_equal(cell.value, str(value)));
	buf_release(&memory);
}

START_TEST(sees_what_it_wrote)
{
	static const struct step steps[] = {
		{ 'a', "q", 0, "a", "a" },
		{ 's', "q", 50, "old", NULL },
		{ 'a', "q", 0, "b", "ab" },
		{ 'd', "q", 0, NULL, NULL },
		{ 'a', "q", 0, "c", "c" },
		{ 'r', "q", 0, NULL, NULL },
		{ 's', "p", 5, "five", NULL },
		{ 'a', "p", 0, "!", "five!" },
		{ 0 },
	};
	static const struct step more[] = { { 'a', "p", 0, "?", "five!?" },
					    { 0 } };

	ck_assert_int_eq(update("f", steps), 0);
	expect("f", "q", NULL);
	expect("f", "p", "five!");
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(update("f", more), 0);
	expect("f", "p", "five!?");
}
END_TEST

START_TEST(failure_leaves_nothing)
{
	static const struct step steps[] = { { 'a', "q", 0, "a", "a" },
					     { 'f', "q", 0, NULL, NULL },
					     { 0 } };
	static const struct step unknown[] = { { 'a', "q", 0, "a", "a" },
					       { 0 } };

	ck_assert_int_eq(update("f", steps), -ERR_bad_argument);
	ck_assert_int_eq(update("nofam", unknown), -ERR_no_family);
	ck_assert_int_eq(store_row_exists(s, str("t"), str("r")), 0);
	ck_assert_int_eq(store_row_exists(s, str("t"), str("")), 0);
	ck_assert_int_eq(store_row_exists(s, str("nt"), str("")),
			 -ERR_no_table);
}
END_TEST

/* A version that max versions hides is not read, even if the one before it goes
 * within the same update. */
START_TEST(hidden_stays_hidden)
{
	static const struct step first[] = { { 's', "q", 100, "hidden", NULL },
					     { 0 } };
	static const struct step second[] = { { 's', "q", 200, "seen", NULL },
					      { 0 } };
	static const struct step third[] = {
		{ 's', "p", 7, "x", NULL },    { 'a', "p", 0, "y", "xy" },
		{ 'v', "q", 200, NULL, NULL }, { 'a', "q", 0, "new", "new" },
		{ 'a', "p", 0, "z", "xyz" },   { 0 }
	};

	ck_assert_int_eq(update("one", first), 0);
	ck_assert_int_eq(update("one", second), 0);
	ck_assert_int_eq(update("one", third), 0);
	expect("one", "q", "new");
	expect("one", "p", "xyz");
}
END_TEST

/* A version that is too old to be seen adds nothing, whether or not it is still
 * there. */
START_TEST(expired_stays_expired)
{
	static const struct step first[] = { { 's', "q", 100, "expired", NULL },
					     { 0 } };
	static const struct step second[] = { { 'a', "q", 0, "new", "new" },
					      { 0 } };
	struct gc_policy *young = gc_policy_leaf(GC_MAX_AGE, 1000000);
	struct family_spec family = { .name = str("young"), .gc = young };

	ck_assert_int_eq(store_create_family(s, str("t"), &family), 0);
	gc_policy_free(young);
	ck_assert_int_eq(update("young", first), 0);
	ck_assert_int_eq(update("young", second), 0);
	expect("young", "q", "new");
}
END_TEST

/* Time goes on while a policy is changed; read in the middle of that. */
static bool was_there, was_gone;

static void read_midway(void *context, struct volume *v)
{
	struct buf memory = BUF_INIT;
	struct cell cell;

	(void)context;
	(void)v;
	now_us += 1000000;
	if (store_get(s, NULL, str("t"), str("r"), str("young"), str("q"),
		      &cell, &memory) == 1)
		was_there = true;
	else
		was_gone = true;
	buf_release(&memory);
}

/* A cell that a reader has seen expire is not there again. */
START_TEST(nothing_comes_back_under_a_new_policy)
{
	const struct step set[] = { { 's', "q", now_us, "v", NULL }, { 0 } };
	struct gc_policy *young = gc_policy_leaf(GC_MAX_AGE, 1000000);
	struct family_spec family = { .name = str("young"), .gc = young };
	struct volume *volume = s->volume;

	ck_assert_int_eq(store_create_family(s, str("t"), &family), 0);
	gc_policy_free(young);
	ck_assert_int_eq(update("young", set), 0);
	volume_mem_hook(volume, read_midway, NULL);
	ck_assert_int_eq(store_set_gc(s, str("t"), str("young"), NULL), 0);
	volume_mem_hook(volume, NULL, NULL);
	ck_assert(was_there || was_gone);
	expect("young", "q", was_gone ? NULL : "v");
}
END_TEST

static int many(void *context, struct write *w)
{
	struct cell cell;
	int i, err = write_row(w, str("t"), str("r"));

	for (i = 0; i < 20000 && err == 0; i++)
		err = write_increment(w, str("f"), str("n"), i, &cell);
	*(uint64_t *)context = get_u64be(cell.value.data);
	return err;
}

/* More than one overlay holds, so that it is made anew now and then. */
START_TEST(many_increments)
{
	uint64_t sum = 0;

	ck_assert_int_eq(store_update(s, many, &sum, false), 0);
	ck_assert_uint_eq(sum, 20000 * 19999 / 2);
}
END_TEST

static uint8_t three_mib[3 << 20];

static int grow_large(void *context, struct write *w)
{
	struct large *large = NULL;
	struct cell cell;
	int i, err = write_row(w, str("t"), str("r"));

	(void)context;
	for (i = 0; i < 20 && err == 0; i++) {
		large_put(large);
		err = write_append_large(w, str("f"), str("large"), str("."),
					 &cell, &large);
		ck_assert_uint_eq(large_size(large),
				  sizeof(three_mib) + 1 + (uint64_t)i);
		ck_assert_uint_eq(cell.value.size, 0);
	}
	large_put(large);
	if (err == 0)
		ck_assert_int_eq(
			write_increment(w, str("f"), str("large"), 1, NULL),
			-ERR_not_a_number);
	if (err == 0)
		err = write_append(w, str("f"), str("large"), str("!"), &cell);
	ck_assert_uint_eq(cell.value.size, sizeof(three_mib) + 21);
	ck_assert_mem_eq(cell.value.data, three_mib, sizeof(three_mib));
	ck_assert_mem_eq(cell.value.data + sizeof(three_mib),
			 "....................!", 21);
	return err;
}

/* What is appended to a large value is written, and no more of it. */
START_TEST(large_values_are_borrowed)
{
	struct store_stats before, after;
	struct write *w;
	size_t i;

	for (i = 0; i < sizeof(three_mib); i++)
		three_mib[i] = (uint8_t)(i * i * 2654435761 >> 13);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("large"), 1,
				   bytes_of(three_mib, sizeof(three_mib))),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	store_stats(s, &before);
	ck_assert_uint_gt(before.blob_size, 1 << 20);
	ck_assert_int_eq(store_update(s, grow_large, NULL, false), 0);
	store_stats(s, &after);
	ck_assert_uint_lt(after.blob_size - before.blob_size, 10000);
}
END_TEST

static void *increments(void *context)
{
	struct modify_rule rule = { .family = str("f"),
				    .qualifier = str("n"),
				    .is_increment = true,
				    .amount = 1 };
	struct buf memory = BUF_INIT;
	struct cell cell;
	int i;

	for (i = 0; i < 500; i++)
		ck_assert_int_eq(store_modify(s, str("t"), str("r"), &rule, 1,
					      false, &cell, &memory),
				 1);
	buf_release(&memory);
	return context;
}

START_TEST(threads_lose_nothing)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	pthread_t threads[4];
	size_t i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, increments, NULL), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(store_get(s, NULL, str("t"), str("r"), str("f"),
				   str("n"), &cell, &memory),
			 1);
	ck_assert_uint_eq(get_u64be(cell.value.data), 2000);
	buf_release(&memory);
}
END_TEST

/* Outside of an update there is nothing to modify by. */
START_TEST(refused_outside)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_append(w, str("f"), str("q"), str("a"), NULL),
			 -ERR_bad_argument);
	write_free(w);
}
END_TEST

static unsigned int stops, stops_at_most;

static bool stop(void *context)
{
	ck_assert_ptr_eq(context, &stops);
	return ++stops > stops_at_most;
}

static int set_it(void *context, struct write *w)
{
	ck_assert_ptr_eq(context, &stops);
	return write_set(w, str("f"), str("set"), 1, str("v"));
}

/* Many columns in the row. */
static void fill_row(size_t count)
{
	struct write *w;
	char name[32];
	size_t i;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "q%06zu", i);
		ck_assert_int_eq(write_set(w, str("f"), str(name), 1, str("v")),
				 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* Thousand copies of a cell, each through so many parts that let it pass, and
 * the last that does not. */
static const char *copies(size_t parts)
{
	static struct buf text;
	size_t i;

	buf_reset(&text);
	for (i = 0; i < 70; i++)
		buf_printf(&text, "%s%s",
			   i == 0    ? "chain(interleave("
			   : i == 20 ? "), interleave("
				     : ", ",
			   "pass_all");
	buf_printf(&text, ")");
	for (i = 0; i < parts; i++)
		buf_printf(&text, ", value_range(>= 'a')");
	buf_printf(&text, ", value_range(>= 'z'))");
	ck_assert_int_eq(buf_terminate(&text), 0);
	return (const char *)text.data;
}

/* What a check with that filter comes to; at_most: how often stop says no. */
static int check(const char *filter, unsigned int at_most, bool *matched)
{
	struct row_check c = { .table = str("t"),
			       .row = str("r"),
			       .if_true = set_it,
			       .if_false = set_it,
			       .stop = stop,
			       .context = &stops };
	int err;

	ck_assert_int_eq(filter_parse(str(filter), &c.filter), 0);
	stops = 0;
	stops_at_most = at_most;
	err = store_check_and_mutate(s, &c, false, matched);
	filter_free(c.filter);
	return err;
}

/* A condition ends when nobody waits for it any more, be it about many cells or
 * about many copies of one, and whether it looks at them or steps over them. */
START_TEST(a_condition_can_be_stopped)
{
	bool matched;

	fill_row(1);
	ck_assert_int_eq(check("value_range(>= 'a')", 0, &matched), -EINTR);
	ck_assert_int_eq(check(copies(900), 4, &matched), -EINTR);
	ck_assert_uint_eq(stops, 5);
	fill_row(20000);
	ck_assert_int_eq(check("value_range(>= 'z')", 8, &matched), -EINTR);
	ck_assert_int_eq(check("value_regex('a+z')", 8, &matched), -EINTR);
	ck_assert_int_eq(check("chain(value_range(>= 'z'), "
			       "interleave(pass_all, strip_value))",
			       8, &matched),
			 -EINTR);
	ck_assert_int_eq(check("condition(value_range(>= 'z'), pass_all, "
			       "block_all)",
			       8, &matched),
			 -EINTR);
	ck_assert_int_eq(check("timestamp_range(5)", 8, &matched), -EINTR);
	expect("f", "set", NULL);
}
END_TEST

/* One that many writers would wait for is refused, also one of JSON; a plain
 * one of a long row is none. */
START_TEST(a_condition_has_a_second)
{
	static const char *const plain[] = {
		"value_range(>= 'z')",
		"column_range('f', >= 'z')",
		"cells_per_row_offset(100000)",
	};
	struct buf line = BUF_INIT;
	bool matched = true;
	size_t i;

	fill_row(20000);
	ck_assert_int_eq(check(copies(300), UINT_MAX, &matched),
			 -ERR_bad_argument);
	ck_assert_ptr_nonnull(strstr(err_detail(), "condition takes longer"));
	buf_printf(&line, "{\"if\": {\"filter\": \"%s\"}, \"delete\": true}",
		   copies(300));
	ck_assert_int_eq(mutation_run_json(s, str("t"), str("r"),
					   buf_bytes(&line), false, NULL),
			 -ERR_bad_argument);
	ck_assert_ptr_nonnull(strstr(err_detail(), "condition takes longer"));
	buf_release(&line);
	expect("f", "set", NULL);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(check(plain[i], UINT_MAX, &matched), 0);
		ck_assert(!matched);
	}
	expect("f", "set", "v");
}
END_TEST

int main(void)
{
	const TTest *tests[] = { sees_what_it_wrote,
				 failure_leaves_nothing,
				 hidden_stays_hidden,
				 expired_stays_expired,
				 nothing_comes_back_under_a_new_policy,
				 many_increments,
				 large_values_are_borrowed,
				 threads_lose_nothing,
				 refused_outside,
				 a_condition_can_be_stopped,
				 a_condition_has_a_second };

	return run_suite("update", setup, teardown, tests, 11);
}
