#include <stdlib.h>

#include "tests/conformance/filter.h"

#define PARTS_MAX 1100

/* The text under way; what is left of it. */
struct parser {
	struct run *r;
	const char *p;
};

/* The characters up to a comma or the closing parenthesis, as a string; NULL
 * without memory. */
static const char *take_word(struct parser *in)
{
	struct bytes word = bytes_of(in->p, strcspn(in->p, ",)"));

	in->p += word.size;
	return (const char *)run_keep(in->r, word).data;
}

static bool take_char(struct parser *in, char c)
{
	if (*in->p != c)
		return false;
	in->p++;
	return true;
}

static bool take_bytes(struct parser *in, struct bytes *out)
{
	const char *word = take_word(in);

	return word && parse_bytes(in->r, word, out);
}

static bool take_number(struct parser *in, int32_t *out)
{
	const char *word = take_word(in);
	long long n = word ? strtoll(word, NULL, 10) : 0;

	*out = (int32_t)n;
	return word && *out == n;
}

static bool take_label(struct parser *in, struct bytes *out)
{
	const char *word = take_word(in);

	*out = word ? bytes_string(word) : BYTES_NONE;
	return word != NULL;
}

/* ge:B gt:B le:B lt:B, up to two, separated by commas. */
struct range {
	struct bytes start, end;
	char start_kind, end_kind; /* 0, 'e' with the bound, 't' without it */
};

static bool take_range(struct parser *in, struct range *range)
{
	while (*in->p && *in->p != ')') {
		char side = in->p[0], kind = in->p[1];

		if (strlen(in->p) < 3 || in->p[2] != ':')
			return false;
		in->p += 3;
		*(side == 'g' ? &range->start_kind : &range->end_kind) = kind;
		if (!take_bytes(in, side == 'g' ? &range->start : &range->end))
			return false;
		take_char(in, ',');
	}
	return true;
}

static bool take_columns(struct parser *in, struct proto_row_filter *f)
{
	struct proto_column_range *out = run_alloc(in->r, sizeof(*out));
	struct range range = { .start_kind = 0 };
	const char *family = take_word(in);

	take_char(in, ',');
	if (!out || !family || !parse_name(in->r, family, &out->family_name) ||
	    !take_range(in, &range))
		return false;
	f->column_range_filter = out;
	if (range.start_kind == 'e') {
		out->start_qualifier_case =
			nr_column_range_start_qualifier_closed;
		out->start_qualifier_closed = range.start;
	} else if (range.start_kind) {
		out->start_qualifier_case =
			nr_column_range_start_qualifier_open;
		out->start_qualifier_open = range.start;
	}
	if (range.end_kind == 'e') {
		out->end_qualifier_case = nr_column_range_end_qualifier_closed;
		out->end_qualifier_closed = range.end;
	} else if (range.end_kind) {
		out->end_qualifier_case = nr_column_range_end_qualifier_open;
		out->end_qualifier_open = range.end;
	}
	return true;
}

static bool take_values(struct parser *in, struct proto_row_filter *f)
{
	struct proto_value_range *out = run_alloc(in->r, sizeof(*out));
	struct range range = { .start_kind = 0 };

	if (!out || !take_range(in, &range))
		return false;
	f->value_range_filter = out;
	if (range.start_kind == 'e') {
		out->start_value_case = nr_value_range_start_value_closed;
		out->start_value_closed = range.start;
	} else if (range.start_kind) {
		out->start_value_case = nr_value_range_start_value_open;
		out->start_value_open = range.start;
	}
	if (range.end_kind == 'e') {
		out->end_value_case = nr_value_range_end_value_closed;
		out->end_value_closed = range.end;
	} else if (range.end_kind) {
		out->end_value_case = nr_value_range_end_value_open;
		out->end_value_open = range.end;
	}
	return true;
}

static bool take_times(struct parser *in, struct proto_row_filter *f)
{
	struct proto_timestamp_range *out = run_alloc(in->r, sizeof(*out));
	int64_t times[2] = { 0, 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		const char *word = take_word(in);
		/* Symbols are remembered by their text. */
		char *text = word && *word ? strdup(word) : NULL;

		if (!word || (text && (list_add(&in->r->texts, text) ||
				       !parse_time(in->r, text, &times[i]))))
			return false;
		take_char(in, ',');
	}
	if (!out)
		return false;
	f->timestamp_range_filter = out;
	out->start_timestamp_micros = times[0];
	out->end_timestamp_micros = times[1];
	return true;
}

static bool take_sample(struct parser *in, struct proto_row_filter *f)
{
	const char *word = take_word(in);

	f->row_sample_filter = word ? strtod(word, NULL) : 0;
	return word != NULL;
}

static bool take_filter(struct parser *in, struct proto_row_filter *out);

/* Parts up to the closing parenthesis, one after another. */
static bool take_parts(struct parser *in, struct proto_row_filter **at,
		       size_t *count)
{
	*count = 0;
	*at = run_alloc(in->r, PARTS_MAX * sizeof(**at));
	while (*at && *in->p && *in->p != ')') {
		if (*count == PARTS_MAX || !take_filter(in, &(*at)[*count]))
			return false;
		++*count;
		take_char(in, ',');
	}
	return *at != NULL;
}

