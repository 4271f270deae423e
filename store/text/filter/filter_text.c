#include <assert.h>
#include <stdlib.h>

#include "store/text/filter/filter_text.h"

/*
 * A filter as an expression: a name, and in parentheses what it takes, by
 * recursive descent over the bytes; filter_text.h has the list of names, and
 * kinds[] what each of them takes. Trees are built from the leaves up by the
 * constructors of store/filter.h, which also check what the arguments mean.
 *
 * Functions named take_* move p->rest past what they took and any space before
 * it. Those that return int give 0 or a negative error, after which p->rest is
 * where the message points to.
 */
/* Of numbers, and of a name in a message; every name is shorter. */
#define NAME_MAX_SIZE 32

/* What is left of the text, rest, and all of it, for a message that tells how
 * far it was read. */
struct parser {
	struct bytes all, rest;
	unsigned int depth; /* parentheses that are open */
};

/* -ERR_bad_argument at the byte that comes next, from 1. */
static int wrong(const struct parser *p, const char *what)
{
	return fail(ERR_bad_argument, "filter, at byte %zu: %s",
		    p->all.size - p->rest.size + 1, what);
}

/* Blank, tab, newline and their like; no locale is asked. */
static void skip_space(struct parser *p)
{
	while (p->rest.size > 0 &&
	       (p->rest.data[0] == ' ' ||
		(p->rest.data[0] >= '\t' && p->rest.data[0] <= '\r')))
		p->rest = bytes_after(p->rest, 1);
}

/* False, and only space is taken, if the next character is another. */
static bool take_char(struct parser *p, char c)
{
	skip_space(p);
	if (p->rest.size == 0 || p->rest.data[0] != (uint8_t)c)
		return false;
	p->rest = bytes_after(p->rest, 1);
	return true;
}

static int must_take(struct parser *p, char c)
{
	return take_char(p, c) ? 0
			       : fail(ERR_bad_argument,
				      "filter, at byte %zu: a %c is missing",
				      p->all.size - p->rest.size + 1, c);
}

/* A word of a-z and _, empty if there is none. */
static struct bytes take_word(struct parser *p)
{
	struct bytes word;
	size_t n = 0;

	skip_space(p);
	while (n < p->rest.size &&
	       ((p->rest.data[n] >= 'a' && p->rest.data[n] <= 'z') ||
		p->rest.data[n] == '_'))
		n++;
	word = bytes_of(p->rest.data, n);
	p->rest = bytes_after(p->rest, n);
	return word;
}

/* Digits, dots and signs, as a C string of size bytes at most. What is longer
 * is cut and leaves digits behind, which are then wrong; whether it makes a
 * number is for the caller to see. */
static int take_number(struct parser *p, char *out, size_t size)
{
	size_t n = 0;

	skip_space(p);
	while (n < p->rest.size && n + 1 < size &&
	       (memchr("0123456789+-.", p->rest.data[n], 13)))
		n++;
	if (n == 0)
		return wrong(p, "a number is missing");
	memcpy(out, p->rest.data, n);
	out[n] = 0;
	p->rest = bytes_after(p->rest, n);
	return 0;
}

/* Decimal, with a sign; what does not fit 64 bits is no integer. */
static int take_integer(struct parser *p, int64_t *out)
{
	char text[NAME_MAX_SIZE], *end;
	int err = take_number(p, text, sizeof(text));

	if (err < 0)
		return err;
	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno || *end ? wrong(p, "what is before is no integer") : 0;
}

/* For probabilities. The program never calls setlocale, so the point is a
 * point. */
static int take_fraction(struct parser *p, double *out)
{
	char text[NAME_MAX_SIZE], *end;
	int err = take_number(p, text, sizeof(text));

	if (err < 0)
		return err;
	*out = strtod(text, &end);
	return *end ? wrong(p, "what is before is no number") : 0;
}

/* -1 if it is none. */
static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* After x': pairs of digits and the closing quote. */
static int take_hex(struct parser *p, struct buf *out)
{
	int high, low, err = 0;

	while (err == 0 && p->rest.size >= 2 && p->rest.data[0] != '\'') {
		high = hex_digit(p->rest.data[0]);
		low = hex_digit(p->rest.data[1]);
		if (high < 0 || low < 0)
			return wrong(p, "no pair of hexadecimal digits");
		err = buf_add_byte(out, (uint8_t)(high << 4 | low));
		p->rest = bytes_after(p->rest, 2);
	}
	return err < 0 ? err : must_take(p, '\'');
}

/* 'bytes' or "bytes", in which the quote doubled is one, and all else itself;
 * x'00ff' by hexadecimal digits. Replaces the content of out. */
