#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/text/filter/filter_text.h"
#include "store/text/value/number.h"
#include "tools/data/page.h"
#include "tools/data/select.h"
#include "tools/data/select_rows.h"

/*
 * The words of read, lookup and count. Those that say rows are select_rows.c's;
 * of the others parse_cells makes filters, in the order that it shows. Messages
 * are cbt's.
 */
enum {
	START,
	AFTER,
	END,
	THROUGH,
	PREFIX,
	KEY,
	REGEX,
	REVERSED,
	COUNT,
	LIMIT,
	PAGE,
	COLUMNS,
	CELLS,
	KEYS_ONLY,
	STATS,
	EXPLAIN,
	APP_PROFILE,
	AUTHORIZED_VIEW,
	FORMAT_FILE,
	FILTER,
	AS_OF,
	FROM,
	TO,
	WORD_COUNT,
};

/* Bits of verbs. */
#define BY_READ (1u << SELECT_READ)
#define BY_LOOKUP (1u << SELECT_LOOKUP)
#define BY_COUNT (1u << SELECT_COUNT)
#define BY_ROWS (1u << SELECT_ROWS)
#define BY_DIFF (1u << SELECT_DIFF)
#define BY_RANGE (BY_READ | BY_COUNT | BY_ROWS | BY_DIFF)

/* Who knows which. Some are cbt's and refused or ignored here: a word that is
 * known can be told from a slip. */
static const struct word {
	const char *name;
	unsigned int verbs;
} words[] = {
	[START] = { "start", BY_RANGE },
	[AFTER] = { "after", BY_RANGE },
	[END] = { "end", BY_RANGE },
	[THROUGH] = { "through", BY_RANGE },
	[PREFIX] = { "prefix", BY_RANGE },
	[KEY] = { "key", BY_RANGE | BY_LOOKUP },
	[REGEX] = { "regex", BY_READ | BY_COUNT },
	[REVERSED] = { "reversed", BY_READ },
	[COUNT] = { "count", BY_READ },
	[LIMIT] = { "limit", BY_READ },
	[PAGE] = { "page", BY_READ },
	[COLUMNS] = { "columns", BY_READ | BY_LOOKUP },
	[CELLS] = { "cells-per-column", BY_READ | BY_LOOKUP },
	[KEYS_ONLY] = { "keys-only", BY_READ | BY_LOOKUP },
	[STATS] = { "include-stats", BY_READ | BY_LOOKUP },
	[EXPLAIN] = { "explain", BY_READ },
	[APP_PROFILE] = { "app-profile", BY_READ | BY_LOOKUP },
	[AUTHORIZED_VIEW] = { "authorized-view", BY_READ | BY_LOOKUP },
	[FORMAT_FILE] = { "format-file", BY_READ | BY_LOOKUP },
	[FILTER] = { "filter", BY_READ | BY_LOOKUP | BY_COUNT },
	[AS_OF] = { "as-of", BY_READ | BY_LOOKUP | BY_COUNT | BY_ROWS },
	[FROM] = { "from", BY_DIFF },
	[TO] = { "to", BY_DIFF },
};

static_assert(sizeof(words) / sizeof(words[0]) == WORD_COUNT,
	      "each word has its name");

/* Takes the words that the verb knows, without the one that parts ranges: 0, or
 * 1 after it said what is wrong. */
static int take_words(struct verb_call *c, enum select_verb verb, int first,
		      const char *values[WORD_COUNT])
{
	const char *keys[WORD_COUNT + 1] = { NULL };
	const char *taken[WORD_COUNT] = { NULL };
	struct verb_call part = *c; /* up to the next of those */
	size_t i, count = 0;

	for (i = 0; i < WORD_COUNT; i++)
		if (words[i].verbs & 1u << verb)
			keys[count++] = words[i].name;
	for (; first <= c->argc; first = part.argc + 1) {
		part.argc = first;
		while (part.argc < c->argc &&
		       (verb == SELECT_LOOKUP ||
			strcmp(c->argv[part.argc], SELECT_OR)))
			part.argc++;
		if (verb_arguments(&part, first, keys, taken))
			return 1;
	}
	for (i = 0, count = 0; i < WORD_COUNT; i++)
		values[i] = words[i].verbs & 1u << verb ? taken[count++] : NULL;
	return 0;
}

