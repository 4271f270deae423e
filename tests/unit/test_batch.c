#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/files/batch.h"
#include "tests/unit/suite.h"

static struct bytes lit(const char *s)
{
	return bytes_string(s);
}

static void version_key(struct buf *b, const char *row, uint64_t timestamp)
{
	buf_reset(b);
	ck_assert_int_eq(key_add_table(b, 7), 0);
	ck_assert_int_eq(key_add_part(b, lit(row)), 0);
	ck_assert_int_eq(key_add_part(b, lit("fam")), 0);
	ck_assert_int_eq(key_add_part(b, bytes_of("q\0x", 3)), 0);
	ck_assert_int_eq(key_add_timestamp(b, timestamp), 0);
}

/* The record of the log. */
static struct bytes fill(struct batch *b, struct buf *key)
{
	version_key(key, "row", 5);
	ck_assert_int_eq(batch_put(b, buf_bytes(key), lit("value")), 0);
	ck_assert_int_eq(batch_delete(b, buf_bytes(key)), 0);
	ck_assert_int_eq(batch_delete_range(b, lit("a..."), lit("b...")), 0);
	return batch_seal(b, 41);
}

/* The same record as format 1 has it. */
static void make_old(struct bytes record, struct buf *old)
{
	buf_reset(old);
	ck_assert_int_eq(buf_add_u64le(old, record.data[0]), 0);
	ck_assert_int_eq(buf_add_u32le(old, record.data[1]), 0);
	ck_assert_int_eq(buf_add_bytes(old, bytes_after(record, 2)), 0);
}

static void check_round_trip(bool is_old)
{
	struct batch b = BATCH_INIT, parsed;
	struct buf key = BUF_INIT, old = BUF_INIT;
	struct bytes record = fill(&b, &key);
	struct batch_record r;
	size_t position = 0;
	uint64_t seq;

	if (is_old) {
		make_old(record, &old);
		record = buf_bytes(&old);
	}
	ck_assert_int_eq(batch_parse(record, is_old, &parsed, &seq), 0);
	ck_assert_uint_eq(seq, 41);
	ck_assert_uint_eq(parsed.count, 3);
	ck_assert_uint_eq(parsed.range_count, 1);
	ck_assert(batch_next(&parsed, &position, &r));
	ck_assert_int_eq(r.kind, KEY_PUT);
	ck_assert(bytes_equal(r.key, buf_bytes(&key)));
	ck_assert(bytes_equal(r.value, lit("value")));
	ck_assert(batch_next(&parsed, &position, &r));
	ck_assert_int_eq(r.kind, KEY_DELETE);
	ck_assert(bytes_equal(r.key, buf_bytes(&key)));
	ck_assert(batch_next(&parsed, &position, &r));
	ck_assert_int_eq(r.kind, BATCH_RANGE);
	ck_assert(bytes_equal(r.key, lit("a...")));
	ck_assert(bytes_equal(r.value, lit("b...")));
	ck_assert(!batch_next(&parsed, &position, &r));

	batch_reset(&b);
	position = 0;
	ck_assert(!batch_next(&b, &position, &r));
	batch_release(&b);
	buf_release(&key);
	buf_release(&old);
}

START_TEST(round_trip)
{
	check_round_trip(false);
	check_round_trip(true);
}
END_TEST

/* The greatest sequence and count have room before the records. */
START_TEST(largest_header)
{
	struct batch b = BATCH_INIT, parsed;
	struct buf key = BUF_INIT;
	struct bytes record;
	uint64_t seq;
	uint32_t i;

	version_key(&key, "row", 5);
	for (i = 0; i < BATCH_RECORDS_MAX; i++)
		ck_assert_int_eq(batch_delete(&b, buf_bytes(&key)), 0);
	record = batch_seal(&b, KEY_SEQ_MAX - BATCH_RECORDS_MAX);
	ck_assert_int_eq(batch_parse(record, false, &parsed, &seq), 0);
	ck_assert_uint_eq(seq, KEY_SEQ_MAX - BATCH_RECORDS_MAX);
	ck_assert_uint_eq(parsed.count, BATCH_RECORDS_MAX);
	/* It may be sealed again, as a mark is. */
	record = batch_seal(&b, 1);
	ck_assert_int_eq(batch_parse(record, false, &parsed, &seq), 0);
	ck_assert_uint_eq(seq, 1);
	batch_release(&b);
	buf_release(&key);
}
END_TEST

