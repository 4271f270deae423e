#include <string.h>

#include "tools/words.h"

/* Takes the next token of a line off the front of text: up to a blank that is
 * not between < and >. False at the line's end. */
static bool next_token(const char **text, struct bytes *out)
{
	const char *p = *text + strspn(*text, " "), *start = p;
	bool is_inside = false;

	for (; *p && *p != '\n' && (*p != ' ' || is_inside); p++)
		is_inside = *p == '<' || (is_inside && *p != '>');
	*out = bytes_of(start, (size_t)(p - start));
	*text = p;
	return p > start;
}

/* Whether all of it is one of these, and there is something. */
static bool consists(struct bytes s, const char *allowed)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (!strchr(allowed, s.data[i]))
			return false;
	return s.size > 0;
}

static bool is_plain(struct bytes s)
{
	return consists(s, "abcdefghijklmnopqrstuvwxyz0123456789_-");
}

/* Adds a line of these parts, unless it is there. Each line has a newline
 * before it, too, if only that of the former. */
static int add_line(struct buf *out, struct bytes a, struct bytes b,
		    struct bytes c)
{
	const struct bytes parts[] = { a, b, c, bytes_string("\n") };
	size_t i, at = out->size;
	int err = 0;

	for (i = 0; i < 4 && !err; i++)
		err = buf_add_bytes(out, parts[i]);
	if (!err &&
	    memmem(out->data, at, out->data + at - 1, out->size - at + 1))
		out->size = at;
	return err;
}

/* The part of *rest before the next |, which is taken off. */
static struct bytes next_choice(struct bytes *rest)
{
	const uint8_t *bar =
		rest->size ? memchr(rest->data, '|', rest->size) : NULL;
	struct bytes part = *rest;

	if (bar)
		part.size = (size_t)(bar - rest->data);
	*rest = bytes_of(part.data + part.size + (bar != NULL),
			 rest->size - part.size - (bar != NULL));
	return part;
}

/* Adds a word and its values, which are parted by | and may all be between one
 * < and >; one that has both of its own is a name for any. */
static int add_word(struct buf *out, const char *before, struct bytes name,
		    struct bytes values)
{
	const struct bytes none = bytes_of("", 0);
	struct buf line = BUF_INIT;
	int err = buf_add_string(&line, before);

	if (!err)
		err = buf_add_bytes(&line, name);
	do {
		struct bytes value = next_choice(&values);
		bool opens = value.size > 0 && value.data[0] == '<';
		bool closes =
			value.size > 0 && value.data[value.size - 1] == '>';

		if (opens != closes)
			value = bytes_of(value.data + opens, value.size - 1);
		if (!err)
			err = add_line(out, buf_bytes(&line), bytes_string("="),
				       is_plain(value) ? value : none);
	} while (values.size > 0);
	buf_release(&line);
	return err;
}

/* Adds the words as they stand, which are parted by |. */
static int add_bare(struct buf *out, const char *before, struct bytes words)
{
	const struct bytes none = bytes_of("", 0);
	int err = 0;

	while (words.size > 0 && !err) {
		struct bytes word = next_choice(&words);

		if (is_plain(word))
			err = add_line(out, bytes_string(before), word, none);
	}
	return err;
}

/* Adds a token that is a word, if it is one. */
static int add_token(struct buf *out, const char *before, struct bytes token)
{
	const uint8_t *equals =
		token.size ? memchr(token.data, '=', token.size) : NULL;
	struct bytes name = token;

	if (!equals)
		return add_bare(out, before, token);
	name.size = (size_t)(equals - token.data);
	if (!is_plain(name))
		return 0;
	return add_word(out, before, name,
			bytes_of(equals + 1, token.size - name.size - 1));
}

/* Cuts the brackets that stand around it. */
static struct bytes strip(struct bytes s)
{
	while (s.size > 0 && strchr("[(", s.data[0]))
		s = bytes_of(s.data + 1, s.size - 1);
	while (s.size > 0 && strchr("])", s.data[s.size - 1]))
		s.size--;
	return s;
}

/* How many more [ than ] there are. */
static int depth_of(struct bytes s)
{
	int depth = 0;
	size_t i;

	for (i = 0; i < s.size; i++)
		depth += (s.data[i] == '[') - (s.data[i] == ']');
	return depth;
}

/* Adds <name>, or [<name>]; nothing if it is the name of a word. */
static int add_place(struct buf *out, struct bytes token, bool is_optional)
{
	const uint8_t *end = memchr(token.data, '>', token.size);
	size_t size = end ? (size_t)(end - token.data) + 1 : 0;

	if (size == 0 || (size < token.size && token.data[size] == '='))
		return 0;
	return add_line(out, bytes_string(is_optional ? "[" : ""),
			bytes_of(token.data, size),
			bytes_string(is_optional ? "]" : ""));
}

static int add_usage(const char *usage, struct buf *out)
{
	bool is_word = false; /* one stands before, in these brackets */
	struct bytes token, inner;
	int depth = 0, err = 0;

	/* The verb. */
	next_token(&usage, &token);
	while (!err && next_token(&usage, &token)) {
		bool is_optional = depth > 0 || token.data[0] == '[';

		inner = strip(token);
		depth += depth_of(token);
		if (inner.size > 0 && inner.data[0] == '<') {
			if (!is_word)
				err = add_place(out, inner, is_optional);
		} else if (!bytes_equal(inner, bytes_string("args"))) {
			err = add_token(out, "", inner);
			is_word = true;
		}
		if (depth == 0)
			is_word = false;
	}
	return err;
}

/* A line of help, if it is of words: as many as there are from its beginning
 * on. */
static int add_help_line(const char *line, struct buf *out)
{
	struct bytes token;
	int err = 0;

	if (strncmp(line, "  ", 2) != 0 || line[2] == ' ')
		return 0;
	if (!strncmp(line, "  -o ", 5)) {
		line += 5;
		return next_token(&line, &token)
			       ? add_token(out, "-o ", strip(token))
			       : 0;
	}
	while (!err && next_token(&line, &token) &&
	       (token.data[0] == '[' || memchr(token.data, '=', token.size)))
		err = add_token(out, "", strip(token));
	return err;
}

int words_of(const char *usage, const char *help, struct buf *out)
{
	int err = buf_add_byte(out, '\n');

	if (!err)
		err = add_usage(usage, out);
	while (!err && *help) {
		err = add_help_line(help, out);
		help += strcspn(help, "\n");
		help += *help == '\n';
	}
	return err;
}
