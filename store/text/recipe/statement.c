#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/statement.h"
#include "store/text/function/time_format.h"

void statement_release(struct statement *s)
{
	free(s->source);
	free(s->memory);
	template_release(&s->name);
	template_release(&s->value);
	template_release(&s->time);
	condition_release(&s->condition);
	*s = (struct statement){ 0 };
}

/* What has to stand where a word is missing. */
static int missing(const struct line *l, const char *what)
{
	return line_wrong_at(l, (uint32_t)l->source.size + 1, what);
}

/* From index on, nothing may follow. */
static int end_of(const struct line *l, unsigned int index)
{
	if (l->count <= index)
		return 0;
	return line_wrong(l, &l->words[index], 0,
			  "one word too many; '...' keeps blanks");
}

/* FAMILY:QUALIFIER, of which the family is literal. */
static int parse_column(struct recipe *r, const struct line *l,
			struct statement *s)
{
	struct piece *first;
	const uint8_t *colon;
	int err;

	if (l->count < 2)
		return missing(l, "here FAMILY:QUALIFIER has to follow");
	err = template_parse(l, &l->words[1], VALUE_TEXT, &r->fields, &s->name);
	if (err < 0)
		return err;
	first = s->name.pieces;
	if (s->name.count == 0 || first->is_field)
		return line_wrong(l, &l->words[1], 0,
				  "a family is literal: FAMILY:QUALIFIER");
	colon = memchr(first->text.data, ':', first->text.size);
	if (!colon || colon == first->text.data)
		return line_wrong(l, &l->words[1], 0,
				  "the family is missing: FAMILY:QUALIFIER");
	s->family =
		bytes_of(first->text.data, (size_t)(colon - first->text.data));
	first->text = bytes_after(first->text, s->family.size + 1);
	return 0;
}

static int parse_template(struct recipe *r, const struct line *l,
			  unsigned int index, enum value_type gives,
			  const char *what, struct template *t)
{
	if (l->count <= index)
		return missing(l, what);
	return template_parse(l, &l->words[index], gives, &r->fields, t);
}

static int parse_key(struct recipe *r, const struct line *l,
		     struct statement *s)
{
	int err = parse_template(r, l, 1, VALUE_TEXT,
				 "here the row key has to follow", &s->name);

	if (!err && s->name.count == 0)
		return line_wrong(l, &l->words[1], 0, "a row key is not empty");
	return err < 0 ? err : end_of(l, 2);
}

static int parse_at(struct recipe *r, const struct line *l, struct statement *s)
{
	int err = parse_template(r, l, 1, VALUE_TIME,
				 "here a time has to follow, as {when|time}",
				 &s->name);

	return err < 0 ? err : end_of(l, 2);
}

static int parse_set(struct recipe *r, const struct line *l,
		     struct statement *s)
{
	int err = parse_column(r, l, s);

	if (!err)
		err = parse_template(r, l, 2, VALUE_TEXT,
				     "here the value has to follow; an empty "
				     "one is ''",
				     &s->value);
	return err < 0 ? err : end_of(l, 3);
}

/* F:Q N, or F:Q N at TIME. */
static int parse_add(struct recipe *r, const struct line *l,
		     struct statement *s)
{
	struct bytes number;
	int64_t n;
	int err = parse_column(r, l, s);

	if (!err)
		err = parse_template(r, l, 2, VALUE_TEXT,
				     "here a number has to follow", &s->value);
	if (!err && template_is_text(&s->value, &number) &&
	    !function_integer(number, &n))
		return line_wrong(l, &l->words[2], 0,
				  "what is added is a 64-bit integer");
	if (err < 0 || l->count == 3)
		return err;
	if (!bytes_equal(l->words[3].text, BYTES_LITERAL("at")))
		return line_wrong(l, &l->words[3], 0,
				  "here only at and a time can follow");
	err = parse_template(r, l, 4, VALUE_TIME,
			     "here a time has to follow, as {when|time}",
			     &s->time);
	return err < 0 ? err : end_of(l, 5);
}

static int parse_rest(struct recipe *r, const struct line *l,
		      struct statement *s)
{
	struct bytes family;

	(void)r;
	if (l->count < 2)
		return missing(l, "here a family has to follow");
	family = l->words[1].text;
	if (family.size == 0 || strchr("{:", family.data[0]) ||
	    memchr(family.data, '{', family.size) ||
	    memchr(family.data, ':', family.size))
		return line_wrong(l, &l->words[1], 0,
				  "here a family's name alone has to stand");
	s->memory = malloc(family.size);
	if (!s->memory)
		return -ENOMEM;
	memcpy(s->memory, family.data, family.size);
	s->family = bytes_of(s->memory, family.size);
	return end_of(l, 2);
}

static int parse_skip(struct recipe *r, const struct line *l,
		      struct statement *s)
{
	return condition_parse(l, 1, &r->fields, &s->condition);
}

/* Its field is no column: JSON alone has arrays and objects. All of a record is
 * the text of a dot. */
static int parse_explode(struct recipe *r, const struct line *l,
			 struct statement *s)
{
	int err = parse_template(r, l, 1, VALUE_TEXT,
				 "here a field has to follow, as {items}",
				 &s->name);
	const struct piece *p = s->name.pieces;
	struct bytes text;

	if (err < 0)
		return err;
	if (template_is_text(&s->name, &text) &&
	    bytes_equal(text, BYTES_LITERAL(".")))
		return end_of(l, 2);
	if (s->name.count != 1 || !p->is_field || p->call_count > 0 ||
	    r->fields.items[p->field].kind != FIELD_NAME)
		return line_wrong(l, &l->words[1], 0,
				  "here one field by its name has to stand, as "
				  "{items}, or . for all of a record");
	return end_of(l, 2);
}

