#include <stdio.h>

#include "store/base/err.h"
#include "store/format/key.h"
#include "store/format/sst.h"
#include "tests/sim/memory_file.h"
#include "tests/unit/suite.h"

/* What is lost with a part of a file is told, wherever the part ends. The sweep
 * main_repair flips bits of whole stores. */
#define ENTRIES 40

static uint8_t noise(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (uint8_t)(state >> 24);
}

/* An sst of several blocks, with a tombstone. */
static void build_sst(struct buf *file)
{
	const struct sst_options options = { 0, 10, true, ROW_DIRECTORY_NEVER };
	const struct tombstone t = { BYTES_LITERAL("\0\0\0\x07row1"),
				     BYTES_LITERAL("\0\0\0\x07row2"), 9 };
	struct segment_writer *writer;
	struct sst_builder *builder;
	struct buf key = BUF_INIT;
	uint8_t value[600];
	char row[16];
	uint64_t digest;
	size_t i, j;

	ck_assert_int_eq(memory_file_writer(file, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &options, &builder), 0);
	for (i = 0; i < ENTRIES; i++) {
		snprintf(row, sizeof(row), "row%02zu", i);
		for (j = 0; j < sizeof(value); j++)
			value[j] = noise();
		buf_reset(&key);
		key_add_table(&key, 7);
		key_add_part(&key, bytes_string(row));
		key_add_part(&key, bytes_string("f"));
		key_add_part(&key, bytes_string("q"));
		key_add_timestamp(&key, 1000);
		ck_assert_int_eq(key_add_trailer(&key, 5, KEY_PUT), 0);
		ck_assert_int_eq(sst_build_add(builder, buf_bytes(&key),
					       bytes_of(value, sizeof(value))),
				 0);
	}
	ck_assert_int_eq(sst_build_tombstone(builder, &t), 0);
	ck_assert_int_eq(sst_build_finish(builder, &digest), 0);
	buf_release(&key);
}

struct found {
	unsigned int entries, tombstones;
	unsigned int lost, undeleted; /* what was told */
};

static int take_entry(void *context, struct bytes key, struct bytes value)
{
	(void)key;
	(void)value;
	((struct found *)context)->entries++;
	return 0;
}

static int take_tombstone(void *context, const struct tombstone *t)
{
	(void)t;
	((struct found *)context)->tombstones++;
	return 0;
}

static int take_loss(void *context, const char *problem, struct bytes after,
		     struct bytes before)
{
	(void)problem;
	(void)after;
	(void)before;
	((struct found *)context)->lost++;
	return 0;
}

static int take_undeleted(void *context, const char *problem)
{
	(void)problem;
	((struct found *)context)->undeleted++;
	return 0;
}

static struct found salvage(struct reader *reader)
{
	struct found f = { 0 };
	const struct salvage to = { take_entry, take_tombstone, take_loss,
				    take_undeleted, &f };

	ck_assert_int_eq(sst_salvage(reader, &to), 0);
	return f;
}

START_TEST(a_cut_sst_is_told)
{
	struct buf file = BUF_INIT;
	struct reader *reader;
	struct found f;
	size_t whole;

	build_sst(&file);
	for (whole = file.size; file.size > 0;) {
		file.size--;
		ck_assert_int_eq(memory_file_reader(&file, &reader), 0);
		f = salvage(reader);
		reader->ops->reader_close(reader);
		ck_assert_msg(f.entries == ENTRIES || f.lost > 0,
			      "cut to %zu of %zu: %u entries, nothing told",
			      file.size, whole, f.entries);
		ck_assert_msg(f.tombstones == 1 || f.undeleted > 0,
			      "cut to %zu of %zu: no tombstone, nothing told",
			      file.size, whole);
	}
	buf_release(&file);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_cut_sst_is_told };

	return run_suite("repair", NULL, NULL, tests, 1);
}