/* Go's ParseInt with its messages; what is asked for must fit an int64. what
 * names the argument, function is Go's; its Atoi takes decimal digits only. 0,
 * or 1 after it said what is wrong. */
static int parse_number(struct verb_call *c, const char *what,
			const char *function, const char *text, int64_t *out)
{
	const char *why = "invalid syntax";
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (strcmp(function, "Atoi")
		    ? int_parse_go(bytes_string(text), out)
		    : text[0] && !*end && text[0] != ' ' && !errno)
		return 0;
	if (errno == ERANGE)
		why = "value out of range";
	return verb_wrong(c, "Bad %s \"%s\": strconv.%s: parsing \"%s\": %s",
			  what, text, function, text, why);
}

/* An argument with an empty value is as if it were not there, as in cbt. */
static bool is_given(const char *value)
{
	return value && value[0];
}

/* Adds a filter: 0, or 1 after it said what is wrong. err is its
 * constructor's. */
static int add_filter(struct verb_call *c, struct select *s, int err,
		      struct filter *f)
{
	err = select_filter(s, err, f);
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

/* How many rows, in which order, and behind which of them; a summary. */
static int parse_limits(struct verb_call *c, const char *const *values,
			struct select_words *w)
{
	struct buf row = BUF_INIT;
	int64_t number;
	int err = 0;

	if (is_given(values[COUNT])) {
		if (parse_number(c, "count", "ParseInt", values[COUNT],
				 &number))
			return 1;
		if (number < 0)
			return verb_wrong(c,
					  "Reading rows: bigtable: row limit "
					  "cannot be negative");
		w->select.row_limit = (uint64_t)number;
	}
	if (is_given(values[STATS]) && strcmp(values[STATS], "full"))
		return verb_wrong(c,
				  "Bad include-stats value: \"%s\" is "
				  "not one of the supported stats "
				  "views.",
				  values[STATS]);
	w->stats = is_given(values[STATS]);
	w->explained =
		is_given(values[EXPLAIN]) && !strcmp(values[EXPLAIN], "yes");
	if (is_given(values[EXPLAIN]) && !w->explained &&
	    strcmp(values[EXPLAIN], "no") != 0)
		return verb_wrong(c, "explain must be yes or no, not \"%s\"",
				  values[EXPLAIN]);
	if (verb_parse_bool(c, values[REVERSED], &w->select.reverse))
		return 1;
	w->paged = is_given(values[PAGE]);
	if (w->paged && strcmp(values[PAGE], "first")) {
		err = page_parse(bytes_string(values[PAGE]), &row);
		if (!err)
			err = select_keep_after(&w->select, buf_bytes(&row));
	}
	buf_release(&row);
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

/* family:qualifier, family:, :qualifier or qualifier, all regexes; a part that
 * is empty is any, but a colon alone is the family without a name, which no
 * table has. 0, or 1 after it said what is wrong. */
static int parse_column(struct verb_call *c, struct bytes text,
			struct filter **out)
{
	const uint8_t *colon = memchr(text.data, ':', text.size);
	struct bytes family = BYTES_NONE, qualifier = text;
	struct filter *parts[2] = { NULL };
	size_t count = 0;
	int err = 0;

	*out = NULL;
	if (colon) {
		family = bytes_of(text.data, (size_t)(colon - text.data));
		qualifier = bytes_after(text, family.size + 1);
	}
	if (memchr(qualifier.data, ':', qualifier.size))
		return verb_wrong(c, "bad format for column \"%.*s\"",
				  (int)text.size, text.data);
	if (family.size > 0 || (colon && text.size == 1))
		err = filter_new_family(family, &parts[count++]);
	if (!err && qualifier.size > 0)
		err = filter_new_qualifier(qualifier, &parts[count++]);
	if (!err && count == 2)
		err = filter_new_chain(parts, count, out);
	else if (!err)
		*out = parts[0];
	else
		filter_free(parts[0]);
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

/* The parts of a list of columns, which are not empty, each as a filter. */
static int parse_each_column(struct verb_call *c, const char *text,
			     struct filter **parts, size_t *count)
{
	size_t size;