static bool take_chain(struct parser *in, struct proto_row_filter *f)
{
	f->chain = run_alloc(in->r, sizeof(*f->chain));
	return f->chain &&
	       take_parts(in, &f->chain->filters.at, &f->chain->filters.count);
}

static bool take_interleave(struct parser *in, struct proto_row_filter *f)
{
	f->interleave = run_alloc(in->r, sizeof(*f->interleave));
	return f->interleave && take_parts(in, &f->interleave->filters.at,
					   &f->interleave->filters.count);
}

/* Each of the three may be a -, which is none. */
static bool take_condition(struct parser *in, struct proto_row_filter *f)
{
	struct proto_row_filter *parts[3] = { NULL };
	size_t i;

	for (i = 0; i < 3; i++) {
		if (!take_char(in, '-')) {
			parts[i] = run_alloc(in->r, sizeof(*f));
			if (!parts[i] || !take_filter(in, parts[i]))
				return false;
		}
		if (i < 2 && !take_char(in, ','))
			return false;
	}
	f->condition = run_alloc(in->r, sizeof(*f->condition));
	if (!f->condition)
		return false;
	f->condition->predicate_filter = parts[0];
	f->condition->true_filter = parts[1];
	f->condition->false_filter = parts[2];
	return true;
}

/* The arguments of the filter whose case is set. */
static bool take_arguments(struct parser *in, struct proto_row_filter *f)
{
	switch (f->filter_case) {
	case nr_row_filter_chain:
		return take_chain(in, f);
	case nr_row_filter_interleave:
		return take_interleave(in, f);
	case nr_row_filter_condition:
		return take_condition(in, f);
	case nr_row_filter_row_key_regex_filter:
		return take_bytes(in, &f->row_key_regex_filter);
	case nr_row_filter_family_name_regex_filter:
		return take_bytes(in, &f->family_name_regex_filter);
	case nr_row_filter_column_qualifier_regex_filter:
		return take_bytes(in, &f->column_qualifier_regex_filter);
	case nr_row_filter_value_regex_filter:
		return take_bytes(in, &f->value_regex_filter);
	case nr_row_filter_column_range_filter:
		return take_columns(in, f);
	case nr_row_filter_value_range_filter:
		return take_values(in, f);
	case nr_row_filter_timestamp_range_filter:
		return take_times(in, f);
	case nr_row_filter_cells_per_row_limit_filter:
		return take_number(in, &f->cells_per_row_limit_filter);
	case nr_row_filter_cells_per_row_offset_filter:
		return take_number(in, &f->cells_per_row_offset_filter);
	case nr_row_filter_cells_per_column_limit_filter:
		return take_number(in, &f->cells_per_column_limit_filter);
	case nr_row_filter_apply_label_transformer:
		return take_label(in, &f->apply_label_transformer);
	default:
		return take_sample(in, f);
	}
}

static bool take_name(struct parser *in, const char *name)
{
	size_t size = strlen(name);

	if (strncmp(in->p, name, size) != 0)
		return false;
	in->p += size;
	return true;
}

/* One filter from the front. */
static bool take_filter(struct parser *in, struct proto_row_filter *out)
{
	static const struct {
		const char *name;
		uint32_t number;
	} all[] = {
		{ "chain(", nr_row_filter_chain },
		{ "interleave(", nr_row_filter_interleave },
		{ "cond(", nr_row_filter_condition },
		{ "rowregex(", nr_row_filter_row_key_regex_filter },
		{ "family(", nr_row_filter_family_name_regex_filter },
		{ "qual(", nr_row_filter_column_qualifier_regex_filter },
		{ "value(", nr_row_filter_value_regex_filter },
		{ "cols(", nr_row_filter_column_range_filter },
		{ "vals(", nr_row_filter_value_range_filter },
		{ "ts(", nr_row_filter_timestamp_range_filter },
		{ "cellsrow(", nr_row_filter_cells_per_row_limit_filter },
		{ "cellsrowoffset(",
		  nr_row_filter_cells_per_row_offset_filter },
		{ "cellscol(", nr_row_filter_cells_per_column_limit_filter },
		{ "label(", nr_row_filter_apply_label_transformer },
		{ "sample(", nr_row_filter_row_sample_filter },
	};
	size_t i;

	*out = (struct proto_row_filter){ .filter_case = 0 };
	if (take_name(in, "strip")) {
		out->filter_case = nr_row_filter_strip_value_transformer;
		return out->strip_value_transformer = true;
	}
	if (take_name(in, "pass")) {
		out->filter_case = nr_row_filter_pass_all_filter;
		return out->pass_all_filter = true;
	}
	if (take_name(in, "block")) {
		out->filter_case = nr_row_filter_block_all_filter;
		return out->block_all_filter = true;
	}
	if (take_name(in, "sink")) {
		out->filter_case = nr_row_filter_sink;
		return out->sink = true;
	}
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!take_name(in, all[i].name))
			continue;
		out->filter_case = all[i].number;
		return take_arguments(in, out) && take_char(in, ')');
	}
	return false;
}

int case_filter(struct run *r, const char *text, struct proto_row_filter **out)
{
	struct parser in = { r, text };

	*out = run_alloc(r, sizeof(**out));
	return *out && take_filter(&in, *out) && !*in.p ? 0 : RUN_MALFORMED;
}
