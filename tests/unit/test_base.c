#include <time.h>

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/bytes.h"
#include "store/base/clock.h"
#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/base/hash.h"
#include "tests/unit/suite.h"

/* The small modules of base/: bytes, buf, coding, err, arena, crc32c, hash. */

START_TEST(bytes_order)
{
	struct bytes a = BYTES_LITERAL("a"), ab = BYTES_LITERAL("ab");
	struct bytes high = BYTES_LITERAL("\xff");

	ck_assert_int_eq(bytes_compare(BYTES_NONE, BYTES_NONE), 0);
	ck_assert_int_lt(bytes_compare(BYTES_NONE, a), 0);
	ck_assert_int_lt(bytes_compare(a, ab), 0);
	ck_assert_int_gt(bytes_compare(high, ab), 0); /* unsigned */
	ck_assert(bytes_starts_with(ab, a));
	ck_assert(!bytes_starts_with(a, ab));
	ck_assert(bytes_starts_with(a, BYTES_NONE));
	ck_assert_uint_eq(bytes_shared(a, ab), 1);
	ck_assert_uint_eq(bytes_shared(bytes_string("0123456789x"),
				       bytes_string("0123456789y")),
			  10);
	ck_assert_uint_eq(bytes_shared(bytes_string("0123456789"),
				       bytes_string("0123456789y")),
			  10);
}
END_TEST

START_TEST(buf_grows)
{
	struct buf b = BUF_INIT;
	int i;

	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(buf_printf(&b, "%03d,", i), 0);
	ck_assert_uint_eq(b.size, 4000);
	ck_assert_int_eq(memcmp(b.data + 3996, "999,", 4), 0);
	ck_assert_int_eq(buf_add(&b, NULL, 0), 0);
	ck_assert_int_eq(buf_set(&b, BYTES_LITERAL("x")), 0);
	ck_assert_int_eq(buf_terminate(&b), 0);
	ck_assert_str_eq((char *)b.data, "x");
	ck_assert_int_eq(buf_reserve(&b, SIZE_MAX), -ENOMEM);
	ck_assert_uint_eq(b.size, 1);
	buf_release(&b);
	ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(integers_round_trip)
{
	uint64_t values[] = { 0,     1,          127,       128,       16383,
			      16384, UINT32_MAX, INT64_MAX, UINT64_MAX };
	uint8_t raw[8];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct buf b = BUF_INIT;
		uint64_t v = 1, fixed = 1;
		struct bytes in;

		ck_assert_int_eq(buf_add_varint(&b, values[i]), 0);
		ck_assert_uint_eq(b.size, varint_size(values[i]));
		ck_assert_int_eq(buf_add_u64le(&b, values[i]), 0);
		in = buf_bytes(&b);
		ck_assert(take_varint(&in, &v));
		ck_assert_uint_eq(v, values[i]);
		ck_assert(take_u64le(&in, &fixed));
		ck_assert_uint_eq(fixed, values[i]);
		ck_assert(!take_varint(&in, &v));
		put_u64be(raw, values[i]);
		ck_assert_uint_eq(get_u64be(raw), values[i]);
		buf_release(&b);
	}
	put_u32be(raw, 0x01020304);
	ck_assert_int_eq(memcmp(raw, "\1\2\3\4", 4), 0);
}
END_TEST