/* One of the words, which are ended by NULL: its index. -ERR_bad_argument with
 * the message. */
static int parse_choice(const struct line *l, const char *const *words,
			const char *message, int *out)
{
	if (l->count < 2)
		return missing(l, message);
	for (*out = 0; words[*out]; ++*out)
		if (bytes_equal(bytes_string(words[*out]), l->words[1].text))
			return end_of(l, 2);
	return line_wrong(l, &l->words[1], 0, message);
}

static int parse_format(struct recipe *r, const struct line *l,
			struct statement *s)
{
	/* In the order of enum recipe_format. */
	static const char *const words[] = { "csv",  "tsv",      "jsonl",
					     "json", "dynamodb", "control",
					     NULL };
	int i, err = parse_choice(l, words,
				  "here csv, tsv, jsonl, json, dynamodb or "
				  "control has to follow",
				  &i);

	(void)s;
	if (!err)
		r->source.format = (enum recipe_format)(RECIPE_CSV + i);
	return err;
}

static int parse_header(struct recipe *r, const struct line *l,
			struct statement *s)
{
	static const char *const words[] = { "yes", "no", NULL };
	struct bytes prefix = BYTES_LITERAL("names:"), names;
	int i, err;

	if (l->count != 2 || !bytes_starts_with(l->words[1].text, prefix)) {
		err = parse_choice(l, words,
				   "here yes, no or names:a,b has to follow",
				   &i);
		if (!err)
			r->source.header = (enum recipe_header)i;
		return err;
	}
	names = bytes_after(l->words[1].text, prefix.size);
	s->memory = malloc(names.size + 1);
	if (!s->memory)
		return -ENOMEM;
	if (names.size == 0)
		return line_wrong(l, &l->words[1], prefix.size,
				  "here names have to follow");
	memcpy(s->memory, names.data, names.size);
	r->source.names = bytes_of(s->memory, names.size);
	r->source.header = RECIPE_NAMES;
	return 0;
}

/* One byte, \t, or the word none. */
static int parse_byte(const struct line *l, int *out)
{
	struct bytes text = l->count == 2 ? l->words[1].text : BYTES_NONE;

	if (bytes_equal(text, BYTES_LITERAL("none")))
		*out = RECIPE_NO_BYTE;
	else if (bytes_equal(text, BYTES_LITERAL("\\t")))
		*out = '\t';
	else if (text.size == 1 && text.data[0] != '\n')
		*out = text.data[0];
	else
		return line_wrong_at(l,
				     l->count > 1 ? l->words[1].columns[0]
						  : (uint32_t)l->source.size,
				     "here one byte has to stand, or \\t, or "
				     "none; a quote is '''', a # is '#'");
	return 0;
}

static int parse_character(struct recipe *r, const struct line *l,
			   struct statement *s)
{
	if (s->kind == STATEMENT_DELIMITER)
		return parse_byte(l, &r->source.delimiter);
	return parse_byte(l, s->kind == STATEMENT_QUOTE ? &r->source.quote
							: &r->source.comment);
}

static int parse_bytes(struct recipe *r, const struct line *l,
		       struct statement *s)
{
	static const char *const words[] = { "plain", "base64", NULL };
	int i, err = parse_choice(l, words,
				  "here base64 or plain has to follow", &i);

	(void)s;
	if (!err)
		r->source.base64 = i == 1;
	return err;
}

static int parse_short(struct recipe *r, const struct line *l,
		       struct statement *s)
{
	static const char *const words[] = { "refuse", "absent", NULL };
	int i, err = parse_choice(l, words,
				  "here refuse or absent has to follow", &i);

	(void)s;
	if (!err)
		r->source.short_absent = i == 1;
	return err;
}

static int parse_zone(struct recipe *r, const struct line *l,
		      struct statement *s)
{
	int err;

	(void)s;
	if (l->count < 2)
		return missing(l, "here a zone has to follow, as +02:00");
	err = time_zone_parse(l->words[1].text, &r->source.zone_s);
	if (err < 0)
		return line_wrong(l, &l->words[1], 0, err_detail());
	return end_of(l, 2);
}

/* In the order of enum statement_kind. */
static const struct {
	const char *name;
	bool accumulates;
	int (*parse)(struct recipe *r, const struct line *l,
		     struct statement *s);
} kinds[] = {
	{ "key", true, parse_key },
	{ "at", false, parse_at },
	{ "set", true, parse_set },
	{ "rest", false, parse_rest },
	{ "add", true, parse_add },
	{ "skip", true, parse_skip },
	{ "explode", false, parse_explode },
	{ "format", false, parse_format },
	{ "header", false, parse_header },
	{ "delimiter", false, parse_character },
	{ "quote", false, parse_character },
	{ "comment", false, parse_character },
	{ "bytes", false, parse_bytes },
	{ "zone", false, parse_zone },
	{ "short", false, parse_short },
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == STATEMENT_SHORT + 1,
	       "a kind for each");

bool statement_kind(struct bytes word, enum statement_kind *kind)
{
	int i;

	for (i = 0; i <= STATEMENT_SHORT; i++) {
		if (bytes_equal(word, bytes_string(kinds[i].name))) {
			*kind = (enum statement_kind)i;
			return true;
		}
	}
	return false;
}

bool statement_accumulates(enum statement_kind kind)
{
	return kinds[kind].accumulates;
}

int statement_parse(struct recipe *r, const struct line *l,
		    enum statement_kind kind, struct statement *s)
{
	*s = (struct statement){ .kind = kind };
	s->source = malloc(l->source.size + 1);
	if (!s->source)
		return -ENOMEM;
	memcpy(s->source, l->source.data, l->source.size);
	s->source_size = l->source.size;
	return kinds[kind].parse(r, l, s);
}
