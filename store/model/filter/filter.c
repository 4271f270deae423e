#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/model/filter/filter_run.h"

/*
 * Making filters: trees of parts, whose bounds are checked from the inside out,
 * so that whoever walks one may recurse. filter_run.c is what they do. What is
 * wrong is told in Bigtable's words.
 */

/* A condition's parts may be NULL. The depth of the recursion is that of
 * filters, at most one more than FILTER_DEPTH_MAX: of one that is refused, its
 * parts were bounded. */
void filter_free(struct filter *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->part_count; i++)
		filter_free(f->parts[i]);
	free(f->parts);
	regex_free(f->regex);
	buf_release(&f->name);
	buf_release(&f->start);
	buf_release(&f->end);
	free(f);
}

/* A part with nothing inside. Conditions and sinks count as what rests on cells
 * before, see step_of and chain_need: of a condition any cell may be the one
 * that decides, and what a sink passes does not meet the parts after it. */
static int new_leaf(enum filter_kind kind, struct filter **out)
{
	struct filter *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	f->kind = kind;
	f->size = 1;
	f->copies = 1;
	f->steps = 1;
	f->counts = kind == FILTER_ROW_LIMIT || kind == FILTER_ROW_OFFSET ||
		    kind == FILTER_SINK || kind == FILTER_CONDITION;
	f->has_sink = kind == FILTER_SINK;
	f->has_label = kind == FILTER_LABEL;
	return 0;
}

/* Ends a constructor: gives f or, because of err, frees it. */
static int finish(int err, struct filter *f, struct filter **out)
{
	if (err < 0) {
		filter_free(f);
		f = NULL;
	}
	*out = f;
	return err;
}

int filter_new_pass(struct filter **out)
{
	return new_leaf(FILTER_PASS, out);
}

int filter_new_block(struct filter **out)
{
	return new_leaf(FILTER_BLOCK, out);
}

int filter_new_sink(struct filter **out)
{
	return new_leaf(FILTER_SINK, out);
}

int filter_new_strip(struct filter **out)
{
	return new_leaf(FILTER_STRIP, out);
}

/* One of the four parts that match a pattern. */
static int new_regex(enum filter_kind kind, struct bytes pattern,
		     struct filter **out)
{
	struct filter *f;
	int err = new_leaf(kind, &f);

	if (!err)
		err = regex_new(pattern, &f->regex);
	return finish(err, f, out);
}

/* An empty pattern would match no row, as no key is empty: a mistake. */
int filter_new_row(struct bytes pattern, struct filter **out)
{
	*out = NULL;
	if (pattern.size == 0)
		return fail(ERR_bad_argument,
			    "row key regex must not be empty");
	return new_regex(FILTER_ROW, pattern, out);
}

/* A colon is in no family's name. */
int filter_new_family(struct bytes pattern, struct filter **out)
{
	*out = NULL;
	if (pattern.size > 0 && memchr(pattern.data, ':', pattern.size))
		return fail(ERR_bad_argument,
			    "family name regex must not contain ':'");
	return new_regex(FILTER_FAMILY, pattern, out);
}

int filter_new_qualifier(struct bytes pattern, struct filter **out)
{
	return new_regex(FILTER_QUALIFIER, pattern, out);
}

int filter_new_value(struct bytes pattern, struct filter **out)
{
	return new_regex(FILTER_VALUE, pattern, out);
}

/* Copies the bounds, which the caller may free. */
static int set_range(struct filter *f, const struct filter_range *range)
{
	int err = buf_add_bytes(&f->start, range->start);

	if (!err)
		err = buf_add_bytes(&f->end, range->end);
	f->range = *range;
	f->range.start = buf_bytes(&f->start);
	f->range.end = buf_bytes(&f->end);
	return err;
}

/* The family is compared, not matched as a pattern. */
int filter_new_columns(struct bytes family, const struct filter_range *range,
		       struct filter **out)
{
	struct filter *f;
	int err = new_leaf(FILTER_COLUMNS, &f);

	if (!err)
		err = buf_add_bytes(&f->name, family);
	if (!err)
		err = set_range(f, range);
	return finish(err, f, out);
}

