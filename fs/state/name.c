#include <assert.h>
#include <errno.h>

#include "fs/state/name.h"
#include "store/base/hash.h"

/*
 * Both directions read escapes with one function, escape_at: encoding puts a
 * "25" into those that the key has, decoding takes one out or, where there is
 * none, resolves the escape. Escapes do not overlap, as the only '%' of each is
 * its first byte, so each direction undoes the other.
 */
#define HASH_DIGITS 16
#define MARK_SIZE 2 /* "%~" */

static_assert(NAME_HEAD_MAX + MARK_SIZE + HASH_DIGITS <= NAME_SIZE_MAX,
	      "a cut name is one");
static_assert(NAME_WHOLE == 0, "appending is success");

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

/* Whether a dot that rest follows has to be escaped as the first byte: "." and
 * ".." are directories in any place. */
static bool dot_is_reserved(enum name_level level, struct bytes rest)
{
	if (rest.size == 0 || bytes_equal(rest, BYTES_LITERAL(".")))
		return true;
	if (level == NAME_QUALIFIER)
		return bytes_equal(rest, BYTES_LITERAL("versions"));
	return level != NAME_VALUE;
}

/* Whether c, as byte i, which rest follows, is written %XX. */
static bool must_escape(enum name_level level, uint8_t c, size_t i,
			struct bytes rest)
{
	if (c == '.')
		return i == 0 && dot_is_reserved(level, rest);
	return c < 0x20 || c == 0x7f || c == '/';
}

/* Whether each byte stands for itself, as in nearly all keys and names. Some of
 * those that say no do, too: the rules are the two functions above. */
static bool is_plain(struct bytes text)
{
	size_t i;

	for (i = 0; i < text.size; i++) {
		uint8_t c = text.data[i];

		if (c < 0x20 || c == 0x7f || c == '/' || c == '%')
			return false;
	}
	return text.size > 0 && text.data[0] != '.';
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

/* What an escape says if it is not quoted. */
enum escape_form {
	ESCAPE_NONE,
	ESCAPE_BYTE,  /* %XX */
	ESCAPE_EMPTY, /* %~, and nothing else: the empty key */
	ESCAPE_MARK,  /* %~ and 16 hex digits at the end: the rest is cut */
};

struct escape {
	enum escape_form form;
	bool is_quoted; /* there is a "25" behind its '%', or several */
	uint8_t byte;   /* of ESCAPE_BYTE */
	size_t size;    /* all of it, in bytes */
	uint64_t hash;  /* of ESCAPE_MARK */
};

/* The escape that begins at byte i of a key or name: '%', "25" any number of
 * times, and what makes it one. */
static struct escape escape_at(enum name_level level, struct bytes text,
			       size_t i)
{
	struct bytes rest = bytes_after(text, i);
	struct escape e = { .form = ESCAPE_NONE };

	if (rest.data[0] != '%')
		return e;
	rest = bytes_after(rest, 1);
	while (bytes_starts_with(rest, BYTES_LITERAL("25"))) {
		rest = bytes_after(rest, 2);
		e.is_quoted = true;
	}
	if (bytes_starts_with(rest, BYTES_LITERAL("~"))) {
		rest = bytes_after(rest, 1);
		if (rest.size == 0 && i == 0)
			e.form = ESCAPE_EMPTY;
		else if (parse_hash(rest, &e.hash))
			e.form = ESCAPE_MARK;
		rest = BYTES_NONE;
	} else if (rest.size >= 2 && is_hex(rest.data[0]) &&
		   is_hex(rest.data[1])) {
		e.byte = (uint8_t)(hex_value(rest.data[0]) << 4 |
				   hex_value(rest.data[1]));
		rest = bytes_after(rest, 2);
		if (must_escape(level, e.byte, i, rest))
			e.form = ESCAPE_BYTE;
	}
	e.size = text.size - rest.size - i;
	return e;
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

/* Appends what stands at byte *i of the key as it is written, and moves *i on
 * behind it: an escape with one more "25", or a byte. */
static int encode_at(enum name_level level, struct bytes key, size_t *i,
		     struct buf *out)
{
	struct escape e = escape_at(level, key, *i);
	uint8_t c = key.data[*i];
	struct bytes rest = bytes_after(key, ++*i);
	int err;

	if (e.form) {
		*i += e.size - 1;
		err = buf_add_string(out, "%25");
		return err ? err : buf_add(out, rest.data, e.size - 1);
	}
	return must_escape(level, c, *i - 1, rest)
		       ? buf_printf(out, "%%%02X", c)
		       : buf_add_byte(out, c);
}

int name_encode_whole(enum name_level level, struct bytes key, struct buf *out)
{
	int err = key.size == 0 ? buf_add_string(out, "%~") : 0;
	size_t i = 0;

	while (i < key.size && !err)
		err = encode_at(level, key, &i, out);
	return err;
}

int name_encode(enum name_level level, struct bytes key, struct buf *out)
{
	size_t begin = out->size, starts[2] = { 0, 0 }, i = 0, at = 0;
	int err = 0;

	if (key.size == 0)
		return buf_add_string(out, "%~");
	if (key.size <= NAME_SIZE_MAX && is_plain(key))
		return buf_add_bytes(out, key);
	/* What is too long for a name is of no interest from there on. */
	while (i < key.size && at <= NAME_SIZE_MAX && !err) {
		bool in_head = at <= NAME_HEAD_MAX;

		if (in_head)
			starts[0] = at;
		err = encode_at(level, key, &i, out);
		at = out->size - begin;
		if (in_head)
			starts[1] = at;
	}
	if (!err && at > NAME_SIZE_MAX) {
		out->size = begin + cut_at_character(out->data + begin, starts,
						     NAME_HEAD_MAX);
		err = buf_printf(out, "%%~%016llx",
				 (unsigned long long)name_hash(key));
	}
	assert(err || out->size - begin <= NAME_SIZE_MAX);
	if (err)
		out->size = begin;
	return err;
}

/* Appends what stands at byte *i of the name, and moves *i on behind it. An
 * enum name_form, or an error. */
static int decode_at(enum name_level level, struct bytes name, size_t *i,
		     struct buf *key, uint64_t *hash)
{
	struct escape e = escape_at(level, name, *i);
	uint8_t c = name.data[*i];
	struct bytes rest = bytes_after(name, ++*i);
	int err;

	if (!e.form)
		return must_escape(level, c, *i - 1, rest)
			       ? -EINVAL
			       : buf_add_byte(key, c);
	*i += e.size - 1;
	if (e.is_quoted) {
		err = buf_add_byte(key, '%');
		/* Without one "25". */
		return err ? err : buf_add(key, rest.data + 2, e.size - 3);
	}
	if (e.form == ESCAPE_MARK) {
		*hash = e.hash;
		return NAME_CUT;
	}
	return e.form == ESCAPE_BYTE ? buf_add_byte(key, e.byte) : 0;
}

int name_decode(enum name_level level, struct bytes name, struct buf *key,
		uint64_t *hash)
{
	size_t begin = key->size, i = 0;
	int err = 0;

	if (name.size == 0)
		return -EINVAL;
	if (name.size > NAME_SIZE_MAX)
		return -ENAMETOOLONG;
	if (is_plain(name))
		return buf_add_bytes(key, name);
	/* A mark is at the end. */
	while (i < name.size && err >= 0)
		err = decode_at(level, name, &i, key, hash);
	if (err < 0)
		key->size = begin;
	return err;
}
