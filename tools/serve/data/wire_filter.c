#include <stdlib.h>

#include "store/base/err.h"
#include "tools/serve/data/wire_filter.h"

/* Of a filter as it is sent. */
#define FILTER_SIZE_MAX 20480

/*
 * A filter of a request becomes one of the store part by part. Recursion is as
 * deep as the message, which PROTO_DEPTH_MAX bounds; what is too deep for a
 * filter the constructors refuse.
 */
static int make(const struct proto_row_filter *f, struct filter **out);

static int compose(const struct proto_row_filter *filters, size_t count,
		   int (*join)(struct filter *const *parts, size_t count,
			       struct filter **out),
		   struct filter **out)
{
	struct filter **parts;
	size_t made = 0;
	int err = 0;

	if (count > FILTER_PARTS_MAX)
		return fail(ERR_bad_argument,
			    "a filter has %zu parts, more "
			    "than %d",
			    count, FILTER_PARTS_MAX);
	parts = calloc(count + 1, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	for (; !err && made < count; made++)
		err = make(&filters[made], &parts[made]);
	if (!err)
		err = join(parts, count, out);
	else
		while (made > 0)
			filter_free(parts[--made]);
	free(parts);
	return err;
}

/* A branch that is not there stays NULL. */
static int make_condition(const struct proto_filter_condition *c,
			  struct filter **out)
{
	struct filter *predicate = NULL, *yes = NULL, *no = NULL;
	int err = 0;

