#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/template.h"

/* A word that is being parsed. The copy is written over from the front as
 * braces and quotes are undoubled, never beyond what was read. */
struct parsing {
	const struct line *l;
	const struct word *w;
	struct fields *fields;
	struct template *t;
	struct bytes in; /* t->memory */
	size_t at;       /* in it, and in the word */
};

void template_release(struct template *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		free(t->pieces[i].calls);
	free(t->pieces);
	free(t->memory);
	*t = (struct template){ 0 };
}

static int wrong(const struct parsing *p, const char *message)
{
	return line_wrong(p->l, p->w, p->at, message);
}

static bool next_is(const struct parsing *p, uint8_t byte)
{
	return p->at < p->in.size && p->in.data[p->at] == byte;
}

static struct piece *add_piece(struct parsing *p)
{
	struct template *t = p->t;
	struct piece *pieces =
		realloc(t->pieces, (t->count + 1) * sizeof(*pieces));

	if (!pieces)
		return NULL;
	t->pieces = pieces;
	pieces[t->count] = (struct piece){ 0 };
	return &pieces[t->count++];
}

/* Text up to a field or the end. */
static int parse_text(struct parsing *p)
{
	uint8_t *out = p->t->memory + p->at;
	struct piece *piece = add_piece(p);
	size_t size = 0;

	if (!piece)
		return -ENOMEM;
	piece->text = bytes_of(out, 0);
	for (; p->at < p->in.size; p->at++) {
		uint8_t c = p->in.data[p->at];

		if (c == '{' || c == '}') {
			bool doubled = p->at + 1 < p->in.size &&
				       p->in.data[p->at + 1] == c;

			if (!doubled && c == '{')
				break;
			if (!doubled)
				return wrong(p, "a } without a {; a literal "
						"one is }}");
			p->at++;
		}
		out[size++] = c;
	}
	piece->text.size = size;
	return 0;
}

/* "..." with quotes doubled inside of it. */
static int parse_quoted(struct parsing *p, struct bytes *out)
{
	size_t begin = p->at++, size = 0;
	uint8_t *text = p->t->memory + p->at;

	for (; p->at < p->in.size; p->at++) {
		if (p->in.data[p->at] == '"') {
			p->at++;
			if (!next_is(p, '"')) {
				*out = bytes_of(text, size);
				return 0;
			}
		}
		text[size++] = p->in.data[p->at];
	}
	p->at = begin;
	return wrong(p, "a \" without the one that ends it");
}

/* Behind a function's "(": its arguments and the ")". */
static int parse_arguments(struct parsing *p, struct bytes *arguments,
			   unsigned int *count)
{
	int err = 0;

	if (next_is(p, ')')) {
		p->at++;
		return 0;
	}
	while (!err) {
		struct bytes *argument = &arguments[*count];
		size_t begin = p->at;

		if (*count == FUNCTION_ARGUMENTS_MAX)
			return wrong(p, "no function has so many arguments");
		++*count;
		if (next_is(p, '"')) {
			err = parse_quoted(p, argument);
			if (err < 0)
				return err;
		} else {
			while (p->at < p->in.size && !next_is(p, ',') &&
			       !next_is(p, ')'))
				p->at++;
			*argument = bytes_of(p->in.data + begin, p->at - begin);
		}
		if (next_is(p, ')')) {
			p->at++;
			return 0;
		}
		if (!next_is(p, ','))
			return wrong(p, "here , or ) has to follow");
		p->at++;
	}
	return err;
}

/* What a function takes must be what the one before it gives. */
static int check_chain(struct parsing *p, const struct call *call,
		       enum value_type before)
{
	struct buf message = BUF_INIT;
	int err;

	if (function_takes(call) == before)
		return 0;
	if (before == VALUE_TEXT)
		err = buf_printf(&message,
				 "%s takes a time, which time(...) makes of a "
				 "text",
				 function_name(call));
	else
		err = buf_printf(&message,
				 "%s takes a text, which date(...), "
				 "reverse_time or unix_us makes of a time",
				 function_name(call));
	if (!err)
		err = buf_terminate(&message);
	if (!err)
		err = wrong(p, (char *)message.data);
	buf_release(&message);
	return err;
}

/* Behind a "|": a function. *type is what the value is before and after it. */
static int parse_call(struct parsing *p, struct piece *piece,
		      enum value_type *type)
{
	struct bytes arguments[FUNCTION_ARGUMENTS_MAX] = { 0 }, name;
	struct call *calls =
		realloc(piece->calls, (piece->call_count + 1) * sizeof(*calls));
	unsigned int count = 0;
	size_t begin = p->at;
	struct call *call;
	int err = 0;