START_TEST(empty_range_is_refused)
{
	struct batch b = BATCH_INIT;

	ck_assert_int_eq(batch_delete_range(&b, lit("b"), lit("b")),
			 -ERR_bad_argument);
	ck_assert_int_eq(batch_delete_range(&b, lit("b"), lit("a")),
			 -ERR_bad_argument);
	ck_assert_uint_eq(b.count, 0);
	batch_release(&b);
}
END_TEST

START_TEST(limit_on_count_adds_nothing)
{
	struct batch b = BATCH_INIT;
	size_t size;
	uint32_t i;

	for (i = 0; i < BATCH_RECORDS_MAX; i++)
		ck_assert_int_eq(batch_delete(&b, lit("k")), 0);
	size = b.data.size;
	ck_assert_int_eq(batch_delete(&b, lit("k")), -ERR_batch_too_large);
	ck_assert_uint_eq(b.data.size, size);
	ck_assert_uint_eq(b.count, BATCH_RECORDS_MAX);
	batch_release(&b);
}
END_TEST

/* Each cut and each changed byte of a record is refused or gives records that
 * are sound; sanitizers see any read outside. */
static void check_damaged_records(bool is_old)
{
	struct batch b = BATCH_INIT, parsed;
	struct buf key = BUF_INIT, copy = BUF_INIT;
	struct bytes record = fill(&b, &key);
	struct batch_record r;
	uint64_t seq;
	size_t i, position;

	if (is_old)
		make_old(record, &copy);
	else
		ck_assert_int_eq(buf_set(&copy, record), 0);
	for (i = 0; i < copy.size; i++) {
		uint8_t *cut = malloc(i ? i : 1);

		memcpy(cut, copy.data, i);
		ck_assert_int_eq(
			batch_parse(bytes_of(cut, i), is_old, &parsed, &seq),
			-ERR_wal_malformed);
		free(cut);
	}
	for (i = 0; i < copy.size * 8; i++) {
		copy.data[i / 8] ^= (uint8_t)(1 << i % 8);
		if (!batch_parse(buf_bytes(&copy), is_old, &parsed, &seq)) {
			uint32_t count = 0;

			position = 0;
			while (batch_next(&parsed, &position, &r))
				count++;
			ck_assert_uint_eq(count, parsed.count);
		}
		copy.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ck_assert_int_eq(buf_add_byte(&copy, 0), 0);
	ck_assert_int_eq(batch_parse(buf_bytes(&copy), is_old, &parsed, &seq),
			 -ERR_wal_malformed);
	batch_release(&b);
	buf_release(&key);
	buf_release(&copy);
}

START_TEST(damaged_records)
{
	check_damaged_records(false);
	check_damaged_records(true);
}
END_TEST

/* A range lies in a table, whose number begins its key. */
START_TEST(a_range_has_a_table)
{
	struct batch b = BATCH_INIT, parsed;
	uint64_t seq;

	ck_assert_int_eq(batch_delete_range(&b, lit("abc"), lit("abd")), 0);
	ck_assert_int_eq(batch_parse(batch_seal(&b, 1), false, &parsed, &seq),
			 -ERR_wal_malformed);
	batch_release(&b);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		round_trip,
		largest_header,
		empty_range_is_refused,
		limit_on_count_adds_nothing,
		damaged_records,
		a_range_has_a_table,
	};

	return run_suite("batch", NULL, NULL, tests, 6);
}