	if (!c->predicate_filter)
		return fail(ERR_bad_argument, "Error in field 'condition' : "
					      "predicate_filter is missing");
	err = make(c->predicate_filter, &predicate);
	if (!err && c->true_filter)
		err = make(c->true_filter, &yes);
	if (!err && c->false_filter)
		err = make(c->false_filter, &no);
	if (!err)
		return filter_new_condition(predicate, yes, no, out);
	filter_free(predicate);
	filter_free(yes);
	filter_free(no);
	return err;
}

static int make_columns(const struct proto_column_range *r, struct filter **out)
{
	struct filter_range range = {
		.has_start = r->start_qualifier_case != 0,
		.start_open = r->start_qualifier_case ==
			      nr_column_range_start_qualifier_open,
		.has_end = r->end_qualifier_case != 0,
		.end_closed = r->end_qualifier_case ==
			      nr_column_range_end_qualifier_closed,
	};

	range.start = range.start_open ? r->start_qualifier_open
				       : r->start_qualifier_closed;
	range.end = range.end_closed ? r->end_qualifier_closed
				     : r->end_qualifier_open;
	return filter_new_columns(r->family_name, &range, out);
}

static int make_values(const struct proto_value_range *r, struct filter **out)
{
	struct filter_range range = {
		.has_start = r->start_value_case != 0,
		.start_open =
			r->start_value_case == nr_value_range_start_value_open,
		.has_end = r->end_value_case != 0,
		.end_closed =
			r->end_value_case == nr_value_range_end_value_closed,
	};

	range.start =
		range.start_open ? r->start_value_open : r->start_value_closed;
	range.end = range.end_closed ? r->end_value_closed : r->end_value_open;
	return filter_new_values(&range, out);
}

static int make_timestamps(const struct proto_timestamp_range *r,
			   struct filter **out)
{
	if (r->start_timestamp_micros < 0 || r->end_timestamp_micros < 0)
		return fail(ERR_bad_argument, "Error in field "
					      "'timestamp_range_filter' : a "
					      "timestamp below 0");
	return filter_new_timestamps((uint64_t)r->start_timestamp_micros,
				     (uint64_t)r->end_timestamp_micros, out);
}

/* Those that are there by being true. */
static int make_plain(bool truth, const char *field,
		      int (*plain)(struct filter **out), struct filter **out)
{
	if (!truth)
		return fail(ERR_bad_argument,
			    "Error in field '%s' : must be true", field);
	return plain(out);
}

static int make_limit(int32_t n, const char *field,
		      int (*limit)(int64_t n, struct filter **out),
		      struct filter **out)
{
	if (n < 0 || (n == 0 && limit != filter_new_row_offset))
		return fail(ERR_bad_argument,
			    "Error in field '%s' : argument must be > 0",
			    field);
	return limit(n, out);
}

/* What has no parts. */
static int make_leaf(const struct proto_row_filter *f, struct filter **out)
{
	switch (f->filter_case) {
	case 0:
		return filter_new_pass(out);
	case nr_row_filter_sink:
		return make_plain(f->sink, "sink", filter_new_sink, out);
	case nr_row_filter_pass_all_filter:
		return make_plain(f->pass_all_filter, "pass_all_filter",
				  filter_new_pass, out);
	case nr_row_filter_block_all_filter:
		return make_plain(f->block_all_filter, "block_all_filter",
				  filter_new_block, out);
	case nr_row_filter_strip_value_transformer:
		return make_plain(f->strip_value_transformer,
				  "strip_value_transformer", filter_new_strip,
				  out);
	case nr_row_filter_row_key_regex_filter:
		return filter_new_row(f->row_key_regex_filter, out);
	case nr_row_filter_row_sample_filter:
		return filter_new_sample(f->row_sample_filter, out);
	case nr_row_filter_family_name_regex_filter:
		return filter_new_family(f->family_name_regex_filter, out);
	case nr_row_filter_column_qualifier_regex_filter:
		return filter_new_qualifier(f->column_qualifier_regex_filter,
					    out);
	case nr_row_filter_column_range_filter:
		return make_columns(f->column_range_filter, out);
	case nr_row_filter_timestamp_range_filter:
		return make_timestamps(f->timestamp_range_filter, out);
	case nr_row_filter_value_regex_filter:
		return filter_new_value(f->value_regex_filter, out);
	case nr_row_filter_value_bitmask_filter:
		return filter_new_bitmask(f->value_bitmask_filter->mask, out);
	case nr_row_filter_value_range_filter:
		return make_values(f->value_range_filter, out);
	case nr_row_filter_cells_per_row_offset_filter:
		return make_limit(f->cells_per_row_offset_filter,
				  "cells_per_row_offset_filter",
				  filter_new_row_offset, out);
	case nr_row_filter_cells_per_row_limit_filter:
		return make_limit(f->cells_per_row_limit_filter,
				  "cells_per_row_limit_filter",
				  filter_new_row_limit, out);
	case nr_row_filter_cells_per_column_limit_filter:
		return make_limit(f->cells_per_column_limit_filter,
				  "cells_per_column_limit_filter",
				  filter_new_column_limit, out);
	case nr_row_filter_apply_label_transformer:
		return filter_new_label(f->apply_label_transformer, out);
	default:
		return fail(EOPNOTSUPP,
			    "this kind of filter is not implemented");
	}
}

static int make(const struct proto_row_filter *f, struct filter **out)
{
	*out = NULL;
	switch (f->filter_case) {
	case nr_row_filter_chain:
		return compose(f->chain->filters.at, f->chain->filters.count,
			       filter_new_chain, out);
	case nr_row_filter_interleave:
		return compose(f->interleave->filters.at,
			       f->interleave->filters.count,
			       filter_new_interleave, out);
	case nr_row_filter_condition:
		return make_condition(f->condition, out);
	default:
		return make_leaf(f, out);
	}
}

/* The bound is the service's; it bounds the memory of patterns, too. */
int wire_filter(const struct proto_row_filter *f, struct filter **out)
{
	*out = NULL;
	if (f && proto_size(&proto_row_filter_type, f) > FILTER_SIZE_MAX)
		return fail(ERR_bad_argument,
			    "Error in field 'filter' : more than %d bytes",
			    FILTER_SIZE_MAX);
	return f && f->filter_case != 0 ? make(f, out) : 0;
}

/* Whether every part is of a kind that is known. */
static bool is_known(const struct proto_row_filter *f)
{
	const struct proto_filter_condition *c = f->condition;
	bool known = f->filter_case != 0;
	size_t i;

	if (f->filter_case == nr_row_filter_chain)
		for (i = 0; known && i < f->chain->filters.count; i++)
			known = is_known(&f->chain->filters.at[i]);
	if (f->filter_case == nr_row_filter_interleave)
		for (i = 0; known && i < f->interleave->filters.count; i++)
			known = is_known(&f->interleave->filters.at[i]);
	if (f->filter_case == nr_row_filter_condition)
		known = (!c->predicate_filter ||
			 is_known(c->predicate_filter)) &&
			(!c->true_filter || is_known(c->true_filter)) &&
			(!c->false_filter || is_known(c->false_filter));
	return known;
}

int wire_predicate(const struct proto_row_filter *f, struct filter **out)
{
	*out = NULL;
	if (f && !is_known(f))
		return fail(ERR_bad_argument,
			    "Error in field 'predicate_filter' : a filter is "
			    "empty, or of a kind that is not known");
	return wire_filter(f, out);
}
