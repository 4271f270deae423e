#include <ctype.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/trouble.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/step.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * What a store tells of its life in the event log. Each line is checked to be
 * one: a time that never goes back, a word, pairs.
 */
static struct volume *volume;
static struct store *store;
static struct store_options options;
static uint64_t now_us;

/* Each look at the clock takes a while, so that spans are seen. */
static uint64_t test_now(void *context)
{
	(void)context;
	return now_us += 10;
}

static const struct clock test_clock = { test_now, NULL };

/* The volume outlives it. */
static void open_store(void)
{
	volume_mem_keep(volume);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
}

static void set_up(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	now_us = UINT64_C(1767607872131415);
	small_store_options(&options);
	options.clock = &test_clock;
	options.events = EVENTS_ALL;
	options.holder = "the test";
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	open_store();
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
	volume->ops->close(volume);
}

/* Of the log, and the line that was found last. */
static struct bytes rest;
static char line[2000], before[28];

static void check_pairs(const char *at)
{
	bool last = false;

	while (*at && !last) {
		ck_assert_msg(at[0] == ' ' && islower(at[1]), "%s", line);
		last = strncmp(at, " why=", 5) == 0 ||
		       strncmp(at, " by=", 4) == 0;
		at++;
		while (islower(*at) || isdigit(*at) || *at == '_')
			at++;
		ck_assert_msg(*at == '=', "%s", line);
		at += strcspn(at, " ");
	}
}

/* Makes line the next one: its word, NULL at the end. */
static const char *next_line(void)
{
	static char word[32];
	const char *end = rest.size ? memchr(rest.data, '\n', rest.size) : NULL;
	int at = 0, size;

	if (!end)
		return NULL;
	size = (int)(end - (const char *)rest.data);
	ck_assert_int_lt(size, (int)sizeof(line));
	snprintf(line, sizeof(line), "%.*s", size, (const char *)rest.data);
	rest = bytes_after(rest, (size_t)size + 1);
	ck_assert_msg(sscanf(line,
			     "%*4d-%*2d-%*2dT%*2d:%*2d:%*2d.%*6dZ "
			     "%31[a-z_0-9]%n",
			     word, &at) == 1,
		      "%s", line);
	ck_assert_int_ge(strncmp(line, before, 27), 0);
	snprintf(before, sizeof(before), "%.27s", line);
	check_pairs(line + at);
	return word;
}

/* The log from its start on. */
static void rewind_log(void)
{
	store_write_events(store);
	rest = volume_mem_file(volume, VOLUME_NOTES);
	before[0] = 0;
}

/* The next line with this word, passing over others. */
static void find(const char *word)
{
	const char *found;

	do {
		found = next_line();
		ck_assert_msg(found, "there is no line %s", word);
	} while (strcmp(found, word) != 0);
}

static unsigned long long pair(const char *name)
{
	char start[40];
	const char *at;

	snprintf(start, sizeof(start), " %s=", name);
	at = strstr(line, start);
	ck_assert_msg(at, "%s has no %s", line, name);
	return strtoull(at + strlen(start), NULL, 10);
}

static void check_has(const char *text)
{
	ck_assert_msg(strstr(line, text), "%s has no %s", line, text);
}

/* How often the word is in the log. */
static unsigned int count(const char *word)
{
	const char *found;
	unsigned int n = 0;

	rewind_log();
	while ((found = next_line()))
		n += strcmp(found, word) == 0;
	return n;
}

static void put(unsigned int row, size_t size)
{
	static uint8_t data[10000];
	char key[20];
	struct write *w;
	size_t i;

	for (i = 0; i < size; i++)
		data[i] = (uint8_t)((i * 2654435761u + row * 40503u) >> 13);
	snprintf(key, sizeof(key), "row%06u", row);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(key)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), 1,
				   bytes_of(data, size)),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

