#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/recipe.h"
#include "store/text/recipe/statement.h"

int recipe_new(struct recipe **out)
{
	struct recipe *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->source = (struct recipe_source){ .delimiter = RECIPE_ITS_OWN,
					    .quote = '"',
					    .comment = RECIPE_NO_BYTE };
	return 0;
}

void recipe_free(struct recipe *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->count; i++)
		statement_release(&r->items[i]);
	free(r->items);
	fields_release(&r->fields);
	free(r);
}

static bool makes_cells(enum statement_kind kind)
{
	return kind == STATEMENT_SET || kind == STATEMENT_REST ||
	       kind == STATEMENT_ADD;
}

/* Numbers the groups of keys and cells anew. False if the last has no cells. */
static bool group(struct recipe *r)
{
	bool keyed = false, any = false, cells = false;
	size_t i, number = 0;

	for (i = 0; i < r->count; i++) {
		struct statement *s = &r->items[i];

		if (s->kind == STATEMENT_KEY) {
			if (keyed && cells) {
				number++;
				any = false;
			}
			keyed = true;
			cells = false;
		} else if (makes_cells(s->kind)) {
			cells = keyed;
			any = true;
		}
		s->group = number;
	}
	return any;
}

/* Takes the statement: in the place of the one that it replaces, so that a rest
 * stays with its row, or behind the others. */
static int keep(struct recipe *r, struct statement *s)
{
	struct statement *items;
	size_t i;

	for (i = 0; i < r->count; i++) {
		if (r->items[i].kind == s->kind &&
		    !statement_accumulates(s->kind)) {
			statement_release(&r->items[i]);
			r->items[i] = *s;
			return 0;
		}
	}
	items = realloc(r->items, (r->count + 1) * sizeof(*items));
	if (!items)
		return -ENOMEM;
	r->items = items;
	items[r->count++] = *s;
	return 0;
}

/* A line that was cut into words, if there are any. */
static int add_line(struct recipe *r, const struct line *l)
{
	enum statement_kind kind;
	struct statement s;
	int err;

	if (l->count == 0)
		return 0;
	if (!statement_kind(l->words[0].text, &kind))
		return line_wrong(l, &l->words[0], 0,
				  "unknown statement; there are key at set "
				  "rest add skip explode, and format header "
				  "delimiter quote comment bytes short zone");
	if (kind == STATEMENT_EXPLODE && r->exploded)
		return line_wrong(l, &l->words[0], 0,
				  "a recipe explodes once; what lies deeper "
				  "has to be taken apart before, by jq, say");
	r->exploded |= kind == STATEMENT_EXPLODE;
	err = statement_parse(r, l, kind, &s);
	if (!err)
		err = keep(r, &s);
	if (err < 0)
		statement_release(&s);
	return err;
}

int recipe_parse(struct recipe *r, struct bytes text, const char *name)
{
	struct line l = { .name = name };
	int err = 0;

	if (text.size > RECIPE_SIZE_MAX)
		return fail(ERR_bad_argument, "%s: a recipe has 64 KiB at most",
			    name);
	if (text.size > 0 && memchr(text.data, 0, text.size))
		return fail(ERR_bad_argument, "%s: a recipe is text", name);
	if (bytes_starts_with(text, BYTES_LITERAL("\xef\xbb\xbf")))
		text = bytes_after(text, 3);
	r->exploded = false;
	while (!err && text.size > 0) {
		const uint8_t *end = memchr(text.data, '\n', text.size);
		size_t size = end ? (size_t)(end - text.data) : text.size;

		l.number++;
		l.source = bytes_of(text.data, size);
		while (l.source.size > 0 &&
		       text.data[l.source.size - 1] == '\r')
			l.source.size--;
		err = line_split(&l);
		if (!err)
			err = add_line(r, &l);
		free(l.memory);
		text = bytes_after(text, end ? size + 1 : size);
	}
	/* Words replace what it says. */
	r->exploded = false;
	return err;
}

bool recipe_has_word(struct bytes word)
{
	enum statement_kind kind;

	return statement_kind(word, &kind);
}

/* Of a single byte, such as a blank, a # or a quote, where one is asked for:
 * the shell has taken its quotes away, so they are put around it again. */
static int quote_byte(struct bytes word, struct bytes rest, struct buf *line)
{
	enum statement_kind kind;

	if (rest.size != 1 || !statement_kind(word, &kind) ||
	    (kind != STATEMENT_DELIMITER && kind != STATEMENT_QUOTE &&
	     kind != STATEMENT_COMMENT))
		return buf_add_bytes(line, rest);
	return rest.data[0] == '\'' ? buf_add_string(line, "''''")
				    : buf_printf(line, "'%c'", rest.data[0]);
}

