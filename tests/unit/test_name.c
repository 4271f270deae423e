#include <errno.h>

#include "fs/state/name.h"
#include "tests/unit/suite.h"

/* Each key must have exactly this name, and the name this key. */
static void check_pair(enum name_level level, struct bytes key,
		       const char *name)
{
	struct buf out = BUF_INIT, back = BUF_INIT;
	uint64_t hash;

	ck_assert_int_eq(name_encode(level, key, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data, name);
	ck_assert_int_eq(name_decode(level, bytes_string(name), &back, &hash),
			 NAME_WHOLE);
	ck_assert(bytes_equal(buf_bytes(&back), key));
	buf_release(&out);
	buf_release(&back);
}

static void check_refused(enum name_level level, const char *name, int err)
{
	struct buf back = BUF_INIT;
	uint64_t hash;

	ck_assert_int_eq(name_decode(level, bytes_string(name), &back, &hash),
			 err);
	ck_assert_uint_eq(back.size, 0);
	buf_release(&back);
}

#define KEY(s) BYTES_LITERAL(s)

START_TEST(plain_keys_look_as_they_are)
{
	check_pair(NAME_ROW, KEY("alice@example.com"), "alice@example.com");
	check_pair(NAME_ROW, KEY("phone#4c410523#20200501"),
		   "phone#4c410523#20200501");
	check_pair(NAME_ROW, KEY("Jos\xc3\xa9#1"), "Jos\xc3\xa9#1");
	check_pair(NAME_ROW, KEY("\xff\xff\x80"), "\xff\xff\x80");
	check_pair(NAME_ROW, KEY("%CPU"), "%CPU");
	check_pair(NAME_ROW, KEY("%2f"), "%2f");
	check_pair(NAME_ROW, KEY("100%"), "100%");
	check_pair(NAME_ROW, KEY("a b\\\"'"), "a b\\\"'");
}
END_TEST

START_TEST(odd_bytes_are_escaped)
{
	check_pair(NAME_ROW, KEY("\0"), "%00");
	check_pair(NAME_ROW, KEY("a/b"), "a%2Fb");
	check_pair(NAME_ROW, KEY("\x01\n\x1f\x7f"), "%01%0A%1F%7F");
	check_pair(NAME_ROW, KEY("%/"), "%%2F");
	check_pair(NAME_QUALIFIER, KEY(""), "%~");
}
END_TEST

START_TEST(what_looks_escaped_is_quoted)
{
	check_pair(NAME_ROW, KEY("%2F"), "%252F");
	check_pair(NAME_ROW, KEY("%252F"), "%25252F");
	check_pair(NAME_ROW, KEY("a%0Ab%00"), "a%250Ab%2500");
	check_pair(NAME_ROW, KEY("%~"), "%25~");
	check_pair(NAME_ROW, KEY("%25~"), "%2525~");
	check_pair(NAME_ROW, KEY("a%~0123456789abcdef"),
		   "a%25~0123456789abcdef");
	check_pair(NAME_ROW, KEY("%2Ex"), "%252Ex");
	check_pair(NAME_QUALIFIER, KEY("%2E"), "%252E");
	check_pair(NAME_QUALIFIER, KEY("%2Eversions"), "%252Eversions");
}
END_TEST

START_TEST(what_is_no_escape_is_itself)
{
	static const char *const names[] = {
		"%41",
		"%20",
		"a%20b",
		"100%25",
		"%C3%A9",
		"%7E",
		"%25",
		"%2525",
		"%2525%41",
		"%25CPU",
		"%~a",
		"a%~",
		"a%25~",
		"a%2E",
		"%~~",
		"%2fa%62",
		"a%~0123456789abcde",
		"a%~0123456789ABCDEF",
		"%2525 %~25",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_pair(NAME_ROW, bytes_string(names[i]), names[i]);
	check_pair(NAME_QUALIFIER, KEY("%2Ex"), "%2Ex");
	check_pair(NAME_QUALIFIER, KEY("%2E%2E"), "%2E%2E");
	check_pair(NAME_VALUE, KEY("%2Eversions"), "%2Eversions");
}
END_TEST

START_TEST(dots_are_reserved_by_level)
{
	check_pair(NAME_ROW, KEY(".x"), "%2Ex");
	check_pair(NAME_FAMILY, KEY(".x"), "%2Ex");
	check_pair(NAME_QUALIFIER, KEY(".x"), ".x");
	check_pair(NAME_QUALIFIER, KEY("."), "%2E");
	check_pair(NAME_QUALIFIER, KEY(".."), "%2E.");
	check_pair(NAME_QUALIFIER, KEY("..."), "...");
	check_pair(NAME_QUALIFIER, KEY(".versions"), "%2Eversions");
	check_pair(NAME_QUALIFIER, KEY(".versions2"), ".versions2");
	check_pair(NAME_VALUE, KEY(".versions"), ".versions");
	check_pair(NAME_ROW, KEY("a.b"), "a.b");
}
END_TEST

START_TEST(raw_and_reserved_names_are_refused)
{
	static const char *const names[] = {
		"", "a\x01", "a/b", "\x7f", "\n%41", ".", "..", ".x",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_refused(NAME_ROW, names[i], -EINVAL);
	check_refused(NAME_QUALIFIER, ".", -EINVAL);
	check_refused(NAME_QUALIFIER, "..", -EINVAL);
	check_refused(NAME_QUALIFIER, ".versions", -EINVAL);
	check_refused(NAME_VALUE, "..", -EINVAL);
}
END_TEST

/* Whether a directory of this level may hold the name, which has none of the
 * bytes of the alphabet below that a name cannot have. */
static bool is_legal(enum name_level level, struct bytes name)
{
	if (name.size == 0 || memchr(name.data, '/', name.size))
		return false;
	if (name.data[0] != '.')
		return true;
	return level >= NAME_QUALIFIER && !bytes_equal(name, KEY(".")) &&
	       !bytes_equal(name, KEY(".."));
}

/* Whether text, as a key, comes back from its name and, as a name, is refused
 * or comes back from its key. name and back are for reuse. */
static bool goes_both_ways(enum name_level level, struct bytes text,
			   struct buf *name, struct buf *back)
{
	uint64_t hash;

	buf_reset(name);
	buf_reset(back);
	if (name_encode(level, text, name) ||
	    name_decode(level, buf_bytes(name), back, &hash) != NAME_WHOLE ||
	    !bytes_equal(buf_bytes(back), text))
		return false;
	buf_reset(name);
	buf_reset(back);
	if (!is_legal(level, text))
		return name_decode(level, text, back, &hash) == -EINVAL;
	return name_decode(level, text, back, &hash) == NAME_WHOLE &&
	       name_encode(level, buf_bytes(back), name) == 0 &&
	       bytes_equal(buf_bytes(name), text);
}

/* All strings of up to six of these bytes. Tables, rows and families have the
 * same rules. */
START_TEST(short_strings_are_keys_and_names)
{
	static const char alphabet[] = "%250F~./aE";
	static const enum name_level levels[] = { NAME_ROW, NAME_QUALIFIER,
						  NAME_VALUE };
	struct buf name = BUF_INIT, back = BUF_INIT;
	uint32_t count = 1, n, rest;
	uint8_t text[6];
	size_t size, i;

	for (size = 0; size <= sizeof(text); size++, count *= 10) {
		for (n = 0; n < count; n++) {
			for (i = 0, rest = n; i < size; i++, rest /= 10)
				text[i] = (uint8_t)alphabet[rest % 10];
			/* ck_assert itself takes longer than what is asked. */
			for (i = 0; i < 3; i++)
				if (!goes_both_ways(levels[i],
						    bytes_of(text, size), &name,
						    &back))
					ck_abort_msg("%.*s", (int)size, text);
		}
	}
	buf_release(&name);
	buf_release(&back);
}
END_TEST

/* A long key's name must show the key's beginning and its hash. */
static void check_cut(struct bytes key, size_t head_min)
{
	struct buf name = BUF_INIT, head = BUF_INIT;
	uint64_t hash = 0;

	ck_assert_int_eq(name_encode(NAME_ROW, key, &name), 0);
	ck_assert_uint_le(name.size, NAME_HEAD_MAX + 18);
	ck_assert_uint_ge(name.size, head_min + 18);
	ck_assert_int_eq(name_decode(NAME_ROW, buf_bytes(&name), &head, &hash),
			 NAME_CUT);
	ck_assert(bytes_starts_with(key, buf_bytes(&head)));
	ck_assert(hash == name_hash(key));
	buf_release(&name);
	buf_release(&head);
}

START_TEST(long_keys_are_cut_at_a_character)
{
	uint8_t key[4096];
	struct buf name = BUF_INIT;
	size_t shift;

	memset(key, 'k', sizeof(key));
	check_cut(bytes_of(key, 256), NAME_HEAD_MAX);
	check_cut(bytes_of(key, sizeof(key)), NAME_HEAD_MAX);
	ck_assert_int_eq(
		name_encode(NAME_ROW, bytes_of(key, NAME_SIZE_MAX), &name), 0);
	ck_assert_uint_eq(name.size, NAME_SIZE_MAX);
	for (shift = 0; shift < 5; shift++) {
		size_t i;

		for (i = shift; i + 4 <= sizeof(key); i += 4)
			memcpy(key + i, "\xf0\x9f\x98\x80", 4);
		check_cut(bytes_of(key, sizeof(key)), NAME_HEAD_MAX - 3);
		for (i = shift; i < sizeof(key); i++)
			key[i] = '/';
		check_cut(bytes_of(key, 400), NAME_HEAD_MAX - 2);
		memset(key + shift, 0x80, sizeof(key) - shift);
		check_cut(bytes_of(key, sizeof(key)), NAME_HEAD_MAX - 3);
		memset(key, 'k', sizeof(key));
	}
	buf_reset(&name);
	ck_assert_int_eq(buf_add(&name, key, 256), 0);
	ck_assert_int_eq(buf_terminate(&name), 0);
	check_refused(NAME_ROW, (char *)name.data, -ENAMETOOLONG);
	buf_release(&name);
}
END_TEST

/* An escape may be longer than the head of a cut name. */
START_TEST(no_escape_is_cut)
{
	struct buf key = BUF_INIT, name = BUF_INIT, head = BUF_INIT;
	uint64_t hash;
	int i;

	ck_assert_int_eq(buf_add_string(&key, "ab%"), 0);
	for (i = 0; i < 130; i++)
		ck_assert_int_eq(buf_add_string(&key, "25"), 0);
	check_cut(buf_bytes(&key), NAME_HEAD_MAX);
	ck_assert_int_eq(buf_add_string(&key, "2F"), 0);
	ck_assert_int_eq(name_encode(NAME_ROW, buf_bytes(&key), &name), 0);
	ck_assert_int_eq(name_decode(NAME_ROW, buf_bytes(&name), &head, &hash),
			 NAME_CUT);
	ck_assert(bytes_equal(buf_bytes(&head), KEY("ab")));
	ck_assert(hash == name_hash(buf_bytes(&key)));
	buf_release(&key);
	buf_release(&name);
	buf_release(&head);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Bytes that matter to the codec are drawn more often than others. */
static size_t random_key(uint32_t *state, uint8_t *key, size_t max)
{
	static const char odd[] = "%%%~../225050Ff\x01\x7f\xc3\xa9\x80\xff";
	size_t size = 1 + next_random(state) % max, i;

	for (i = 0; i < size; i++)
		key[i] =
			next_random(state) % 4
				? (uint8_t)odd[next_random(state) % sizeof(odd)]
				: (uint8_t)next_random(state);
	return size;
}

START_TEST(every_key_has_one_name)
{
	uint32_t state = 7;
	int round;

	for (round = 0; round < 200000; round++) {
		enum name_level level = round % 5;
		struct buf name = BUF_INIT, back = BUF_INIT;
		uint8_t bytes[400];
		size_t size = random_key(&state, bytes, round % 50 ? 9 : 400);
		struct bytes key = bytes_of(bytes, size);
		uint64_t hash = 0;
		int form;

		ck_assert_int_eq(name_encode(level, key, &name), 0);
		ck_assert_uint_le(name.size, NAME_SIZE_MAX);
		ck_assert(!memchr(name.data, 0, name.size));
		ck_assert(!memchr(name.data, '/', name.size));
		form = name_decode(level, buf_bytes(&name), &back, &hash);
		ck_assert_int_ge(form, 0);
		if (form == NAME_CUT) {
			ck_assert(bytes_starts_with(key, buf_bytes(&back)));
			ck_assert(hash == name_hash(key));
		} else {
			ck_assert(bytes_equal(key, buf_bytes(&back)));
		}
		buf_release(&name);
		buf_release(&back);
	}
}
END_TEST

START_TEST(two_keys_never_share_a_name)
{
	uint32_t state = 13;
	int round, same = 0;

	for (round = 0; round < 200000; round++) {
		enum name_level level = round % 5;
		struct buf name = BUF_INIT, other = BUF_INIT;
		uint8_t a[3], b[3];
		struct bytes key, key2;

		key = bytes_of(a, random_key(&state, a, sizeof(a)));
		key2 = bytes_of(b, random_key(&state, b, sizeof(b)));
		ck_assert_int_eq(name_encode(level, key, &name), 0);
		ck_assert_int_eq(name_encode(level, key2, &other), 0);
		ck_assert_int_eq(
			bytes_equal(buf_bytes(&name), buf_bytes(&other)),
			bytes_equal(key, key2));
		same += bytes_equal(key, key2);
		buf_release(&name);
		buf_release(&other);
	}
	ck_assert_int_gt(same, 100);
}
END_TEST

START_TEST(a_whole_name_is_not_cut)
{
	uint8_t key[400];
	struct buf name = BUF_INIT;

	memset(key, '\n', sizeof(key));
	ck_assert_int_eq(name_encode_whole(NAME_ROW, bytes_of(key, 400), &name),
			 0);
	ck_assert_uint_eq(name.size, 1200);
	ck_assert(bytes_starts_with(buf_bytes(&name), KEY("%0A%0A")));
	buf_reset(&name);
	ck_assert_int_eq(name_encode_whole(NAME_ROW, BYTES_NONE, &name), 0);
	ck_assert(bytes_equal(buf_bytes(&name), KEY("%~")));
	buf_release(&name);
}
END_TEST

START_TEST(every_accepted_name_is_the_one_of_its_key)
{
	uint32_t state = 11;
	int round, accepted = 0;

	for (round = 0; round < 200000; round++) {
		enum name_level level = round % 5;
		struct buf key = BUF_INIT, again = BUF_INIT;
		uint8_t bytes[9];
		size_t size = random_key(&state, bytes, sizeof(bytes));
		struct bytes name = bytes_of(bytes, size);
		uint64_t hash;

		if (name_decode(level, name, &key, &hash) == NAME_WHOLE) {
			accepted++;
			ck_assert_int_eq(
				name_encode(level, buf_bytes(&key), &again), 0);
			ck_assert(bytes_equal(name, buf_bytes(&again)));
		} else {
			ck_assert_uint_eq(key.size, 0);
		}
		buf_release(&key);
		buf_release(&again);
	}
	ck_assert_int_gt(accepted, 1000);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { plain_keys_look_as_they_are,
				 odd_bytes_are_escaped,
				 what_looks_escaped_is_quoted,
				 what_is_no_escape_is_itself,
				 dots_are_reserved_by_level,
				 raw_and_reserved_names_are_refused,
				 short_strings_are_keys_and_names,
				 long_keys_are_cut_at_a_character,
				 no_escape_is_cut,
				 every_key_has_one_name,
				 two_keys_never_share_a_name,
				 a_whole_name_is_not_cut,
				 every_accepted_name_is_the_one_of_its_key };

	return run_suite("name", NULL, NULL, tests, 13);
}