START_TEST(integers_cut_off)
{
	/* Ten bytes whose value needs more than 64 bits. */
	struct bytes wide =
		BYTES_LITERAL("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
	struct bytes open = BYTES_LITERAL("\x80\x80");
	struct bytes sized = BYTES_LITERAL("\x05"
					   "abc");
	struct bytes before = sized, out;
	uint64_t v;

	ck_assert(!take_varint(&wide, &v));
	ck_assert(!take_varint(&open, &v));
	ck_assert(!take_sized(&sized, &out));
	ck_assert(bytes_equal(sized, before));
}
END_TEST

START_TEST(errors_name_their_cause)
{
	int err = fail(ERR_block_checksum, "%s: offset %d", "x.sst", 7);

	ck_assert_int_eq(err, -ERR_block_checksum);
	ck_assert_int_eq(err_errno(err), EIO);
	ck_assert_str_eq(err_text(err), "block checksum does not match");
	ck_assert_str_eq(err_detail(), "x.sst: offset 7");
	/* The old detail may be part of the new one. */
	ck_assert_int_lt(fail(EIO, "open: %s", err_detail()), 0);
	ck_assert_str_eq(err_detail(), "open: x.sst: offset 7");
	ck_assert_int_eq(err_errno(-ENOSPC), ENOSPC);
	ck_assert_int_eq(err_errno(-ERR_BASE - 1000), EIO);
	err_clear();
	ck_assert_str_eq(err_detail(), "");
}
END_TEST

START_TEST(arena_ends)
{
	struct arena a;
	uint32_t place, last = 0;

	ck_assert_int_eq(arena_init(&a, 1000), 0);
	while ((place = arena_alloc(&a, 100)) != 0) {
		ck_assert_uint_eq(place % 8, 0);
		ck_assert(last == 0 || place >= last + 100);
		memset(arena_at(&a, place), 1, 100);
		last = place;
	}
	ck_assert_uint_gt(last, 0);
	ck_assert_uint_eq(arena_alloc(&a, 1000), 0);
	arena_release(&a);
}
END_TEST

START_TEST(checksums_are_the_standard_ones)
{
	uint8_t zeros[32] = { 0 };
	struct bytes digits = BYTES_LITERAL("123456789");

	/* RFC 3720, B.4, and the catalogue's check value. */
	ck_assert_uint_eq(crc32c(0, bytes_of(zeros, 32)), 0x8a9136aa);
	ck_assert_uint_eq(crc32c(0, digits), 0xe3069283);
	ck_assert_uint_eq(crc32c(crc32c(0, bytes_of(digits.data, 4)),
				 bytes_after(digits, 4)),
			  0xe3069283);
	/* Fixed for good, since it is in files. */
	ck_assert_uint_eq(hash64(BYTES_NONE), 0x2d06800538d394c2);
}
END_TEST

START_TEST(clock_goes_on)
{
	uint64_t now = clock_now(&clock_real);

	ck_assert_uint_gt(now, UINT64_C(1600000000000000));
	ck_assert_uint_ge(clock_now(&clock_real), now);
}
END_TEST

START_TEST(times_are_printed_as_the_calendar_has_them)
{
	char text[CLOCK_TEXT_SIZE], want[64];
	time_t seconds;
	struct tm tm;

	/* Each day of some centuries, at another second. */
	for (seconds = 0; seconds < (time_t)86400 * 366 * 500;
	     seconds += 86400 - 7) {
		clock_print((uint64_t)seconds * 1000000 + 5, text,
			    sizeof(text));
		gmtime_r(&seconds, &tm);
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000005Z", &tm);
		ck_assert_str_eq(text, want);
	}
	clock_print(UINT64_MAX, text, sizeof(text));
	ck_assert_str_eq(text, "586524-01-19T08:01:49.551615Z");
}
END_TEST

START_TEST(the_coarse_clock_is_the_same)
{
	uint64_t now = clock_now(&clock_real);
	uint64_t coarse = clock_coarse(&clock_real);

	ck_assert_uint_lt(now - coarse + 1000000, 2000000);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		bytes_order,
		buf_grows,
		integers_round_trip,
		integers_cut_off,
		errors_name_their_cause,
		arena_ends,
		checksums_are_the_standard_ones,
		clock_goes_on,
		times_are_printed_as_the_calendar_has_them,
		the_coarse_clock_is_the_same,
	};

	return run_suite("base", NULL, NULL, tests, 10);
}
