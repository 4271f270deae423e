#include <assert.h>
#include <stdlib.h>

#include "store/text/filter/filter_text.h"
#include "store/text/value/number.h"
#include "tools/data/select.h"

/*
 * The arguments of read and lookup. What can be decided by keys alone becomes a
 * range, which the scan keeps to; the rest is asked cell by cell by
 * select_print.c. Messages are cbt's.
 */

/* The arguments, as indices of read_keys and of the values given. Those from
 * COLUMNS on are lookup's, too. */
enum {
	START,
	END,
	PREFIX,
	REGEX,
	REVERSED,
	COUNT,
	LIMIT,
	COLUMNS,
	CELLS,
	KEYS_ONLY,
	STATS,
	APP_PROFILE,
	AUTHORIZED_VIEW,
	FORMAT_FILE,
	FILTER,
	KEY_COUNT,
};

/* Some are cbt's and refused or ignored here: a key that is known can be told
 * from a slip. */
static const char *const read_keys[] = { "start",
					 "end",
					 "prefix",
					 "regex",
					 "reversed",
					 "count",
					 "limit",
					 "columns",
					 "cells-per-column",
					 "keys-only",
					 "include-stats",
					 "app-profile",
					 "authorized-view",
					 "format-file",
					 "filter",
					 NULL };

static_assert(sizeof(read_keys) / sizeof(read_keys[0]) == KEY_COUNT + 1,
	      "each argument has its key");