static int take_string(struct parser *p, struct buf *out)
{
	uint8_t quote;
	int err = 0;

	buf_reset(out);
	skip_space(p);
	if (p->rest.size >= 2 && memcmp(p->rest.data, "x'", 2) == 0) {
		p->rest = bytes_after(p->rest, 2);
		return take_hex(p, out);
	}
	if (p->rest.size == 0 ||
	    (p->rest.data[0] != '\'' && p->rest.data[0] != '"'))
		return wrong(p, "a string in quotes is missing");
	quote = p->rest.data[0];
	p->rest = bytes_after(p->rest, 1);
	while (err == 0 && p->rest.size > 0) {
		uint8_t c = p->rest.data[0];

		p->rest = bytes_after(p->rest, 1);
		/* A quote ends it, unless another follows at once. */
		if (c == quote) {
			if (p->rest.size == 0 || p->rest.data[0] != quote)
				return 0;
			p->rest = bytes_after(p->rest, 1);
		}
		err = buf_add_byte(out, c);
	}
	return err < 0 ? err : wrong(p, "the closing quote is missing");
}

/* Bounds: > >= < <= and a string, after commas, each side once at most; first
 * says that no comma comes before the first of them. Ends before the closing
 * parenthesis. range borrows from start and end, and only at the end, since
 * they may move while they grow. */
static int take_bounds(struct parser *p, bool first, struct buf *start,
		       struct buf *end, struct filter_range *range)
{
	int err = 0;

	for (; err == 0; first = false) {
		bool lower, equal;

		skip_space(p);
		if (p->rest.size == 0 || p->rest.data[0] == ')')
			break;
		if (!first && !take_char(p, ','))
			return wrong(p, "a , is missing");
		lower = take_char(p, '>');
		if (!lower && !take_char(p, '<'))
			return wrong(p, "a bound begins with > >= < or <=");
		/* The sign and its = belong together, without space. */
		equal = p->rest.size > 0 && p->rest.data[0] == '=';
		if (equal)
			p->rest = bytes_after(p->rest, 1);
		if (lower ? range->has_start : range->has_end)
			return wrong(p, "a second bound of the same side");
		err = take_string(p, lower ? start : end);
		if (lower) {
			range->has_start = true;
			range->start_open = !equal;
		} else {
			range->has_end = true;
			range->end_closed = equal;
		}
	}
	range->start = buf_bytes(start);
	range->end = buf_bytes(end);
	return err;
}

/* column_range, which begins with a family's name, or value_range. The
 * constructors copy what they keep of the bytes. */
static int take_range(struct parser *p, bool has_family, struct filter **out)
{
	struct buf family = BUF_INIT, start = BUF_INIT, end = BUF_INIT;
	struct filter_range range = { .has_start = false };
	int err = has_family ? take_string(p, &family) : 0;

	if (err == 0)
		err = take_bounds(p, !has_family, &start, &end, &range);
	if (err == 0)
		err = has_family ? filter_new_columns(buf_bytes(&family),
						      &range, out)
				 : filter_new_values(&range, out);
	buf_release(&family);
	buf_release(&start);
	buf_release(&end);
	return err;
}

static int take_columns(struct parser *p, struct filter **out)
{
	return take_range(p, true, out);
}

static int take_values(struct parser *p, struct filter **out)
{
	return take_range(p, false, out);
}

/* timestamp_range: a "to" that is missing is 0, which is unbounded. */
static int take_timestamps(struct parser *p, struct filter **out)
{
	int64_t from = 0, to = 0;
	int err = take_integer(p, &from);

	if (err == 0 && take_char(p, ','))
		err = take_integer(p, &to);
	if (err == 0 && (from < 0 || to < 0))
		err = wrong(p, "a timestamp below 0");
	return err < 0 ? err
		       : filter_new_timestamps((uint64_t)from, (uint64_t)to,
					       out);
}

/* row_sample: the constructor judges the range of the number. */
static int take_sample(struct parser *p, struct filter **out)
{
	double probability;
	int err = take_fraction(p, &probability);

	return err < 0 ? err : filter_new_sample(probability, out);
}

static int take_filter(struct parser *p, struct filter **out);

/* Filters, separated by commas, appended to *parts. The array is the caller's
 * to free, and the *count filters in it too after an error. */
static int take_filters(struct parser *p, struct filter ***parts, size_t *count)
{
	struct filter **grown;
	int err;

	do {
		if (*count == FILTER_PARTS_MAX)
			return wrong(p, "too many filters in one");
		/* By one: the constructors take a thousand at most. */
		grown = realloc(*parts, (*count + 1) * sizeof(struct filter *));
		if (!grown)
			return -ENOMEM;
		*parts = grown;
		err = take_filter(p, &grown[*count]);
		if (err < 0)
			return err;
		++*count;
	} while (take_char(p, ','));
	return 0;
}

/* Makes one filter of several, which it owns from then on, also on failure; the
 * array stays the caller's. */
typedef int compose(struct filter *const *parts, size_t count,
		    struct filter **out);

/* Of a condition: the predicate and one or two filters. */
static int new_condition(struct filter *const *parts, size_t count,
			 struct filter **out)
{
	if (count == 2 || count == 3)
		return filter_new_condition(parts[0], parts[1],
					    count == 3 ? parts[2] : NULL, out);
	while (count > 0)
		filter_free(parts[--count]);
	return fail(ERR_bad_argument,
		    "filter: condition takes a predicate, a filter if it "
		    "holds, and perhaps one if not");
}

