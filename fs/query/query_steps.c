#include <assert.h>
#include <errno.h>

#include "fs/query/query_steps.h"
#include "store/text/filter/filter_text.h"
#include "store/text/value/time.h"

/* Steps whose value is a pattern. */
static const struct pattern {
	const char *name;
	enum query_part part;
	int (*make)(struct bytes pattern, struct filter **out);
} patterns[] = {
	{ "regex", QUERY_ROW_REGEX, filter_new_row },
	{ "column", QUERY_COLUMN, filter_new_qualifier },
	{ "value", QUERY_VALUE, filter_new_value },
	{ "filter", QUERY_EXPRESSION, filter_parse },
};

void query_steps_init(struct query_steps *st)
{
	*st = (struct query_steps){
		.select = SELECT_INIT,
		.version_limit = 1,
		.until_us = UINT64_MAX,
	};
}

void query_steps_release(struct query_steps *st)
{
	size_t i;

	for (i = 0; i < QUERY_PARTS; i++)
		filter_free(st->parts[i]);
	select_release(&st->select);
}

/* Decimal digits only. 18 of them, so that no sum can pass 64 bits. */
static bool parse_count(struct bytes text, uint64_t *count)
{
	size_t i;

	*count = 0;
	if (text.size == 0 || text.size > 18)
		return false;
	for (i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*count = *count * 10 + (text.data[i] - '0');
	}
	return true;
}

/* Parts "a..b" at the first "..", either part may be empty: open. Both are
 * borrowed from value. */
static bool split_range(struct bytes value, struct filter_range *range)
{
	size_t i;

	for (i = 0; i + 1 < value.size; i++) {
		if (value.data[i] != '.' || value.data[i + 1] != '.')
			continue;
		*range = (struct filter_range){
			.start = bytes_of(value.data, i),
			.end = bytes_after(value, i + 2),
			.has_start = i > 0,
			.has_end = value.size > i + 2,
		};
		return true;
	}
	return false;
}

static int add_versions(struct query_steps *st, struct bytes value)
{
	st->has_versions = true;
	if (bytes_equal(value, BYTES_LITERAL("all"))) {
		st->version_limit = UINT64_MAX;
		return 0;
	}
	return !parse_count(value, &st->version_limit) ||
	       st->version_limit == 0;
}

int query_steps_add(struct query_steps *st, struct bytes name,
		    struct bytes value)
{
	const struct filter_range all = { .has_start = false };
	struct filter_range range;
	size_t i;

	if (bytes_equal(name, BYTES_LITERAL("reverse"))) {
		st->select.reverse = true;
		return 0;
	}
	if (bytes_equal(name, BYTES_LITERAL("prefix"))) {
		st->prefix = value;
		return select_keep_prefix(&st->select, value);
	}
	if (bytes_equal(name, BYTES_LITERAL("range")))
		return split_range(value, &range)
			       ? select_keep_range(&st->select, &range)
			       : 1;
	if (bytes_equal(name, BYTES_LITERAL("family")))
		return filter_new_columns(value, &all,
					  &st->parts[QUERY_FAMILY]);
	if (bytes_equal(name, BYTES_LITERAL("limit")))
		return !parse_count(value, &st->select.row_limit);
	if (bytes_equal(name, BYTES_LITERAL("versions")))
		return add_versions(st, value);
	if (bytes_equal(name, BYTES_LITERAL("since")))
		return time_parse(value, &st->since_us) ? 1 : 0;
	if (bytes_equal(name, BYTES_LITERAL("until")))
		return time_parse(value, &st->until_us) ? 1 : 0;
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (bytes_equal(name, bytes_string(patterns[i].name)))
			return patterns[i].make(value,
						&st->parts[patterns[i].part]);
	return 1;
}

/* The parts that several steps, or none, make. Times that end before they begin
 * are those of no row; to a filter, a 0 behind is no end. */
static int make_parts(struct query_steps *st, bool count_versions)
{
	const struct filter_range none = { .has_end = true };
	uint64_t until = st->until_us < UINT64_MAX ? st->until_us : 0;
	int err = 0;

	if (st->since_us >= st->until_us)
		return select_keep_range(&st->select, &none);
	if (st->since_us > 0 || until > 0)
		err = filter_new_timestamps(st->since_us, until,
					    &st->parts[QUERY_TIMES]);
	if (!err && count_versions && st->version_limit < UINT64_MAX)
		err = filter_new_column_limit((int64_t)st->version_limit,
					      &st->parts[QUERY_VERSIONS]);
	return err;
}

/* Where rows are all that is wanted, and all is about their keys, no version
 * needs to be looked at. An expression chooses versions itself, unless the path
 * does. */
int query_steps_finish(struct query_steps *st, bool rows_only)
{
	bool cells =
		!rows_only || st->since_us > 0 || st->until_us < UINT64_MAX;
	struct filter *part;
	size_t i;
	int err;

	for (i = QUERY_ROW_REGEX + 1; i < QUERY_PARTS; i++)
		cells |= st->parts[i] != NULL;
	if (st->parts[QUERY_EXPRESSION] && !st->has_versions)
		st->version_limit = UINT64_MAX;
	err = make_parts(st, cells);
	for (i = 0; !err && i < QUERY_PARTS; i++) {
		part = st->parts[i];
		st->parts[i] = NULL;
		if (part)
			err = select_filter(&st->select, 0, part);
	}
	return err;
}

/* What the value of a step has to be, of those that take not any. */
static const char *wanted(struct bytes name)
{
	if (bytes_equal(name, BYTES_LITERAL("range")))
		return "<from>..<to>, of which either may be empty";
	if (bytes_equal(name, BYTES_LITERAL("limit")))
		return "a number of at most 18 digits";
	if (bytes_equal(name, BYTES_LITERAL("versions")))
		return "a number from 1 on, or all";
	return "a time, such as 2024-05-31T12:00:00Z or microseconds";
}

int query_check_step(struct bytes name, struct bytes value)
{
	struct query_steps st;
	int err;

	query_steps_init(&st);
	err = query_steps_add(&st, name, value);
	query_steps_release(&st);
	if (err == 1)
		return fail(ENOENT, "%.*s/%.*s: wants %s", (int)name.size,
			    (const char *)name.data, (int)value.size,
			    (const char *)value.data, wanted(name));
	/* A wrong pattern is a name that does not exist: ENOENT, not EINVAL. */
	return err == -ERR_bad_argument
		       ? fail(ENOENT, "%.*s: %s", (int)name.size,
			      (const char *)name.data, err_detail())
		       : err;
}

int query_step_rows(struct bytes name, struct bytes value, struct bytes *start,
		    struct buf *end)
{
	struct filter_range range = { .start = value };

	assert(bytes_equal(name, BYTES_LITERAL("prefix")) ||
	       bytes_equal(name, BYTES_LITERAL("range")));
	if (bytes_equal(name, BYTES_LITERAL("prefix"))) {
		*start = value;
		return select_prefix_end(value, end);
	}
	if (!split_range(value, &range))
		return -ENOENT;
	*start = range.start;
	return buf_set(end, range.end);
}