int recipe_add_word(struct recipe *r, const char *argument)
{
	const char *equals = strchr(argument, '=');
	struct buf text = BUF_INIT;
	struct line l = { .name = argument };
	struct bytes word;
	int err;

	assert(equals);
	word = bytes_of(argument, (size_t)(equals - argument));
	if (strlen(argument) > RECIPE_SIZE_MAX || strchr(argument, '\n'))
		return fail(ERR_bad_argument,
			    "%.*s: a statement is one line of 64 KiB at most",
			    (int)word.size, word.data);
	err = buf_add_bytes(&text, word);
	if (!err)
		err = buf_add_byte(&text, ' ');
	if (!err)
		err = quote_byte(word, bytes_string(equals + 1), &text);
	l.source = buf_bytes(&text);
	if (!err)
		err = line_split(&l);
	if (!err)
		err = add_line(r, &l);
	free(l.memory);
	buf_release(&text);
	return err;
}

const struct statement *recipe_find(const struct recipe *r,
				    enum statement_kind kind)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (r->items[i].kind == kind)
			return &r->items[i];
	return NULL;
}

bool recipe_has_key(const struct recipe *r)
{
	return recipe_find(r, STATEMENT_KEY);
}

bool recipe_fixed_key(const struct recipe *r, struct bytes *key)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (r->items[i].kind == STATEMENT_KEY &&
		    template_is_text(&r->items[i].name, key))
			return true;
	return false;
}

/* Whether both set one column of one row in each record; one whose value may be
 * absent may stand in for another. */
static bool set_the_same(const struct statement *a, const struct statement *b)
{
	struct bytes name, other, value;

	return a->kind == STATEMENT_SET && b->kind == STATEMENT_SET &&
	       a->group == b->group && bytes_equal(a->family, b->family) &&
	       template_is_text(&a->name, &name) &&
	       template_is_text(&b->name, &other) && bytes_equal(name, other) &&
	       template_is_text(&a->value, &value) &&
	       template_is_text(&b->value, &value);
}

static int check_columns(const struct recipe *r)
{
	size_t i, k;

	for (i = 0; i < r->count; i++)
		for (k = 0; k < i; k++)
			if (set_the_same(&r->items[i], &r->items[k]))
				return fail(ERR_bad_argument,
					    "the recipe sets a column twice: "
					    "\"%.*s\" and \"%.*s\"",
					    (int)r->items[k].source_size,
					    (char *)r->items[k].source,
					    (int)r->items[i].source_size,
					    (char *)r->items[i].source);
	return 0;
}

/* Also by a statement that was replaced. */
static bool names_member(const struct recipe *r)
{
	size_t i = 0;

	while (i < r->fields.count && r->fields.items[i].kind != FIELD_MEMBER)
		i++;
	return i < r->fields.count;
}

int recipe_check(struct recipe *r)
{
	if (!recipe_has_key(r))
		return fail(ERR_bad_argument,
			    "the recipe has no key: key='{FIELD}' says which "
			    "row a record becomes");
	if (!group(r))
		return fail(ERR_bad_argument,
			    "the recipe's last key makes a row without cells: "
			    "set, rest or add has to follow it");
	if (!recipe_find(r, STATEMENT_EXPLODE) && names_member(r))
		return fail(ERR_bad_argument,
			    "{$name} is of what explode takes apart, which the "
			    "recipe does not say");
	if (r->source.format == RECIPE_TSV &&
	    r->source.delimiter != RECIPE_ITS_OWN &&
	    r->source.delimiter != '\t')
		return fail(ERR_bad_argument,
			    "TSV is parted by tabs; where another delimiter "
			    "does, say format csv");
	return check_columns(r);
}

const struct recipe_source *recipe_source(const struct recipe *r)
{
	return &r->source;
}

int recipe_print(const struct recipe *r, struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < r->count; i++) {
		err = buf_add(out, r->items[i].source, r->items[i].source_size);
		if (!err)
			err = buf_add_byte(out, '\n');
	}
	return err;
}

bool recipe_family(const struct recipe *r, size_t index, struct bytes *family,
		   bool *aggregate)
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		if (!makes_cells(r->items[i].kind) || index-- > 0)
			continue;
		*family = r->items[i].family;
		*aggregate = r->items[i].kind == STATEMENT_ADD;
		return true;
	}
	return false;
}