/* The arguments of a filter made of others. */
static int take_composed(struct parser *p, compose *make, struct filter **out)
{
	struct filter **parts = NULL;
	size_t count = 0;
	int err = take_filters(p, &parts, &count);

	if (err == 0)
		err = make(parts, count, out);
	else
		while (count > 0)
			filter_free(parts[--count]);
	free(parts);
	return err;
}

/* How a filter is made of what is between its parentheses, if it has any:
 * exactly one of the functions is set. of_rest takes it apart itself. */
struct kind {
	const char *name;
	int (*plain)(struct filter **out);
	int (*of_string)(struct bytes text, struct filter **out);
	int (*of_number)(int64_t n, struct filter **out);
	int (*of_rest)(struct parser *p, struct filter **out);
	compose *of_filters;
};

/* Every filter of filter_text.h. What of_number and of_string take is checked
 * by the constructor: a limit below 1, a label too long. */
static const struct kind kinds[] = {
	{ "pass_all", .plain = filter_new_pass },
	{ "block_all", .plain = filter_new_block },
	{ "sink", .plain = filter_new_sink },
	{ "strip_value", .plain = filter_new_strip },
	{ "row_key_regex", .of_string = filter_new_row },
	{ "family_name_regex", .of_string = filter_new_family },
	{ "column_qualifier_regex", .of_string = filter_new_qualifier },
	{ "value_regex", .of_string = filter_new_value },
	{ "value_bitmask", .of_string = filter_new_bitmask },
	{ "apply_label", .of_string = filter_new_label },
	{ "cells_per_row_limit", .of_number = filter_new_row_limit },
	{ "cells_per_row_offset", .of_number = filter_new_row_offset },
	{ "cells_per_column_limit", .of_number = filter_new_column_limit },
	{ "column_range", .of_rest = take_columns },
	{ "value_range", .of_rest = take_values },
	{ "timestamp_range", .of_rest = take_timestamps },
	{ "row_sample", .of_rest = take_sample },
	{ "chain", .of_filters = filter_new_chain },
	{ "interleave", .of_filters = filter_new_interleave },
	{ "condition", .of_filters = new_condition },
};

/* NULL if there is none of this name. */
static const struct kind *find_kind(struct bytes name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (bytes_equal(name, bytes_string(kinds[i].name)))
			return &kinds[i];
	return NULL;
}

/* There is no filter of this name. */
static int unknown(struct bytes name)
{
	size_t i, size = name.size < NAME_MAX_SIZE ? name.size : NAME_MAX_SIZE;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (bytes_starts_with(bytes_string(kinds[i].name), name))
			return fail(ERR_bad_argument,
				    "filter: there is none with the name %.*s; "
				    "did you mean %s?",
				    (int)size, (const char *)name.data,
				    kinds[i].name);
	return fail(ERR_bad_argument,
		    "filter: there is none with the name %.*s", (int)size,
		    (const char *)name.data);
}

/* What is between the parentheses, by the kind that has any. */
static int take_arguments(struct parser *p, const struct kind *kind,
			  struct filter **out)
{
	struct buf text = BUF_INIT;
	int64_t number;
	int err;

	if (kind->of_filters)
		return take_composed(p, kind->of_filters, out);
	if (kind->of_rest)
		return kind->of_rest(p, out);
	if (kind->of_number) {
		err = take_integer(p, &number);
		return err < 0 ? err : kind->of_number(number, out);
	}
	assert(kind->of_string);
	err = take_string(p, &text);
	if (err == 0)
		err = kind->of_string(buf_bytes(&text), out);
	buf_release(&text);
	return err;
}

/* One filter with all that is in it. The depth is checked here to bound the
 * recursion, and by the constructors to bound the tree, whose leaves with
 * arguments count for nothing there: hence one level more. *out is NULL after
 * an error. */
static int take_filter(struct parser *p, struct filter **out)
{
	struct bytes name = take_word(p);
	const struct kind *kind = find_kind(name);
	int err;

	*out = NULL;
	if (name.size == 0)
		return wrong(p, "the name of a filter is missing");
	if (!kind)
		return unknown(name);
	if (kind->plain)
		return kind->plain(out);
	if (p->depth > FILTER_DEPTH_MAX)
		return wrong(p, "filters are too deep in one another");
	err = must_take(p, '(');
	if (err < 0)
		return err;
	p->depth++;
	err = take_arguments(p, kind, out);
	assert(p->depth > 0);
	p->depth--;
	if (err == 0)
		err = must_take(p, ')');
	if (err < 0) {
		filter_free(*out);
		*out = NULL;
	}
	return err;
}

/* One filter and nothing behind it but space. */
int filter_parse(struct bytes text, struct filter **out)
{
	struct parser p = { .all = text, .rest = text };
	int err = take_filter(&p, out);

	skip_space(&p);
	if (err == 0 && p.rest.size > 0) {
		filter_free(*out);
		*out = NULL;
		err = wrong(&p, "the filter ends before this");
	}
	return err;
}
