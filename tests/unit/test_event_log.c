#include <unistd.h>

#include "store/base/err.h"
#include "store/engine/core/event_log.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* Lines and what becomes of them, on a volume in memory. */
static struct volume *volume;
static struct event_log events;
static uint64_t now_us;

static uint64_t test_now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { test_now, NULL };

static void set_up(void)
{
	now_us = UINT64_C(1767607872131415); /* 2026-01-05T10:11:12.131415Z */
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(volume->ops->lease_take(volume, "", NULL, NULL), 0);
	events = (struct event_log){ .volume = NULL };
	ck_assert_int_eq(event_log_init(&events, volume, &test_clock, true, -1),
			 0);
}

static void tear_down(void)
{
	event_log_release(&events);
	volume->ops->close(volume);
}

static void check_log(const char *want)
{
	struct bytes log = volume_mem_file(volume, VOLUME_NOTES);

	ck_assert_uint_eq(log.size, strlen(want));
	ck_assert(bytes_equal(log, bytes_string(want)));
}

START_TEST(an_event_is_a_line)
{
	event_add(&events, EVENTS_MAIN, "rotated log=%s us=%d", "x", 5);
	now_us += 1000000 - 131415;
	event_add(&events, EVENTS_ERRORS, "trouble why=%s", "a b");
	check_log("");
	ck_assert_int_eq(event_log_write(&events), 0);
	check_log("2026-01-05T10:11:12.131415Z rotated log=x us=5\n"
		  "2026-01-05T10:11:13.000000Z trouble why=\"a b\"\n");
	/* Once. */
	ck_assert_int_eq(event_log_write(&events), 0);
	ck_assert_uint_eq(volume_mem_file(volume, VOLUME_NOTES).size, 93);
}
END_TEST

START_TEST(no_value_ends_a_line_or_steers_a_terminal)
{
	event_add(&events, EVENTS_MAIN, "x why=%s", "a\nb\x1b[1m");
	ck_assert_int_eq(event_log_write(&events), 0);
	check_log("2026-01-05T10:11:12.131415Z x why=\"a\\x0ab\\x1b[1m\"\n");
}
END_TEST

START_TEST(the_last_value_is_quoted)
{
	event_add(&events, EVENTS_MAIN, "opened us=%d by=%s", 5, "a \"b\\");
	event_add(&events, EVENTS_MAIN, "full why=%s", "no by=x");
	ck_assert_int_eq(event_log_write(&events), 0);
	check_log("2026-01-05T10:11:12.131415Z opened us=5 by=\"a \\\"b\\\\\"\n"
		  "2026-01-05T10:11:12.131415Z full why=\"no by=x\"\n");
}
END_TEST

/* Who does not read holds nobody up. */
START_TEST(lines_are_copied_with_their_level)
{
	char text[200];
	int ends[2], i;

	ck_assert_int_eq(pipe(ends), 0);
	events.copy_fd = ends[1];
	atomic_store(&events.level, EVENTS_ALL);
	event_add(&events, EVENTS_ERRORS, "a");
	event_add(&events, EVENTS_MAIN, "b");
	event_add(&events, EVENTS_ALL, "c");
	ck_assert_int_eq(event_log_write(&events), 0);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), 3 * 33);
	ck_assert_int_eq(memcmp(text,
				"<3>2026-01-05T10:11:12.131415Z a\n"
				"<6>2026-01-05T10:11:12.131415Z b\n"
				"<7>2026-01-05T10:11:12.131415Z c\n",
				3 * 33),
			 0);
	for (i = 0; i < 3000; i++) {
		event_add(&events, EVENTS_MAIN, "d");
		ck_assert_int_eq(event_log_write(&events), 0);
	}
	ck_assert_uint_eq(volume_mem_file(volume, VOLUME_NOTES).size,
			  3003 * 30);
	close(ends[0]);
	event_add(&events, EVENTS_MAIN, "nobody is there");
	ck_assert_int_eq(event_log_write(&events), 0);
	close(ends[1]);
}
END_TEST

START_TEST(a_long_line_is_cut)
{
	char text[5000];

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	event_add(&events, EVENTS_MAIN, "%s", text);
	ck_assert_int_eq(event_log_write(&events), 0);
	ck_assert_uint_eq(volume_mem_file(volume, VOLUME_NOTES).size,
			  4 * 1000 + 29);
}
END_TEST

