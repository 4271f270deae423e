#include "store/text/json/json.h"
#include "store/text/json/json_value.h"
#include "store/text/value/base64.h"
#include "store/text/value/number.h"
#include "store/text/value/time.h"

/* Texts that may be long are cut where they are quoted. */
static struct bytes shown(struct bytes s)
{
	return bytes_of(s.data, s.size < 100 ? s.size : 100);
}

int json_wrong(const char *what, struct bytes name)
{
	name = shown(name);
	return fail(ERR_bad_line, "%s: \"%.*s\"", what, (int)name.size,
		    name.data);
}

bool json_is_text(const struct json_node *n)
{
	return n->type == JSON_STRING || n->type == JSON_NUMBER ||
	       n->type == JSON_TRUE || n->type == JSON_FALSE;
}

/* Shows what stands there instead. */
int json_integer(const char *what, const struct json_node *n, int64_t *out)
{
	static const char *const others[] = {
		[JSON_NULL] = "null",        [JSON_FALSE] = "false",
		[JSON_TRUE] = "true",        [JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
	};
	const char *quote = n->type == JSON_STRING ? "\"" : "";
	struct bytes text = n->text;

	if (n->type == JSON_NUMBER && int_parse(text, out))
		return 0;
	if (n->type != JSON_NUMBER && n->type != JSON_STRING)
		text = bytes_string(others[n->type]);
	text = shown(text);
	return fail(ERR_bad_line,
		    "%s must be a decimal 64-bit integer%s, not %s%.*s%s", what,
		    *quote ? " without quotes" : "", quote, (int)text.size,
		    text.data, quote);
}

/* Characters that are decoded at once: a multiple of 4. */
#define PIECE_SIZE ((size_t)1 << 20)

/* To the tree's spill, piece by piece. */
static int spill_base64(struct json *j, struct bytes text, struct buf *memory,
			struct bytes *out)
{
	size_t at, size, start = j->spill->size;
	int err = spill_start(j->spill);

	for (at = 0; !err && at < text.size; at += size) {
		size = text.size - at;
		if (size > PIECE_SIZE)
			size = PIECE_SIZE;
		buf_reset(memory);
		err = base64_decode_piece(text, at, size, memory);
		if (!err)
			err = spill_add(j->spill, buf_bytes(memory));
	}
	*out = bytes_after(spill_bytes(j->spill), start);
	spill_sweep(j->spill, true);
	return err;
}

int json_base64(struct json *j, const struct json_node *n, struct buf *memory,
		struct bytes *out)
{
	int err;

	if (n->type != JSON_STRING)
		return fail(ERR_bad_line, "\"base64\" must be a string");
	/* An error may leave part of it in memory: *out is then not to be
	 * used. */
	if (j->spill && n->text.size > PIECE_SIZE && n->text.size % 4 == 0)
		return spill_base64(j, n->text, memory, out);
	buf_reset(memory);
	err = base64_decode(n->text, memory);
	*out = buf_bytes(memory);
	return err;
}

int json_bytes(struct mutation *m, const struct json_node *n,
	       struct buf *memory, struct bytes *out)
{
	*out = n->text;
	if (n->type == JSON_STRING)
		return 0;
	if (n->type == JSON_OBJECT && n->count == 1) {
		/* The only key decides; its value is json_base64's to judge. */
		n = json_first(m->json, n);
		if (bytes_equal(n->key, BYTES_LITERAL("base64")))
			return json_base64(m->json, n, memory, out);
	}
	return fail(ERR_bad_line,
		    "a key must be a string or {\"base64\": ...}");
}

/* The printer writes it so, too. */
int json_qualifier(struct mutation *m, struct bytes key, struct bytes *out)
{
	struct bytes prefix = BYTES_LITERAL("base64:");
	int err;

	*out = key;
	if (!bytes_starts_with(key, prefix))
		return 0;
	buf_reset(&m->key);
	err = base64_decode(bytes_after(key, prefix.size), &m->key);
	*out = buf_bytes(&m->key);
	return err;
}

/* A number with a fraction or an exponent is refused by time_parse. */
int json_timestamp(const struct json_node *n, uint64_t *us)
{
	if (n->type != JSON_NUMBER && n->type != JSON_STRING)
		return fail(ERR_bad_timestamp,
			    "a timestamp must be a number of microseconds");
	return time_parse(n->text, us);
}

int json_version(struct mutation *m, const struct json_node *n,
		 uint64_t *timestamp, struct bytes *value)
{
	const struct json_node *child = json_first(m->json, n);
	unsigned int values = 0; /* keys that give one */
	int err = 0;

	for (; !err && child; child = json_next(m->json, child)) {
		if (bytes_equal(child->key, BYTES_LITERAL("timestamp"))) {
			err = json_timestamp(child, timestamp);
		} else if (bytes_equal(child->key, BYTES_LITERAL("base64"))) {
			err = json_base64(m->json, child, &m->value, value);
			values++;
		} else if (bytes_equal(child->key, BYTES_LITERAL("value")) &&
			   json_is_text(child)) {
			*value = child->text;
			values++;
		} else {
			err = json_wrong("wrong key or value in a version",
					 child->key);
		}
	}
	if (!err && values != 1)
		err = fail(ERR_bad_line,
			   "a version needs one of \"value\" and \"base64\"");
	return err;
}