int filter_new_values(const struct filter_range *range, struct filter **out)
{
	struct filter *f;
	int err = new_leaf(FILTER_VALUES, &f);

	if (!err)
		err = set_range(f, range);
	return finish(err, f, out);
}

/* The service requires one: a mask that was forgotten would pass what is
 * empty. */
int filter_new_bitmask(struct bytes mask, struct filter **out)
{
	struct filter *f;
	int err;

	*out = NULL;
	if (mask.size == 0)
		return fail(ERR_bad_argument,
			    "value bitmask must not be empty");
	err = new_leaf(FILTER_BITMASK, &f);
	if (!err)
		err = buf_add_bytes(&f->name, mask);
	return finish(err, f, out);
}

/* to_us is stored so that one comparison does: 0, unbounded, as a time after
 * all. */
int filter_new_timestamps(uint64_t from_us, uint64_t to_us, struct filter **out)
{
	int err;

	*out = NULL;
	if (from_us > INT64_MAX || to_us > INT64_MAX)
		return fail(ERR_bad_argument,
			    "timestamps must not be negative");
	err = new_leaf(FILTER_TIMESTAMPS, out);
	if (err < 0)
		return err;
	(*out)->from_us = from_us;
	(*out)->to_us = to_us > 0 ? to_us : UINT64_MAX;
	return 0;
}

/* A limit is 1 at least; an offset may be 0, which skips none. */
static int new_limit(enum filter_kind kind, int64_t n, struct filter **out)
{
	bool zero = kind == FILTER_ROW_OFFSET; /* skips none */
	int err;

	*out = NULL;
	if (n < !zero)
		return fail(ERR_bad_argument, "argument must be %s 0",
			    zero ? ">=" : ">");
	err = new_leaf(kind, out);
	if (!err)
		(*out)->limit = (uint64_t)n;
	return err;
}

int filter_new_row_limit(int64_t n, struct filter **out)
{
	return new_limit(FILTER_ROW_LIMIT, n, out);
}

int filter_new_row_offset(int64_t n, struct filter **out)
{
	return new_limit(FILTER_ROW_OFFSET, n, out);
}

int filter_new_column_limit(int64_t n, struct filter **out)
{
	return new_limit(FILTER_COLUMN_LIMIT, n, out);
}

/* Bigtable's letters for labels. */
static bool is_label_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* The message shows Bigtable's pattern. */
int filter_new_label(struct bytes label, struct filter **out)
{
	struct filter *f;
	size_t i;
	int err;

	*out = NULL;
	for (i = 0; i < label.size && is_label_byte(label.data[i]); i++)
		;
	if (label.size == 0 || label.size > FILTER_LABEL_MAX || i < label.size)
		return fail(ERR_bad_argument,
			    "label must match [a-z0-9\\-]{1,%d}",
			    FILTER_LABEL_MAX);
	err = new_leaf(FILTER_LABEL, &f);
	if (!err)
		err = buf_add_bytes(&f->name, label);
	return finish(err, f, out);
}

/* The share of the hashes that are below limit is the probability. The
 * comparison is written so that NaN is refused; 1 is, or limit would not fit.
 */
int filter_new_sample(double probability, struct filter **out)
{
	int err;

	*out = NULL;
	if (!(probability > 0.0 && probability < 1.0))
		return fail(ERR_bad_argument,
			    "argument must be between 0.0 and 1.0");
	err = new_leaf(FILTER_SAMPLE, out);
	if (!err)
		(*out)->limit = (uint64_t)ldexp(probability, 64);
	return err;
}

/* Adds what a part has inside to what f has. A cell goes through all of a
 * chain's, a copy through each of an interleave's, and through one of a
 * condition's branches; its predicate makes nothing. */
static void add_part(struct filter *f, const struct filter *part)
{
	assert(part->copies <= FILTER_COPIES_MAX);
	f->size += part->size;
	if (f->depth < part->depth + 1)
		f->depth = part->depth + 1;
	f->counts |= part->counts;
	f->has_sink |= part->has_sink;
	f->has_label |= part->has_label;
	/* A product of two never overflows, as each is bounded. */
	f->steps += (f->kind == FILTER_CHAIN ? f->copies : 1) * part->steps;
	if (f->steps > FILTER_STEPS_MAX)
		f->steps = FILTER_STEPS_MAX + 1;
	if (f->kind == FILTER_CHAIN)
		f->copies *= part->copies;
	else if (f->kind == FILTER_INTERLEAVE)
		f->copies += part->copies;
	else if ((f->kind == FILTER_UNION || part != f->parts[0]) &&
		 f->copies < part->copies)
		f->copies = part->copies;
	if (f->copies > FILTER_COPIES_MAX)
		f->copies = FILTER_COPIES_MAX + 1;
}

