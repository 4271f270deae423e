#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/line.h"

int line_wrong_at(const struct line *l, uint32_t column, const char *message)
{
	if (l->number == 0)
		return fail(ERR_bad_argument, "%s: column %u: %s", l->name,
			    column, message);
	return fail(ERR_bad_argument, "%s:%u:%u: %s", l->name, l->number,
		    column, message);
}

int line_wrong(const struct line *l, const struct word *w, size_t at,
	       const char *message)
{
	assert(at <= w->text.size);
	return line_wrong_at(l, w->columns[at], message);
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Where a word is being put together. */
struct cutting {
	struct line *l;
	size_t at; /* in the source */
	uint8_t *text;
	uint32_t *columns;
	size_t size; /* of the text so far, of all words */
};

/* The byte at c->at belongs to the word. */
static void take(struct cutting *c)
{
	c->text[c->size] = c->l->source.data[c->at];
	c->columns[c->size++] = (uint32_t)c->at + 1;
	c->at++;
}

/* From a quote to the one that ends it. */
static int take_quoted(struct cutting *c)
{
	struct bytes s = c->l->source;
	size_t begin = c->at++;

	for (; c->at < s.size; take(c)) {
		if (s.data[c->at] != '\'')
			continue;
		if (c->at + 1 == s.size || s.data[c->at + 1] != '\'') {
			c->at++;
			return 0;
		}
		c->at++;
	}
	return line_wrong_at(c->l, (uint32_t)begin + 1,
			     "a ' without the one that ends it");
}

/* From { to the } that ends it, or to the end of the line, which the template
 * refuses. */
static void take_field(struct cutting *c)
{
	struct bytes s = c->l->source;
	bool quoted = false;

	while (c->at < s.size) {
		uint8_t byte = s.data[c->at];

		take(c);
		if (byte == '"')
			quoted = !quoted;
		else if (byte == '}' && !quoted)
			return;
	}
}

static int take_word(struct cutting *c)
{
	struct bytes s = c->l->source;
	int err = 0;

	while (!err && c->at < s.size && !is_blank(s.data[c->at])) {
		bool doubled = c->at + 1 < s.size &&
			       s.data[c->at + 1] == s.data[c->at];

		if (s.data[c->at] == '\'') {
			err = take_quoted(c);
		} else if (s.data[c->at] == '{' && !doubled) {
			take_field(c);
		} else {
			if (s.data[c->at] == '{')
				take(c);
			take(c);
		}
	}
	return err;
}

/* One more word, whose columns end with that behind it. */
static int add_word(struct cutting *c)
{
	struct line *l = c->l;
	size_t begin = c->size;
	int err;

	if (l->count == LINE_WORDS_MAX)
		return line_wrong_at(l, (uint32_t)c->at + 1, "too many words");
	err = take_word(c);
	if (err < 0)
		return err;
	l->words[l->count++] =
		(struct word){ bytes_of(c->text + begin, c->size - begin),
			       c->columns + begin };
	c->columns[c->size++] = (uint32_t)c->at + 1;
	return 0;
}

int line_split(struct line *l)
{
	struct bytes s = l->source;
	/* Each word takes one place more, and is a byte at least. */
	size_t room = 2 * s.size + 2;
	struct cutting c = { .l = l };
	int err = 0;

	assert(s.size <= 1 << 20);
	l->count = 0;
	l->memory = malloc(room * (sizeof(uint32_t) + 1));
	if (!l->memory)
		return -ENOMEM;
	c.columns = l->memory;
	c.text = (uint8_t *)(c.columns + room);
	while (!err && c.at < s.size) {
		if (is_blank(s.data[c.at]))
			c.at++;
		else if (s.data[c.at] == '#')
			break;
		else
			err = add_word(&c);
	}
	return err;
}