START_TEST(the_level_chooses)
{
	atomic_store(&events.level, EVENTS_ERRORS);
	event_add(&events, EVENTS_MAIN, "main");
	event_add(&events, EVENTS_ERRORS, "error");
	atomic_store(&events.level, EVENTS_OFF);
	event_add(&events, EVENTS_ERRORS, "error");
	ck_assert_int_eq(event_log_write(&events), 0);
	check_log("2026-01-05T10:11:12.131415Z error\n");
}
END_TEST

START_TEST(what_a_full_disk_does_not_take_is_counted)
{
	event_add(&events, EVENTS_MAIN, "one");
	event_add(&events, EVENTS_MAIN, "two");
	volume_mem_fill(volume, 1, 1);
	ck_assert_int_eq(event_log_write(&events), -ENOSPC);
	volume_mem_fill(volume, 0, 0);
	event_add(&events, EVENTS_MAIN, "three");
	ck_assert_int_eq(event_log_write(&events), 0);
	check_log("2026-01-05T10:11:12.131415Z lost lines=2\n"
		  "2026-01-05T10:11:12.131415Z three\n");
}
END_TEST

static unsigned int woken;

static void wake(void *context)
{
	(void)context;
	woken++;
}

/* Nobody writes them for a while. */
START_TEST(memory_is_bounded_and_what_has_no_room_is_counted)
{
	unsigned int i;

	events.wake = wake;
	for (i = 0; i < 100000; i++)
		event_add(&events, EVENTS_MAIN, "event number=%u", i);
	ck_assert_uint_gt(woken, 0);
	ck_assert_uint_le(events.pending.capacity, 64 << 10);
	ck_assert_int_eq(event_log_write(&events), 0);
	ck_assert_uint_le(volume_mem_file(volume, VOLUME_NOTES).size, 32 << 10);
	i = (unsigned int)events.lost;
	event_add(&events, EVENTS_MAIN, "last");
	ck_assert_uint_gt(i, 90000);
	ck_assert_uint_lt(i, 100000);
	ck_assert_uint_eq(events.lost, 0);
}
END_TEST

START_TEST(an_error_wants_to_be_written_soon)
{
	events.wake = wake;
	event_add(&events, EVENTS_MAIN, "main");
	ck_assert_uint_eq(woken, 0);
	event_add(&events, EVENTS_ERRORS, "error");
	ck_assert_uint_eq(woken, 1);
}
END_TEST

START_TEST(the_files_are_bounded)
{
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		event_add(&events, EVENTS_MAIN, "event number=%u", i);
		if (i % 100 == 0)
			ck_assert_int_eq(event_log_write(&events), 0);
		ck_assert_uint_le(volume_mem_file(volume, VOLUME_NOTES).size,
				  4 << 20);
	}
	ck_assert_uint_gt(volume_mem_file(volume, VOLUME_NOTES_OLD).size,
			  3 << 20);
	ck_assert_uint_le(volume_mem_file(volume, VOLUME_NOTES_OLD).size,
			  4 << 20);
}
END_TEST

START_TEST(who_only_reads_writes_nothing)
{
	struct event_log none = { .volume = NULL };

	ck_assert_int_eq(event_log_init(&none, volume, &test_clock, false, -1),
			 0);
	event_add(&none, EVENTS_ERRORS, "error");
	ck_assert_int_eq(event_log_write(&none), 0);
	ck_assert_int_eq(event_log_check(&none), 0);
	ck_assert_uint_eq(volume_mem_file(volume, VOLUME_NOTES).size, 0);
	event_log_release(&none);
}
END_TEST

START_TEST(a_clock_that_is_set_back_makes_nothing_long)
{
	uint64_t start = event_now(&events);

	now_us += 70;
	ck_assert_uint_eq(event_since(&events, start), 70);
	now_us -= 100;
	ck_assert_uint_eq(event_since(&events, start), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		an_event_is_a_line,
		no_value_ends_a_line_or_steers_a_terminal,
		the_last_value_is_quoted,
		lines_are_copied_with_their_level,
		a_long_line_is_cut,
		the_level_chooses,
		what_a_full_disk_does_not_take_is_counted,
		memory_is_bounded_and_what_has_no_room_is_counted,
		an_error_wants_to_be_written_soon,
		the_files_are_bounded,
		who_only_reads_writes_nothing,
		a_clock_that_is_set_back_makes_nothing_long,
	};

	return run_suite("event_log", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
