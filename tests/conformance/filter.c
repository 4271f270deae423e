#include <stdlib.h>

#include "tests/conformance/filter.h"

#define PARTS_MAX 200

/* The text under way; what is left of it. */
struct parser {
	struct run *r;
	const char *p;
};

/* The characters up to a comma or the closing parenthesis. */
static int take_word(struct parser *in, struct buf *out)
{
	size_t size = strcspn(in->p, ",)");
	int err;

	buf_reset(out);
	err = buf_add(out, in->p, size);
	in->p += size;
	return err < 0 ? err : buf_terminate(out);
}

static bool take_char(struct parser *in, char c)
{
	if (*in->p != c)
		return false;
	in->p++;
	return true;
}

static int take_bytes_word(struct parser *in, struct buf *out)
{
	struct buf word = BUF_INIT;
	int err = take_word(in, &word);

	if (!err && !parse_bytes((char *)word.data, out))
		err = RUN_MALFORMED;
	buf_release(&word);
	return err;
}

typedef int regex_filter(struct bytes pattern, struct filter **out);
typedef int limit_filter(int64_t n, struct filter **out);

static int take_regex(struct parser *in, regex_filter *make,
		      struct filter **out)
{
	struct buf pattern = BUF_INIT;
	int err = take_bytes_word(in, &pattern);

	if (!err)
		err = make(buf_bytes(&pattern), out);
	buf_release(&pattern);
	return err;
}

static int take_limit(struct parser *in, limit_filter *make,
		      struct filter **out)
{
	struct buf word = BUF_INIT;
	int err = take_word(in, &word);

	if (!err)
		err = make(strtoll((char *)word.data, NULL, 10), out);
	buf_release(&word);
	return err;
}

/* ge:B gt:B le:B lt:B, up to two, separated by commas. */
static int take_range(struct parser *in, struct buf *start, struct buf *end,
		      struct filter_range *range)
{
	int err = 0;

	while (!err && *in->p && *in->p != ')') {
		bool lower = in->p[0] == 'g', open = in->p[1] == 't';

		if (strlen(in->p) < 3 || in->p[2] != ':')
			return RUN_MALFORMED;
		in->p += 3;
		err = take_bytes_word(in, lower ? start : end);
		if (lower) {
			range->has_start = true;
			range->start_open = open;
		} else {
			range->has_end = true;
			range->end_closed = !open;
		}
		take_char(in, ',');
	}
	range->start = buf_bytes(start);
	range->end = buf_bytes(end);
	return err;
}

static int take_columns(struct parser *in, bool has_family, struct filter **out)
{
	struct buf word = BUF_INIT, family = BUF_INIT, start = BUF_INIT,
		   end = BUF_INIT;
	struct filter_range range = { .has_start = false };
	int err = has_family ? take_word(in, &word) : 0;

	if (!err && has_family && !parse_name((char *)word.data, &family))
		err = RUN_MALFORMED;
	if (has_family)
		take_char(in, ',');
	if (!err)
		err = take_range(in, &start, &end, &range);
	if (!err)
		err = has_family ? filter_new_columns(buf_bytes(&family),
						      &range, out)
				 : filter_new_values(&range, out);
	buf_release(&word);
	buf_release(&family);
	buf_release(&start);
	buf_release(&end);
	return err;
}

static int take_times(struct parser *in, struct filter **out)
{
	struct buf word = BUF_INIT;
	int64_t times[2] = { 0, 0 };
	size_t i;
	int err = 0;

	for (i = 0; !err && i < 2; i++) {
		err = take_word(in, &word);
		if (!err && word.size > 0) {
			/* Symbols are remembered by their text. */
			char *text = strdup((char *)word.data);

			if (!text || list_add(&in->r->texts, text) ||
			    !parse_time(in->r, text, &times[i]))
				err = RUN_MALFORMED;
		}
		take_char(in, ',');
	}
	buf_release(&word);
	return err ? err
		   : filter_new_timestamps((uint64_t)times[0],
					   (uint64_t)times[1], out);
}

