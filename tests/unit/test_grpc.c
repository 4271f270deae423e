#include "store/base/err.h"
#include "tests/unit/suite.h"
#include "tools/serve/grpc.h"

START_TEST(timeouts_have_digits_and_a_unit)
{
	static const struct {
		const char *text;
		uint64_t us;
	} good[] = {
		{ "1n", 1 },         { "1001n", 2 },
		{ "0n", 0 },         { "7u", 7 },
		{ "100m", 100000 },  { "5S", 5000000 },
		{ "2M", 120000000 }, { "99999999H", 359999996400000000 },
	};
	static const char *const bad[] = { "",    "S",   "5",    "5s",
					   "-1S", "1 S", "1.5S", "123456789S" };
	uint64_t us;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_int_eq(grpc_timeout(bytes_string(good[i].text), &us),
				 0);
		ck_assert_uint_eq(us, good[i].us);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_int_eq(grpc_timeout(bytes_string(bad[i]), &us),
				 -EINVAL);
}
END_TEST

START_TEST(content_types_are_those_of_grpc)
{
	ck_assert(grpc_content_type(BYTES_LITERAL("application/grpc")));
	ck_assert(grpc_content_type(BYTES_LITERAL("application/grpc+proto")));
	ck_assert(grpc_content_type(BYTES_LITERAL("application/grpc;x=y")));
	ck_assert(!grpc_content_type(BYTES_LITERAL("application/grpc-web")));
	ck_assert(!grpc_content_type(BYTES_LITERAL("application/json")));
	ck_assert(!grpc_content_type(BYTES_NONE));
}
END_TEST

START_TEST(texts_are_escaped_and_cut_between_characters)
{
	struct buf b = BUF_INIT, text = BUF_INIT;

	ck_assert_int_eq(grpc_add_text(&b, BYTES_LITERAL("a%b \xc3\xa4\n~")),
			 0);
	ck_assert(
		bytes_equal(buf_bytes(&b), BYTES_LITERAL("a%25b %C3%A4%0A~")));
	buf_reset(&b);
	while (text.size < GRPC_TEXT_MAX - 1)
		ck_assert_int_eq(buf_add_byte(&text, 'x'), 0);
	ck_assert_int_eq(buf_add_string(&text, "\xc3\xa4y"), 0);
	ck_assert_int_eq(grpc_add_text(&b, buf_bytes(&text)), 0);
	ck_assert_uint_eq(b.size, GRPC_TEXT_MAX - 1);
	buf_release(&b);
	buf_release(&text);
}
END_TEST

START_TEST(prefixes_are_big_endian)
{
	uint8_t prefix[GRPC_PREFIX_SIZE];

	grpc_prefix(prefix, 0x01020304);
	ck_assert(memcmp(prefix, "\0\1\2\3\4", sizeof(prefix)) == 0);
	ck_assert_uint_eq(grpc_prefix_size(prefix), 0x01020304);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		timeouts_have_digits_and_a_unit,
		content_types_are_those_of_grpc,
		texts_are_escaped_and_cut_between_characters,
		prefixes_are_big_endian,
	};

	return run_suite("grpc", NULL, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