/* The bounds of filter.h, which keep the work for one cell and the stack that
 * walking the tree takes small. */
static int check_bounds(const struct filter *f)
{
	if (f->depth > FILTER_DEPTH_MAX)
		return fail(ERR_bad_argument,
			    "filters are nested deeper than %d",
			    FILTER_DEPTH_MAX);
	if (f->size > FILTER_PARTS_MAX)
		return fail(ERR_bad_argument, "filter has more than %d parts",
			    FILTER_PARTS_MAX);
	if (f->copies > FILTER_COPIES_MAX)
		return fail(ERR_bad_argument,
			    "filter makes more than %d copies of a cell",
			    FILTER_COPIES_MAX);
	if (f->steps > FILTER_STEPS_MAX)
		return fail(ERR_bad_argument,
			    "filter takes more than %d steps for a cell",
			    FILTER_STEPS_MAX);
	return 0;
}

/* The rules of Bigtable for what may be inside what. wanted is the fewest parts
 * there must be. */
static int check_composed(const struct filter *f, size_t wanted)
{
	const char *name = f->kind == FILTER_CHAIN ? "Chain" : "Interleave";
	size_t i, labels = 0;

	if (f->part_count < wanted)
		return fail(ERR_bad_argument,
			    "%s must contain at least two filters", name);
	for (i = 0; i < f->part_count; i++)
		labels += f->parts[i] && f->parts[i]->has_label;
	if (f->kind == FILTER_CHAIN && labels > 1)
		return fail(ERR_bad_argument,
			    "only one part of a Chain may apply a label");
	if (f->kind == FILTER_CONDITION && f->has_sink)
		return fail(ERR_bad_argument,
			    "a Condition must not contain a sink");
	return check_bounds(f);
}

/* Takes the parts, and frees them on failure: before they are f's one by one,
 * after that with f. */
static int new_composed(enum filter_kind kind, struct filter *const *parts,
			size_t count, size_t wanted, struct filter **out)
{
	struct filter *f;
	int err = new_leaf(kind, &f);
	size_t i;

	if (!err) {
		f->parts = calloc(count + 1, sizeof(struct filter *));
		if (!f->parts)
			err = -ENOMEM;
	}
	if (err < 0) {
		for (i = 0; i < count; i++)
			filter_free(parts[i]);
		return finish(err, f, out);
	}
	f->part_count = count;
	f->copies = kind == FILTER_CHAIN;
	for (i = 0; i < count; i++) {
		f->parts[i] = parts[i];
		if (parts[i])
			add_part(f, parts[i]);
	}
	return finish(check_composed(f, wanted), f, out);
}

int filter_new_chain(struct filter *const *parts, size_t count,
		     struct filter **out)
{
	return new_composed(FILTER_CHAIN, parts, count, 2, out);
}

int filter_new_interleave(struct filter *const *parts, size_t count,
			  struct filter **out)
{
	return new_composed(FILTER_INTERLEAVE, parts, count, 2, out);
}

/* No expression names it, so only code can break the rules of filter.h. */
int filter_new_union(struct filter *const *parts, size_t count,
		     struct filter **out)
{
	int err = new_composed(FILTER_UNION, parts, count, 2, out);

	assert(err < 0 || (!(*out)->counts && !(*out)->has_sink));
	return err;
}

/* Without a predicate, any cell decides: that is one that passes all. */
int filter_new_condition(struct filter *predicate, struct filter *if_true,
			 struct filter *if_false, struct filter **out)
{
	struct filter *parts[] = { predicate, if_true, if_false };
	int err = predicate ? 0 : filter_new_pass(&parts[0]);

	if (err < 0) {
		filter_free(if_true);
		filter_free(if_false);
		*out = NULL;
		return err;
	}
	return new_composed(FILTER_CONDITION, parts, 3, 3, out);
}