START_TEST(a_life_is_told)
{
	unsigned int i;

	for (i = 0; i < 400; i++)
		put(i, 400);
	put(1, 3000);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	put(1, 400);
	put(2, 400);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	ck_assert_int_eq(store_close(store), 0);
	open_store();

	rewind_log();
	ck_assert_str_eq(next_line(), "opened");
	check_has(" format=2 epoch=1 ");
	check_has(" by=\"the test\"");
	ck_assert_uint_eq(pair("ssts"), 0);
	ck_assert_uint_eq(pair("memtable"), 64 << 10);
	ck_assert_str_eq(next_line(), "schema");
	check_has(" change=table_made table=t ");
	find("rotated");
	find("flushed");
	ck_assert_uint_gt(pair("memtable_bytes"), 40000);
	ck_assert_uint_gt(pair("entries"), 50);
	ck_assert_uint_gt(pair("bytes"), 10000);
	ck_assert_uint_gt(pair("us"), 0);
	find("blob_finished");
	find("compacted");
	check_has(" due=asked level=0 ");
	find("compacted");
	ck_assert_uint_gt(pair("entries_in"), pair("entries_out"));
	ck_assert_uint_eq(pair("dropped"),
			  pair("entries_in") - pair("entries_out"));
	find("removed");
	find("blob_dropped");
	find("schema");
	check_has(" change=table_dropped table=t ");
	find("closed");
	check_has(" err=0 ");
	find("replayed");
	check_has(" closed=1 ");
	find("opened");
	check_has(" epoch=2 ");
	ck_assert_uint_gt(pair("ssts"), 0);
	while (next_line())
		;
	ck_assert_uint_eq(rest.size, 0);
}
END_TEST

START_TEST(changes_of_the_schema_are_told)
{
	struct family_spec family = { .name = BYTES_LITERAL("g") };
	struct bytes t = bytes_string("t"), u = bytes_string("u");
	struct gc_policy *policy = gc_policy_leaf(GC_MAX_VERSIONS, 3);

	ck_assert_int_eq(store_create_family(store, t, &family), 0);
	ck_assert_int_eq(store_set_gc(store, t, family.name, policy), 0);
	ck_assert_int_eq(store_set_type(store, t, family.name, FAMILY_INTSUM),
			 0);
	ck_assert_int_eq(store_rename_table(store, t, u), 0);
	ck_assert_int_eq(store_set_granularity(store, u, true), 0);
	ck_assert_int_eq(store_drop_family(store, u, family.name), 0);
	gc_policy_free(policy);
	rewind_log();
	find("schema");
	find("schema");
	check_has(" change=family_made table=t table_id=1 family=g");
	find("schema");
	check_has(" change=policy table=t table_id=1 family=g");
	find("schema");
	check_has(" change=type table=t table_id=1 family=g");
	find("schema");
	check_has(" change=table_renamed table=u table_id=1 from=t");
	find("schema");
	check_has(" change=granularity table=u table_id=1");
	find("schema");
	check_has(" change=family_dropped table=u table_id=1 family=g");
	ck_assert_uint_eq(count("schema"), 7);
}
END_TEST

/* The background, in the thread of who wakes it: when so many memtables wait
 * that writers do, it works the fourth time that it is asked to: for a flush,
 * twice to prepare the end of a memtable that is nearly full, and for one that
 * is. */
static void wake(void *context)
{
	static unsigned int calls;
	struct engine *e = context;

	if (e->immutable_count > IMMUTABLES_WAITING && ++calls % 4 == 0)
		ck_assert_int_ge(engine_step(e), 0);
}

START_TEST(who_waits_for_a_flush_tells_it)
{
	unsigned int i;

	engine_on_work(store->engine, wake, store->engine);
	for (i = 0; i < 1000; i++)
		put(i, 400);
	engine_on_work(store->engine, NULL, NULL);
	rewind_log();
	find("stall");
	check_has(" for=memtables memtables=2 ");
	find("flushed");
	find("stall_over");
	check_has(" for=memtables ");
	ck_assert_uint_gt(pair("us"), 0);
	ck_assert_uint_eq(count("stall"), count("stall_over"));
}
END_TEST

/* Whatever made it slow: here, a clock that goes on. */
static void jump(void *context, struct volume *v)
{
	(void)context;
	(void)v;
	now_us += 200000;
}

