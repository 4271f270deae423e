#include <assert.h>
#include <errno.h>

#include "fs/state/name.h"
#include "store/base/hash.h"

/*
 * Encoding looks at each byte of the key by itself, with the two that follow.
 * Decoding undoes the escapes without asking which of them were needed, and
 * then encodes what came out: a name that this does not give back is a spelling
 * of no key. So the rules of escaping stand in must_escape alone.
 */
#define HASH_DIGITS 16
#define MARK_SIZE 2 /* "%~" */

static_assert(NAME_HEAD_MAX + MARK_SIZE + HASH_DIGITS <= NAME_SIZE_MAX,
	      "a cut name is one");
static_assert(NAME_WHOLE == 0, "a name that is its key is just appended");

/* Upper case only: "%2f" needs no escape and is none. */
static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

static int hex_value(uint8_t c)
{
	assert(is_hex(c));
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

uint64_t name_hash(struct bytes key)
{
	return hash64(key);
}

/* Whether the key's first byte, a dot, has to be escaped: "." and ".." are
 * directories in any place. */
static bool dot_is_reserved(enum name_level level, struct bytes key)
{
	assert(key.size > 0 && key.data[0] == '.');
	if (key.size <= 2 && key.data[key.size - 1] == '.')
		return true;
	if (level == NAME_QUALIFIER)
		return bytes_equal(key, BYTES_LITERAL(".versions"));
	return level != NAME_VALUE;
}

/* Whether the key's byte i is written %XX. A '%' only where it would be taken
 * for an escape or a mark, so that "%CPU" and "100%" are their own names. */
static bool must_escape(enum name_level level, struct bytes key, size_t i)
{
	uint8_t c = key.data[i];

	assert(i < key.size);
	if (c == '%') {
		if (i + 1 < key.size && key.data[i + 1] == '~')
			return true;
		return i + 2 < key.size && is_hex(key.data[i + 1]) &&
		       is_hex(key.data[i + 2]);
	}
	if (c == '.')
		return i == 0 && dot_is_reserved(level, key);
	return c < 0x20 || c == 0x7f || c == '/';
}

/*
 * How much of an encoded name, longer than n, may stand before the mark: at
 * most n bytes that split no escape and no UTF-8 character. starts are the
 * places where the last byte of the key that begins at or before n begins and
 * ends.
 */
static size_t cut_at_character(const uint8_t *name, const size_t *starts,
			       size_t n)
{
	size_t cut = n, back;

	assert(starts[0] <= n && starts[1] >= n && n > 4);
	/* In the middle of an escape. */
	if (starts[0] < n && starts[1] > n)
		cut = starts[0];
	/* 10xxxxxx continues a character; its first byte is at most three back.
	 * Such bytes are never escaped, so the place is one of a key byte. */
	if ((name[cut] & 0xc0) != 0x80)
		return cut;
	for (back = 1; back <= 3; back++)
		if ((name[cut - back] & 0xc0) != 0x80)
			break;
	/* Without a lead byte it is not UTF-8, and any place is as good. */
	return name[cut - back] >= 0xc0 ? cut - back : cut;
}

/* Appends the key's byte i as it is written. */
static int encode_byte(enum name_level level, struct bytes key, size_t i,
		       struct buf *out)
{
	static const char digits[] = "0123456789ABCDEF";
	uint8_t c = key.data[i];
	uint8_t escape[3] = { '%', digits[c >> 4], digits[c & 15] };

	return must_escape(level, key, i) ? buf_add(out, escape, 3)
					  : buf_add_byte(out, c);
}

int name_encode_whole(enum name_level level, struct bytes key, struct buf *out)
{
	size_t i;
	int err = key.size == 0 ? buf_add_string(out, "%~") : 0;

	for (i = 0; i < key.size && !err; i++)
		err = encode_byte(level, key, i, out);
	return err;
}

int name_encode(enum name_level level, struct bytes key, struct buf *out)
{
	size_t begin = out->size, starts[2] = { 0, 0 }, i, cut;
	int err = 0;

	if (key.size == 0)
		return buf_add_string(out, "%~");
	for (i = 0; i < key.size && !err; i++) {
		size_t at = out->size - begin;

		if (at <= NAME_HEAD_MAX)
			starts[0] = at;
		err = encode_byte(level, key, i, out);
		if (at <= NAME_HEAD_MAX)
			starts[1] = out->size - begin;
		/* Too long for a name; the rest is of no interest. */
		if (out->size - begin > NAME_SIZE_MAX)
			break;
	}
	if (!err && i < key.size) {
		cut = cut_at_character(out->data + begin, starts,
				       NAME_HEAD_MAX);
		out->size = begin + cut;
		err = buf_printf(out, "%%~%016llx",
				 (unsigned long long)name_hash(key));
	}
	assert(err || out->size - begin <= NAME_SIZE_MAX);
	if (err)
		out->size = begin;
	return err;
}

/* The 16 digits after a cut name's mark; false if they are not. In lower case,
 * unlike those of an escape: each name has one spelling. */
static bool parse_hash(struct bytes digits, uint64_t *hash)
{
	size_t i;

	*hash = 0;
	if (digits.size != HASH_DIGITS)
		return false;
	for (i = 0; i < HASH_DIGITS; i++) {
		uint8_t c = digits.data[i];

		if (c >= '0' && c <= '9')
			*hash = *hash << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*hash = *hash << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* Appends the key bytes of name up to its mark "%~" or its end; *end is the
 * number of name's bytes before that. */
static int decode_bytes(struct bytes name, struct buf *key, size_t *end)
{
	size_t i = 0;
	int err = 0;

	while (i < name.size && !err) {
		uint8_t c = name.data[i];
		size_t left = name.size - i;

		if (c == '%' && left >= 2 && name.data[i + 1] == '~')
			break;
		if (c == '%' && left >= 3 && is_hex(name.data[i + 1]) &&
		    is_hex(name.data[i + 2])) {
			c = (uint8_t)(hex_value(name.data[i + 1]) << 4 |
				      hex_value(name.data[i + 2]));
			i += 2;
		}
		err = buf_add_byte(key, c);
		i++;
	}
	*end = i;
	return err;
}

/* Most names are their keys: nothing in them was or looks escaped. */
static bool is_plain(struct bytes name)
{
	size_t i;

	if (name.size == 0 || name.data[0] == '.')
		return false;
	for (i = 0; i < name.size; i++) {
		uint8_t c = name.data[i];

		if (c < 0x20 || c == '%' || c == '/' || c == 0x7f)
			return false;
	}
	return true;
}

int name_decode(enum name_level level, struct bytes name, struct buf *key,
		uint64_t *hash)
{
	struct buf again = BUF_INIT;
	size_t begin = key->size, end;
	int err;

	if (name.size > NAME_SIZE_MAX)
		return -ENAMETOOLONG;
	/* Without this, each lookup would encode what it has decoded. */
	if (is_plain(name))
		return buf_add_bytes(key, name);
	err = decode_bytes(name, key, &end);
	if (err)
		goto forget;
	/* A mark that is not all of the name, which is the empty key's. */
	if (end < name.size && name.size > MARK_SIZE) {
		if (end > 0 && end <= NAME_HEAD_MAX &&
		    parse_hash(bytes_after(name, end + MARK_SIZE), hash))
			return NAME_CUT;
		err = -EINVAL;
		goto forget;
	}
	err = name_encode(level, bytes_after(buf_bytes(key), begin), &again);
	if (!err && !bytes_equal(name, buf_bytes(&again)))
		err = -EINVAL;
	buf_release(&again);
	if (!err)
		return NAME_WHOLE;
forget:
	key->size = begin;
	return err;
}