int prefix_end(struct bytes prefix, struct buf *out)
{
	int err;

	/* The last byte that can grow does, and what is behind it goes: "a\xff"
	 * ends before "b". All 0xff has no end. */
	while (prefix.size > 0 && prefix.data[prefix.size - 1] == 0xff)
		prefix.size--;
	err = buf_set(out, prefix);
	if (!err && out->size > 0)
		out->data[out->size - 1]++;
	return err;
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

/* How much is shown: rows, versions, values, a summary; reversed as well. */
static int parse_limits(struct verb_call *c, const char *const *values,
			struct select *s)
{
	int64_t number;

	s->row_limit = s->cell_limit = UINT64_MAX;
	if (is_given(values[COUNT])) {
		if (parse_number(c, "count", "ParseInt", values[COUNT],
				 &number))
			return 1;
		if (number < 0)
			return verb_wrong(c,
					  "Reading rows: bigtable: row limit "
					  "cannot be negative");
		s->row_limit = (uint64_t)number;
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
		s->cell_limit = (uint64_t)number;
	}
	if (is_given(values[STATS])) {
		if (strcmp(values[STATS], "full"))
			return verb_wrong(c,
					  "Bad include-stats value: \"%s\" is "
					  "not one of the supported stats "
					  "views.",
					  values[STATS]);
		s->stats = true;
	}
	return verb_parse_bool(c, values[REVERSED], &s->reversed) ||
	       verb_parse_bool(c, values[KEYS_ONLY], &s->keys_only);
}

/* Narrows the range to keys with the prefix: 0 or -ENOMEM. */
static int narrow(struct select *s, struct bytes prefix)
{
	struct buf end = BUF_INIT;
	int err = 0;

	if (bytes_compare(prefix, buf_bytes(&s->start)) > 0)
		err = buf_set(&s->start, prefix);
	if (!err)
		err = prefix_end(prefix, &end);
	if (!err && end.size > 0 &&
	    (s->end.size == 0 ||
	     bytes_compare(buf_bytes(&end), buf_bytes(&s->end)) < 0))
		err = buf_set(&s->end, buf_bytes(&end));
	buf_release(&end);
	return err;
}

/* Which rows are read. A regular expression narrows the range by what all its
 * matches begin with; the rest of it is asked row by row. */
static int parse_range(struct verb_call *c, const char *const *values,
		       struct select *s)
{
	const char *prefix = values[PREFIX];
	int err = 0;

	if ((is_given(values[START]) || is_given(values[END])) &&
	    is_given(prefix))
		return verb_wrong(c, "\"start\"/\"end\" may not be mixed with "
				     "\"prefix\"");
	if (values[START])
		err = buf_set(&s->start, bytes_string(values[START]));
	if (!err && values[END])
		err = buf_set(&s->end, bytes_string(values[END]));
	if (!err && prefix)
		err = narrow(s, bytes_string(prefix));
	if (!err && is_given(values[REGEX])) {
		err = regex_new(bytes_string(values[REGEX]), &s->row);
		if (!err)
			err = narrow(s, regex_head(s->row));
	}
	/* Such a range is no error, and shows nothing. */
	s->nothing = s->end.size > 0 && bytes_compare(buf_bytes(&s->start),
						      buf_bytes(&s->end)) >= 0;
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

/* family:qualifier, family:, :qualifier or qualifier, all regexes; a part that
 * is empty is any, but a colon alone is the family without a name, which no
 * table has. 0, or 1 after it said what is wrong; column is then released
 * with the rest. */
static int parse_column(struct verb_call *c, struct bytes text,
			struct select_column *column)
{
	const uint8_t *colon = memchr(text.data, ':', text.size);
	struct bytes family = BYTES_NONE, qualifier = text;
	int err = 0;

	if (colon) {
		family = bytes_of(text.data, (size_t)(colon - text.data));
		qualifier = bytes_after(text, family.size + 1);
	}
	if (memchr(qualifier.data, ':', qualifier.size))
		return verb_wrong(c, "bad format for column \"%.*s\"",
				  (int)text.size, text.data);
	if (family.size > 0 || text.size == 1)
		err = regex_new(family, &column->family);
	if (!err && qualifier.size > 0)
		err = regex_new(qualifier, &column->qualifier);
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

/* One column for each part between commas that is not empty, as cbt parts them,
 * so no regex can have a comma. Counted first, for they do not move. */
static int parse_columns(struct verb_call *c, const char *text,
			 struct select *s)
{
	const char *end;
	size_t count = 1;

	if (!is_given(text))
		return 0;
	if (!text[strspn(text, ",")])
		return verb_wrong(c, "columns=%s names no column", text);
	for (end = text; *end; end++)
		count += *end == ',';
	s->columns = calloc(count, sizeof(*s->columns));
	if (!s->columns)
		return verb_failed(c, "Reading rows", -ENOMEM);
	for (;;) {
		text += strspn(text, ",");
		if (!*text)
			return 0;
		end = strchrnul(text, ',');
		s->column_count++;
		if (parse_column(c, bytes_of(text, (size_t)(end - text)),
				 &s->columns[s->column_count - 1]))
			return 1;
		text = end;
	}
}

/* lookup gets the tail of the keys, and its values land at the same indices. */
int select_parse(struct verb_call *c, int first, bool many, struct select *s)
{
	const char *const *keys = many ? read_keys : read_keys + COLUMNS;
	const char *values[KEY_COUNT] = { NULL };

	/* So that select_release may follow whatever comes. */
	*s = (struct select){ .nothing = false };
	if (verb_arguments(c, first, keys, many ? values : values + COLUMNS))
		return 1;
	if (values[LIMIT])
		return verb_wrong(
			c, "Unknown arg key 'limit'; did you mean 'end'?");
	if (values[AUTHORIZED_VIEW] || values[FORMAT_FILE])
		return verb_wrong(c, "%s is not supported",
				  values[FORMAT_FILE] ? "format-file"
						      : "authorized-view");
	if (values[FILTER]) {
		int err =
			filter_parse(bytes_string(values[FILTER]), &s->filter);

		if (err < 0)
			return verb_failed(c, "Reading rows", err);
	}
	return parse_range(c, values, s) || parse_limits(c, values, s) ||
	       parse_columns(c, values[COLUMNS], s);
}

/* Whatever select_parse has come to: what it did not set is zero. */
void select_release(struct select *s)
{
	size_t i;

	for (i = 0; i < s->column_count; i++) {
		regex_free(s->columns[i].family);
		regex_free(s->columns[i].qualifier);
	}
	free(s->columns);
	regex_free(s->row);
	filter_free(s->filter);
	buf_release(&s->start);
	buf_release(&s->end);
}
