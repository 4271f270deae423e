#include <stdio.h>

#include "store/engine/run/step.h"
#include "tests/unit/history_store.h"

/* Large values of what is purged are in no blob file, while others that lie
 * beside them stay, also those of the past. */

#define MARK "quxlargequx"
#define SIZE (100 << 10)

static struct volume *volume;

static void set_up_kept(void)
{
	set_up();
	volume = store_volume(store);
	volume_mem_keep(volume);
}

static void tear_down_kept(void)
{
	tear_down();
	volume->ops->close(volume);
}

/* Such as no compression makes smaller. */
static void fill_value(uint8_t *value, const char *mark, unsigned int seed)
{
	size_t i;

	for (i = 0; i < SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		value[i] = (uint8_t)(seed >> 24);
	}
	memcpy(value, mark, strlen(mark));
	memcpy(value + SIZE / 2, mark, strlen(mark));
}

static void put_large(const char *row, const char *mark, unsigned int seed)
{
	static uint8_t value[SIZE];
	struct write *w;

	fill_value(value, mark, seed);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"),
				   seed * 1000, bytes_of(value, SIZE)),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* That the row's newest value at a time, 0: now, is that of seed. */
static void check_large(const char *row, uint64_t time_us, unsigned int seed)
{
	static uint8_t want[SIZE];
	struct scan_range one = { .table = bytes_string("t"),
				  .row = bytes_string(row) };
	struct snapshot *moment = NULL;
	struct buf value = BUF_INIT;
	struct scan *scan;
	struct cell cell;

	fill_value(want, "other", seed);
	if (time_us > 0)
		ck_assert_int_eq(store_moment(store, time_us, &moment), 0);
	ck_assert_int_eq(scan_open(store, moment, &one, &scan), 0);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	ck_assert_int_eq(scan_load(scan, &cell, &value), 0);
	ck_assert(bytes_equal(buf_bytes(&value), bytes_of(want, SIZE)));
	buf_release(&value);
	scan_close(scan);
	store_snapshot_release(store, moment);
}

static int search_file(void *context, const char *name)
{
	struct bytes content = volume_mem_file(volume, name);
	unsigned int *found = context;

	*found += content.size > 0 && memmem(content.data, content.size, MARK,
					     strlen(MARK)) != NULL;
	return 0;
}

static unsigned int found(void)
{
	unsigned int count = 0;

	ck_assert_int_eq(volume->ops->list(volume, search_file, &count), 0);
	return count;
}

static int purge(const char *row, struct purge_result *r)
{
	const struct purge_span span = { bytes_string(row),
					 bytes_of(row, strlen(row) + 1) };

	return store_purge(store, bytes_string("t"), &span, 1, 0, r);
}

START_TEST(what_lies_beside_stays)
{
	struct purge_result r;
	uint64_t first, second;

	put_large("a", "other", 1);
	put_large("secret", MARK, 2);
	first = tick();
	settle();
	put_large("a", "other", 3);
	put_large("secret", MARK, 4);
	second = tick();
	settle();
	delete_row("secret");
	tick();
	settle();
	ck_assert_uint_gt(found(), 0);
	ck_assert_int_eq(purge("secret", &r), 0);
	ck_assert_uint_gt(r.blob_files, 0);
	ck_assert_uint_eq(found(), 0);
	check_large("a", first, 1);
	check_large("a", second, 3);
	check_large("a", 0, 3);
}
END_TEST

/* Nobody knows whose garbage was: all of it goes. */
START_TEST(garbage_goes)
{
	struct purge_result r;
	unsigned int i;

	ck_assert_int_eq(store_set_history(store, 0, 0), 0);
	for (i = 0; i < 40; i++) {
		char row[8];

		snprintf(row, sizeof(row), "r%u", i);
		put_large(row, "other", i + 10);
	}
	put_large("secret", MARK, 2);
	settle();
	delete_row("secret");
	settle();
	ck_assert_uint_eq(found(), 1);
	ck_assert_int_eq(purge("secret", &r), 0);
	ck_assert_uint_eq(found(), 0);
	for (i = 0; i < 40; i++) {
		char row[8];

		snprintf(row, sizeof(row), "r%u", i);
		check_large(row, 0, i + 10);
	}
	/* What has none stays where it is. */
	ck_assert_int_eq(purge("secret", &r), 0);
	ck_assert_uint_eq(r.blob_files, 0);
}
END_TEST

/* Who has a value open could write it again, from the file where it lies. */
START_TEST(an_open_value_is_told)
{
	struct scan_range one = { .table = bytes_string("t"),
				  .row = BYTES_LITERAL("a"),
				  .keep_large = true };
	struct purge_result r;
	struct large *large;
	struct scan *scan;
	struct cell cell;

	put_large("a", "other", 1);
	put_large("secret", MARK, 2);
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	ck_assert_int_eq(scan_open(store, NULL, &one, &scan), 0);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	ck_assert_int_eq(scan_open_large(scan, &cell, &large), 0);
	scan_close(scan);
	ck_assert_int_eq(purge("secret", &r), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err_detail(), "large values"));
	large_put(large);
	ck_assert_int_eq(purge("secret", &r), 0);
	ck_assert_uint_eq(found(), 0);
	check_large("a", 0, 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_lies_beside_stays,
		garbage_goes,
		an_open_value_is_told,
	};

	return run_suite("purge_large", set_up_kept, tear_down_kept, tests,
			 sizeof(tests) / sizeof(*tests));
}