START_TEST(what_is_slow_is_told)
{
	put(1, 100);
	ck_assert_uint_eq(count("slow_commit"), 0);
	ck_assert_uint_eq(count("slow_sync"), 0);
	volume_mem_hook(volume, jump, NULL);
	put(2, 100);
	ck_assert_int_eq(store_sync(store), 0);
	volume_mem_hook(volume, NULL, NULL);
	rewind_log();
	find("slow_commit");
	ck_assert_uint_eq(pair("changes"), 1);
	ck_assert_uint_ge(pair("us"), 200000);
	find("slow_sync");
	store_tell_request(store, "flush", 99999, &thread_cost);
	store_tell_request(store, "flush", 100000, &thread_cost);
	rewind_log();
	find("slow_request");
	check_has(" request=flush us=100000");
}
END_TEST

START_TEST(a_full_disk_is_told_once)
{
	struct engine *e = store->engine;

	volume_mem_available(volume, 0);
	volume_mem_fill(volume, 1, 1);
	ck_assert_int_eq(engine_hold_room(e, 10 << 20), -ENOSPC);
	ck_assert_int_eq(engine_hold_room(e, 10 << 20), -ENOSPC);
	engine_work_failed(e, fail(ENOSPC, "the disk\nis full"));
	engine_work_failed(e, fail(ENOSPC, "the disk\nis full"));
	engine_work_done(e);
	volume_mem_fill(volume, 0, 0);
	volume_mem_available(volume, 1 << 29);
	ck_assert_int_eq(engine_hold_room(e, 0), 0);
	rewind_log();
	find("room_lost");
	find("trouble");
	check_has(" why=\"the disk\\x0ais full: No space left on device\"");
	find("trouble_over");
	find("room_held");
	ck_assert_uint_eq(count("room_lost"), 1);
	ck_assert_uint_eq(count("trouble"), 1);
}
END_TEST

START_TEST(read_only_is_told_once)
{
	engine_poison(store->engine, fail(EIO, "sync failed"));
	engine_poison(store->engine, fail(EIO, "another"));
	rewind_log();
	find("read_only");
	check_has(" why=\"sync failed: Input/output error\"");
	ck_assert_uint_eq(count("read_only"), 1);
	ck_assert_int_eq(store_close(store), -ERR_store_readonly);
	volume->ops->close(volume);
	set_up();
}
END_TEST

START_TEST(the_level_can_be_set)
{
	ck_assert_int_eq(store_event_level(store), EVENTS_ALL);
	store_set_event_level(store, EVENTS_ERRORS);
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	store_set_event_level(store, EVENTS_OFF);
	ck_assert_uint_eq(count("schema"), 1);
	ck_assert_uint_eq(count("log"), 2);
	ck_assert_int_eq(
		event_level_parse(bytes_string("more"), &options.events),
		-ERR_bad_argument);
	ck_assert_int_eq(
		event_level_parse(bytes_string("errors"), &options.events), 0);
	ck_assert_str_eq(event_level_word(options.events), "errors");
}
END_TEST

/* Nothing but the lines is missing. */
START_TEST(no_log_is_no_hindrance)
{
	unsigned int i;

	volume_mem_fill_suffix(volume, VOLUME_NOTES);
	for (i = 0; i < 400; i++)
		put(i, 400);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_int_eq(store_close(store), 0);
	open_store();
	ck_assert_str_eq(store_recovery_text(store), "");
	volume_mem_fill_suffix(volume, NULL);
	put(1, 400);
	ck_assert_int_eq(store_close(store), 0);
	open_store();
	rewind_log();
	find("lost");
	ck_assert_uint_ge(pair("lines"), 1);
	find("closed");
}
END_TEST

START_TEST(who_reads_tells_nothing)
{
	size_t size;

	ck_assert_int_eq(store_close(store), 0);
	size = volume_mem_file(volume, VOLUME_NOTES).size;
	ck_assert_uint_gt(size, 0);
	options.read_only = true;
	open_store();
	store_set_event_level(store, EVENTS_ALL);
	ck_assert_int_eq(store_check_events(store), 0);
	ck_assert_int_eq(store_close(store), 0);
	ck_assert_uint_eq(volume_mem_file(volume, VOLUME_NOTES).size, size);
	options.read_only = false;
	open_store();
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_life_is_told,
		changes_of_the_schema_are_told,
		who_waits_for_a_flush_tells_it,
		what_is_slow_is_told,
		a_full_disk_is_told_once,
		read_only_is_told_once,
		the_level_can_be_set,
		no_log_is_no_hindrance,
		who_reads_tells_nothing,
	};

	return run_suite("events", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