static int take_label(struct parser *in, struct filter **out)
{
	struct buf word = BUF_INIT;
	int err = take_word(in, &word);

	if (!err)
		err = filter_new_label(buf_bytes(&word), out);
	buf_release(&word);
	return err;
}

static int take_sample(struct parser *in, struct filter **out)
{
	struct buf word = BUF_INIT;
	int err = take_word(in, &word);

	if (!err)
		err = filter_new_sample(strtod((char *)word.data, NULL), out);
	buf_release(&word);
	return err;
}

static int take_filter(struct parser *in, struct filter **out);

enum composed {
	CHAIN,
	INTERLEAVE,
	CONDITION,
};

static int take_parts(struct parser *in, enum composed kind,
		      struct filter **out)
{
	struct filter *parts[PARTS_MAX] = { NULL };
	size_t count = 0, i;
	int err = 0;

	while (!err && *in->p && *in->p != ')') {
		if (count == PARTS_MAX)
			err = RUN_MALFORMED;
		else if (kind != CONDITION || !take_char(in, '-'))
			err = take_filter(in, &parts[count]);
		count++;
		take_char(in, ',');
	}
	if (!err && kind == CONDITION && count != 3)
		err = RUN_MALFORMED;
	if (err) {
		for (i = 0; i < count && i < PARTS_MAX; i++)
			filter_free(parts[i]);
		return err;
	}
	switch (kind) {
	case CHAIN:
		return filter_new_chain(parts, count, out);
	case INTERLEAVE:
		return filter_new_interleave(parts, count, out);
	default:
		return filter_new_condition(parts[0], parts[1], parts[2], out);
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

static int take_arguments(struct parser *in, struct filter **out)
{
	if (take_name(in, "chain("))
		return take_parts(in, CHAIN, out);
	if (take_name(in, "interleave("))
		return take_parts(in, INTERLEAVE, out);
	if (take_name(in, "cond("))
		return take_parts(in, CONDITION, out);
	if (take_name(in, "rowregex("))
		return take_regex(in, filter_new_row, out);
	if (take_name(in, "family("))
		return take_regex(in, filter_new_family, out);
	if (take_name(in, "qual("))
		return take_regex(in, filter_new_qualifier, out);
	if (take_name(in, "value("))
		return take_regex(in, filter_new_value, out);
	if (take_name(in, "cols("))
		return take_columns(in, true, out);
	if (take_name(in, "vals("))
		return take_columns(in, false, out);
	if (take_name(in, "ts("))
		return take_times(in, out);
	if (take_name(in, "cellsrow("))
		return take_limit(in, filter_new_row_limit, out);
	if (take_name(in, "cellsrowoffset("))
		return take_limit(in, filter_new_row_offset, out);
	if (take_name(in, "cellscol("))
		return take_limit(in, filter_new_column_limit, out);
	if (take_name(in, "label("))
		return take_label(in, out);
	if (take_name(in, "sample("))
		return take_sample(in, out);
	return RUN_MALFORMED;
}

/* One filter from the front. */
static int take_filter(struct parser *in, struct filter **out)
{
	int err;

	*out = NULL;
	if (take_name(in, "strip"))
		return filter_new_strip(out);
	if (take_name(in, "pass"))
		return filter_new_pass(out);
	if (take_name(in, "block"))
		return filter_new_block(out);
	if (take_name(in, "sink"))
		return filter_new_sink(out);
	err = take_arguments(in, out);
	if (!err && !take_char(in, ')')) {
		filter_free(*out);
		*out = NULL;
		err = RUN_MALFORMED;
	}
	return err;
}

int case_filter(struct run *r, const char *text, struct filter **out)
{
	struct parser in = { r, text };
	int err = take_filter(&in, out);

	if (!err && *in.p) {
		filter_free(*out);
		*out = NULL;
		err = RUN_MALFORMED;
	}
	return err;
}
