#include <stdio.h>

#include "store/engine/core/state.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/large.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* Large values in a store: what of them is written, shared, kept, collected. */
#define CHUNK 1000u
#define VALUE_SIZE 20500u

static struct volume *volume;
static struct store *store;

static void open_store(struct volume *v)
{
	struct store_options o;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	o.blob_threshold = 500;
	o.blob_chunk_size = CHUNK;
	o.blob_file_size = 8000;
	ck_assert_int_eq(store_open_volume(v, &o, &store), 0);
	volume = v;
}

static void set_up(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct volume *v;

	ck_assert_int_eq(volume_mem_new(&v), 0);
	open_store(v);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* Bytes that LZ4 does not shorten. */
static void fill(uint8_t *data, size_t size, uint32_t state)
{
	size_t i;

	for (i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		data[i] = (uint8_t)(state >> 24);
	}
}

static struct store_stats stats(void)
{
	struct store_stats s;

	store_stats(store, &s);
	return s;
}

/* Commits value, or with large that, as a version of the one column. */
static void put(uint64_t timestamp, struct bytes value, struct large *large)
{
	struct bytes f = bytes_string("f"), q = bytes_string("q");
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("r")), 0);
	ck_assert_int_eq(large ? write_set_large(w, f, q, timestamp, large)
			       : write_set(w, f, q, timestamp, value),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static void delete_row(void)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("r")), 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* The newest version, which is large; to be put. */
static struct large *get_large(void)
{
	struct buf memory = BUF_INIT;
	struct large *large;
	struct cell cell;

	ck_assert_int_eq(store_get_large(store, NULL, bytes_string("t"),
					 bytes_string("r"), bytes_string("f"),
					 bytes_string("q"), &cell, &memory,
					 &large),
			 1);
	ck_assert_ptr_nonnull(large);
	ck_assert_uint_eq(cell.value.size, 0);
	ck_assert_uint_eq(cell_size(&cell), large_size(large));
	buf_release(&memory);
	return large;
}

static void check_large(struct large *large, struct bytes want)
{
	struct buf all = BUF_INIT;
	uint8_t part[300];
	size_t at;

	ck_assert_uint_eq(large_size(large), want.size);
	ck_assert_int_eq(large_load(large, &all), 0);
	ck_assert(bytes_equal(buf_bytes(&all), want));
	for (at = 0; at + sizeof(part) <= want.size; at += 777) {
		ck_assert_int_eq(large_read(large, at, part, sizeof(part)), 0);
		ck_assert_mem_eq(part, want.data + at, sizeof(part));
	}
	buf_release(&all);
}

START_TEST(a_change_writes_its_chunks_alone)
{
	static uint8_t raw[VALUE_SIZE + 10];
	struct large *base, *changed;
	struct large_writer *w;
	struct cell cell;
	struct buf memory = BUF_INIT;
	uint64_t before;
	uint32_t i, put_count = 0;

	fill(raw, sizeof(raw), 1);
	put(1, bytes_of(raw, VALUE_SIZE), NULL);
	base = get_large();
	check_large(base, bytes_of(raw, VALUE_SIZE));
	before = stats().blob_size;
	ck_assert_int_eq(
		large_writer_new(store_engine(store), base, sizeof(raw), &w),
		0);
	raw[3 * CHUNK + 5] ^= 1;
	for (i = 0; i * CHUNK < sizeof(raw); i++) {
		size_t size = sizeof(raw) - i * CHUNK;

		if (large_writer_has(w, i) && i != 3)
			continue;
		put_count++;
		ck_assert_int_eq(
			large_writer_put(w, i,
					 bytes_of(raw + i * CHUNK,
						  size < CHUNK ? size : CHUNK)),
			0);
	}
	ck_assert_uint_eq(put_count, 2);
	large_writer_finish(w, &changed);
	put(2, BYTES_NONE, changed);
	ck_assert_uint_lt(stats().blob_size - before, 3 * CHUNK);
	ck_assert_int_eq(store_get(store, NULL, bytes_string("t"),
				   bytes_string("r"), bytes_string("f"),
				   bytes_string("q"), &cell, &memory),
			 1);
	ck_assert(bytes_equal(cell.value, bytes_of(raw, sizeof(raw))));
	raw[3 * CHUNK + 5] ^= 1;
	check_large(base, bytes_of(raw, VALUE_SIZE));
	large_put(base);
	large_put(changed);
	buf_release(&memory);
}
END_TEST

START_TEST(what_is_held_is_kept)
{
	static uint8_t raw[VALUE_SIZE];
	struct large *held;

	fill(raw, sizeof(raw), 2);
	put(1, bytes_of(raw, sizeof(raw)), NULL);
	held = get_large();
	delete_row();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_uint_ge(stats().blob_size, sizeof(raw));
	check_large(held, bytes_of(raw, sizeof(raw)));
	/* It may be referred to again. */
	put(2, BYTES_NONE, held);
	large_put(held);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	held = get_large();
	check_large(held, bytes_of(raw, sizeof(raw)));
	large_put(held);
	delete_row();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	ck_assert_uint_eq(stats().blob_count, 0);
	ck_assert_uint_eq(stats().blob_size, 0);
}
END_TEST