	for (text += strspn(text, ","); *text; text += strspn(text, ",")) {
		size = strcspn(text, ",");
		if (parse_column(c, bytes_of(text, size), &parts[*count]))
			return 1;
		text += size;
		++*count;
	}
	return 0;
}

/* One column for each part between commas that is not empty, as cbt parts them,
 * so no regex can have a comma. A cell that several have comes once. */
static int parse_columns(struct verb_call *c, const char *text,
			 struct select *s)
{
	struct filter **parts, *all = NULL;
	size_t count = 0;
	int err = 0, wrong;

	if (!is_given(text))
		return 0;
	if (!text[strspn(text, ",")])
		return verb_wrong(c, "columns=%s names no column", text);
	parts = calloc(strlen(text), sizeof(struct filter *));
	if (!parts)
		return verb_failed(c, "Reading rows", -ENOMEM);
	wrong = parse_each_column(c, text, parts, &count);
	if (!wrong && count > 1)
		err = filter_new_union(parts, count, &all);
	else if (!wrong)
		all = parts[0];
	while (wrong && count > 0)
		filter_free(parts[--count]);
	free(parts);
	return wrong ? wrong : add_filter(c, s, err, all);
}

/* As many versions as are wanted are the first of each column, so that it is
 * the same whether they or the columns are chosen first; the union of columns
 * must not have who counts behind it. */
static int parse_cells(struct verb_call *c, const char *const *values,
		       struct select *s)
{
	struct filter *f = NULL;
	bool keys_only;
	int64_t number;
	int err;

	if (is_given(values[REGEX])) {
		err = filter_new_row(bytes_string(values[REGEX]), &f);
		if (add_filter(c, s, err, f))
			return 1;
	}
	if (values[FILTER]) {
		err = filter_parse(bytes_string(values[FILTER]), &f);
		if (add_filter(c, s, err, f))
			return 1;
	}
	if (is_given(values[CELLS])) {
		if (parse_number(c, "number of cells per column", "Atoi",
				 values[CELLS], &number))
			return 1;
		if (number <= 0)
			return verb_wrong(c,
					  "Reading rows: Error in field "
					  "'cells_per_column_limit_filter' : "
					  "argument must be > 0");
		err = filter_new_column_limit(number, &f);
		if (add_filter(c, s, err, f))
			return 1;
	}
	if (parse_columns(c, values[COLUMNS], s) ||
	    verb_parse_bool(c, values[KEYS_ONLY], &keys_only))
		return 1;
	if (!keys_only)
		return 0;
	err = filter_new_strip(&f);
	return add_filter(c, s, err, f);
}

int select_parse(struct verb_call *c, enum select_verb verb,
		 struct select_words *w)
{
	const char *values[WORD_COUNT];
	int first = verb == SELECT_LOOKUP ? 3 : 2, err;

	/* So that select_words_release may follow whatever comes. */
	*w = (struct select_words){ .select = SELECT_INIT };
	if (take_words(c, verb, first, values))
		return 1;
	w->as_of = values[AS_OF];
	w->from = values[FROM];
	w->to = values[TO];
	if (values[LIMIT])
		return verb_wrong(
			c, "Unknown arg key 'limit'; did you mean 'end'?");
	if (values[AUTHORIZED_VIEW] || values[FORMAT_FILE])
		return verb_wrong(c, "%s is not supported",
				  values[FORMAT_FILE] ? "format-file"
						      : "authorized-view");
	if (verb == SELECT_LOOKUP) {
		err = select_add_row(&w->select, bytes_string(c->argv[2]));
		if (err < 0)
			return verb_failed(c, "Reading row", err);
	}
	return select_rows(c, first, &w->select) ||
	       parse_limits(c, values, w) || parse_cells(c, values, &w->select);
}

void select_words_release(struct select_words *w)
{
	select_release(&w->select);
}