	if (!calls)
		return -ENOMEM;
	piece->calls = calls;
	call = &calls[piece->call_count];
	while (p->at < p->in.size && !strchr("|(){},\" ", p->in.data[p->at]))
		p->at++;
	name = bytes_of(p->in.data + begin, p->at - begin);
	if (next_is(p, '(')) {
		p->at++;
		err = parse_arguments(p, arguments, &count);
	}
	if (err < 0)
		return err;
	err = function_bind(name, arguments, count, call);
	if (err == -ERR_bad_argument)
		return line_wrong(p->l, p->w, begin, err_detail());
	if (!err)
		err = check_chain(p, call, *type);
	if (err < 0)
		return err;
	piece->call_count++;
	piece->any |= function_is_any(call);
	piece->has_default |= function_is_default(call);
	*type = function_gives(call);
	return 0;
}

/* Behind a "{". */
static int parse_field(struct parsing *p, enum value_type gives)
{
	struct piece *piece = add_piece(p);
	enum value_type type = VALUE_TEXT;
	size_t begin = p->at, size;
	int err;

	if (!piece)
		return -ENOMEM;
	piece->is_field = true;
	err = fields_take(p->fields, bytes_after(p->in, p->at), &piece->field,
			  &size);
	if (err == -ERR_bad_argument)
		return wrong(p, err_detail());
	if (err < 0)
		return err;
	p->at += size;
	while (!err && next_is(p, '|')) {
		p->at++;
		err = parse_call(p, piece, &type);
	}
	if (err < 0)
		return err;
	if (!next_is(p, '}'))
		return wrong(p, "here | or } has to follow; a name with a "
				"blank or one of | { } ( ) , stands in "
				"\"...\"");
	p->at++;
	if (type == VALUE_TEXT || gives == VALUE_TIME)
		return 0;
	p->at = begin;
	return wrong(p, "a time is no text: add date(...), reverse_time or "
			"unix_us");
}

static bool is_time(const struct piece *p)
{
	return p->call_count > 0 &&
	       function_gives(&p->calls[p->call_count - 1]) == VALUE_TIME;
}

bool template_is_time(const struct template *t)
{
	return t->count == 1 && is_time(t->pieces);
}

/* What is to make a moment: a time alone, or several pieces that are none. */
static int check_time(struct parsing *p)
{
	const struct template *t = p->t;
	bool has_field = false, has_time = false;
	size_t i;

	for (i = 0; i < t->count; i++) {
		has_field |= t->pieces[i].is_field;
		has_time |= is_time(&t->pieces[i]);
	}
	p->at = 0;
	if (!has_field)
		return wrong(p, "a time is of a field, as {when|time}");
	if (!has_time && t->count == 1) {
		p->at = 1;
		return wrong(p, "a time is needed here, which time(...) makes, "
				"as {when|time}; of several fields one is "
				"joined, as {date}T{time}");
	}
	if (has_time && t->count > 1)
		return wrong(p, "a time stands alone, as {when|time}; what is "
				"joined are texts, as {date}T{time}");
	return 0;
}

int template_parse(const struct line *l, const struct word *w,
		   enum value_type gives, struct fields *fields,
		   struct template *t)
{
	struct parsing p = { .l = l, .w = w, .fields = fields, .t = t };
	int err = 0;

	*t = (struct template){ 0 };
	t->memory = malloc(w->text.size + 1);
	if (!t->memory)
		return -ENOMEM;
	if (w->text.size > 0)
		memcpy(t->memory, w->text.data, w->text.size);
	p.in = bytes_of(t->memory, w->text.size);
	while (!err && p.at < p.in.size) {
		bool doubled =
			p.at + 1 < p.in.size && p.in.data[p.at + 1] == '{';

		if (p.in.data[p.at] == '{' && !doubled) {
			p.at++;
			err = parse_field(&p, gives);
		} else {
			err = parse_text(&p);
		}
	}
	return err < 0 || gives == VALUE_TEXT ? err : check_time(&p);
}

bool template_is_text(const struct template *t, struct bytes *text)
{
	if (t->count > 1 || (t->count == 1 && t->pieces[0].is_field))
		return false;
	*text = t->count ? t->pieces[0].text : BYTES_NONE;
	return true;
}