static int count_blob(void *context, const char *name)
{
	size_t n = strlen(name);

	*(size_t *)context += n > 5 && strcmp(name + n - 5, ".blob") == 0;
	return 0;
}

/* One chunk of many is changed again and again: files that hold little else
 * than what was replaced are emptied. */
START_TEST(garbage_is_collected)
{
	static uint8_t raw[VALUE_SIZE];
	struct large *base, *changed;
	struct large_writer *w;
	uint64_t version;
	size_t files = 0;

	fill(raw, sizeof(raw), 3);
	put(1, bytes_of(raw, sizeof(raw)), NULL);
	for (version = 2; version < 60; version++) {
		uint32_t i = (uint32_t)(version * 7 % 20);

		base = get_large();
		fill(raw + i * CHUNK, CHUNK, (uint32_t)version);
		ck_assert_int_eq(large_writer_new(store_engine(store), base,
						  sizeof(raw), &w),
				 0);
		ck_assert_int_eq(
			large_writer_put(w, i,
					 bytes_of(raw + i * CHUNK, CHUNK)),
			0);
		large_writer_finish(w, &changed);
		delete_row();
		put(version, BYTES_NONE, changed);
		large_put(base);
		large_put(changed);
	}
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	base = get_large();
	check_large(base, bytes_of(raw, sizeof(raw)));
	large_put(base);
	ck_assert_uint_lt(stats().blob_size, 2 * sizeof(raw) + 3000);
	ck_assert_int_eq(volume->ops->list(volume, count_blob, &files), 0);
	ck_assert_uint_eq(files, stats().blob_count);
}
END_TEST

static char found_name[VOLUME_NAME_MAX + 1];

static int find_blob(void *context, const char *name)
{
	size_t n = strlen(name);

	(void)context;
	if (n > 5 && strcmp(name + n - 5, ".blob") == 0)
		snprintf(found_name, sizeof(found_name), "%s", name);
	return 0;
}

static void count_problem(void *context, const char *problem)
{
	ck_assert_ptr_nonnull(strstr(problem, ".blob"));
	++*(unsigned int *)context;
}

START_TEST(check_finds_a_damaged_chunk)
{
	static uint8_t raw[VALUE_SIZE];
	unsigned int problems = 0;
	struct bytes content;
	struct large *large;
	struct buf all = BUF_INIT;
	uint8_t *byte;

	fill(raw, sizeof(raw), 4);
	put(1, bytes_of(raw, sizeof(raw)), NULL);
	ck_assert_int_eq(store_check(store, count_problem, &problems), 0);
	ck_assert_int_eq(volume->ops->list(volume, find_blob, NULL), 0);
	content = volume_mem_file(volume, found_name);
	ck_assert_uint_gt(content.size, 600);
	byte = (uint8_t *)(uintptr_t)content.data + 500;
	*byte ^= 4;
	ck_assert_int_eq(store_check(store, count_problem, &problems),
			 -ERR_check_failed);
	ck_assert_uint_eq(problems, 1);
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	ck_assert_int_eq(store_check(store, count_problem, &problems),
			 -ERR_check_failed);
	ck_assert_uint_eq(problems, 2);
	large = get_large();
	ck_assert_int_eq(large_load(large, &all), -ERR_blob_damaged);
	large_put(large);
	buf_release(&all);
	/* A compaction leaves it where it is. */
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	*byte ^= 4;
	ck_assert_int_eq(store_check(store, count_problem, &problems), 0);
}
END_TEST

/* No version of the store has the file that a value refers to. */
START_TEST(a_file_that_is_not_there_is_told)
{
	static uint8_t raw[VALUE_SIZE];
	struct engine *e = store_engine(store);
	struct buf memory = BUF_INIT;
	struct edit edit = EDIT_INIT;
	struct large *large;
	struct cell cell;
	uint64_t id;

	fill(raw, sizeof(raw), 5);
	put(1, bytes_of(raw, sizeof(raw)), NULL);
	ck_assert_int_eq(engine_flush(e), 0);
	while (e->version->blob_count > 0) {
		id = e->version->blobs[0]->id;
		ck_assert_int_eq(edit_drop_blob(&edit, id), 0);
		ck_assert_int_eq(engine_apply(e, &edit), 0);
		edit_release(&edit);
	}
	ck_assert_int_eq(store_get_large(store, NULL, bytes_string("t"),
					 bytes_string("r"), bytes_string("f"),
					 bytes_string("q"), &cell, &memory,
					 &large),
			 -ERR_blob_damaged);
	ck_assert_ptr_null(large);
	buf_release(&memory);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_change_writes_its_chunks_alone,
		what_is_held_is_kept,
		garbage_is_collected,
		check_finds_a_damaged_chunk,
		a_file_that_is_not_there_is_told,
	};

	return run_suite("large", set_up, tear_down, tests, 5);
}
