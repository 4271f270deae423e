/*
 * A directory, a listing of snapshots of it, and a reader who goes back to
 * offsets that it was given: nothing that stays is left out, an offset is that
 * of one name for ever, and while there are few names it is exact.
 */
#include <stdio.h>

#include "fs/state/marks.h"
#include "tests/sim/rng.h"
#include "tests/unit/suite.h"

#define NAMES 40000
/* Ordinals that a test may use. */
#define ORDINALS 2000000
/* Every so many names one stays. */
#define STAYS 5

static bool now[NAMES];      /* the directory */
static bool snapshot[NAMES]; /* as the listing has it */
static int given[ORDINALS];  /* ordinal to name, less 1 */
static int count;            /* of names, those that are there or not */
static int position;         /* the listing's next name, unless it is absent */
static bool is_placed;
static size_t thin; /* bytes of marks that are left now and then; 0: all */
static struct marks marks;
static struct rng rng;

static struct bytes place_of(int name)
{
	static char text[64];

	/* Some are the beginnings of others. */
	return bytes_of(text, (size_t)snprintf(text, sizeof(text), "name%06d%s",
					       name / 2,
					       name % 2 ? "-and more" : ""));
}

static void begin(int names, uint64_t seed)
{
	int i;

	rng = (struct rng){ seed };
	count = names;
	for (i = 0; i < count; i++)
		now[i] = snapshot[i] = i % STAYS == 0 || rng_one_in(&rng, 2);
	memset(given, 0, sizeof(given));
	position = 0;
	is_placed = true;
	ck_assert_int_eq(marks_begin(&marks), 0);
}

static void change(void)
{
	int i, most = rng_below(&rng, 2) ? count : 20;

	for (i = 0; i < most; i++) {
		int name = (int)rng_below(&rng, (uint32_t)count);

		if (name % STAYS != 0)
			now[name] = !now[name];
	}
}

static void resume(void)
{
	memcpy(snapshot, now, sizeof(now));
	marks_renew(&marks);
	is_placed = false;
}

/* The next name of the snapshot at or behind a place; -1: none. */
static int next_name(struct bytes from)
{
	for (; position < count; position++)
		if (snapshot[position] &&
		    bytes_compare(place_of(position), from) >= 0)
			return position++;
	return -1;
}

static void give(int name)
{
	uint64_t ordinal = marks.next;

	/* Check's own assertions write a file each time. */
	if (ordinal >= ORDINALS || marks_count(&marks, place_of(name)) ||
	    (given[ordinal] > 0 && given[ordinal] != name + 1))
		ck_abort_msg("ordinal %d is of two names", (int)ordinal);
	given[ordinal] = name + 1;
}

/* A way that is not gone to its end, as what it reads is no more. */
static void fail_on(const struct marks_way *way)
{
	uint32_t steps = rng_below(&rng, 5);
	int name;

	for (; steps > 0; steps--) {
		name = next_name(way->from);
		if (name < 0 || bytes_compare(place_of(name), way->until) >= 0)
			break;
		give(name);
	}
	is_placed = false;
	if (rng_below(&rng, 2))
		resume();
}

/* The next name from an ordinal on, as dir.c does it; -1: the end. */
static int seek(uint64_t ordinal)
{
	struct marks_way way;
	int name;

	ck_assert_int_eq(marks_seek(&marks, ordinal, &way), 0);
	if (!is_placed || !way.is_ahead || rng_below(&rng, 2))
		position = 0;
	is_placed = true;
	if (way.by_place && rng_one_in(&rng, 4)) {
		fail_on(&way);
		return seek(ordinal);
	}
	while (way.by_place || marks.next < ordinal) {
		name = next_name(way.from);
		if (name < 0)
			return -1;
		give(name);
		if (way.by_place &&
		    bytes_compare(place_of(name), way.until) >= 0)
			return name;
	}
	name = next_name(way.from);
	if (name >= 0)
		give(name);
	return name;
}

static int next(void)
{
	int name;

	if (!is_placed || marks_ended(&marks))
		return seek(marks.next);
	name = next_name(BYTES_NONE);
	if (name >= 0)
		give(name);
	return name;
}

/* Between these names there is none that stays. */
static void check_none(int before, int name)
{
	int end = name < 0 ? count : name, i;

	for (i = before + 1; i < end; i++)
		if (i % STAYS == 0)
			ck_abort_msg("%d is left out, behind %d", i, before);
}

/* A reader's steps; is_exact: so few that no offset is forgotten. Names that
 * came again are counted. */
static int run(int steps, bool is_exact)
{
	int last = -1, again = 0, i, reads, name;
	uint32_t used = 0, back;

	for (i = 0; i < steps; i++) {
		for (reads = (int)rng_below(&rng, 300); reads > 0; reads--) {
			name = next();
			if (name >= 0 && name <= last)
				ck_abort_msg("%d again", name);
			check_none(last, name);
			if (name < 0)
				break;
			last = name;
			used = (uint32_t)marks.fresh;
		}
		if (rng_one_in(&rng, 3))
			change();
		if (rng_one_in(&rng, 4))
			resume();
		if (thin > 0 && rng_one_in(&rng, 5)) {
			ck_assert_int_eq(marks_thin(&marks, thin), 0);
			ck_assert_uint_le(marks.data.size, thin);
			resume();
		}
		if (rng_below(&rng, 2) || used == 0)
			continue;
		do
			back = rng_below(&rng, used) + 1;
		while (given[back - 1] == 0);
		last = given[back - 1] - 1;
		name = seek(back);
		check_none(last, name);
		if (name >= 0 && name <= last) {
			ck_assert(!is_exact);
			again++;
		}
		if (name >= 0)
			last = name;
		else
			last = count;
		used = (uint32_t)marks.fresh;
	}
	ck_assert_uint_le(marks.data.size, MARKS_SIZE_MAX);
	return again;
}

START_TEST(offsets_of_a_small_directory_are_exact)
{
	begin(300, (uint64_t)_i + 1);
	run(60, true);
	marks_release(&marks);
	marks = (struct marks){ .next = 0 };
}
END_TEST

START_TEST(offsets_of_a_large_one_leave_out_nothing)
{
	begin(NAMES, (uint64_t)_i + 1);
	run(300, false);
	marks_release(&marks);
	marks = (struct marks){ .next = 0 };
}
END_TEST

START_TEST(thin_marks_leave_out_nothing)
{
	thin = 128;
	begin(300, (uint64_t)_i + 1);
	run(60, false);
	begin(NAMES, (uint64_t)_i + 1);
	run(60, false);
	marks_release(&marks);
	marks = (struct marks){ .next = 0 };
	thin = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("marks");
	TCase *tcase = tcase_create("marks");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 600);
	tcase_add_loop_test(tcase, offsets_of_a_small_directory_are_exact, 0,
			    30);
	tcase_add_loop_test(tcase, thin_marks_leave_out_nothing, 0, 5);
	tcase_add_loop_test(tcase, offsets_of_a_large_one_leave_out_nothing, 0,
			    2);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
