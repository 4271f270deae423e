#include "tests/conformance/filter.h"

#include <stdlib.h>

#define STEPS_MAX 8

enum filter_kind {
	FILTER_ROW,
	FILTER_FAMILY,
	FILTER_QUALIFIER,
	FILTER_VALUE,
	FILTER_VERSIONS,
	FILTER_STRIP,
};

struct filter_step {
	enum filter_kind kind;
	struct regex *regex;
	uint64_t limit, count;
};

struct filter {
	struct filter_step steps[STEPS_MAX];
	size_t count;
};

/* An empty pattern matches the empty string only; but no row has that key. */
static int parse_regex(const char *text, size_t size, bool row,
		       struct regex **out)
{
	struct buf token = BUF_INIT, pattern = BUF_INIT;
	int err = RUN_MALFORMED;

	if (buf_add(&token, text, size) == 0 && buf_terminate(&token) == 0 &&
	    parse_bytes((char *)token.data, &pattern))
		err = row && pattern.size == 0
			      ? -ERR_bad_argument
			      : regex_new(buf_bytes(&pattern), out);
	buf_release(&token);
	buf_release(&pattern);
	return err;
}

/* One filter without parts, of size characters. */
static int add_step(struct run *r, struct filter *f, const char *text,
		    size_t size)
{
	static const struct {
		const char *name;
		enum filter_kind kind;
	} kinds[] = {
		{ "rowregex(", FILTER_ROW },      { "family(", FILTER_FAMILY },
		{ "qual(", FILTER_QUALIFIER },    { "value(", FILTER_VALUE },
		{ "cellscol(", FILTER_VERSIONS }, { "strip", FILTER_STRIP },
	};
	struct filter_step *step = &f->steps[f->count];
	size_t i, skip;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(text, kinds[i].name, strlen(kinds[i].name)))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]) || f->count == STEPS_MAX)
		return run_skip(r, "only simple filters are there yet");
	step->kind = kinds[i].kind;
	skip = strlen(kinds[i].name);
	f->count++;
	if (step->kind == FILTER_VERSIONS)
		step->limit = strtoull(text + skip, NULL, 10);
	else if (step->kind != FILTER_STRIP)
		return parse_regex(text + skip, size - skip - 1,
				   step->kind == FILTER_ROW, &step->regex);
	return 0;
}

int filter_new(struct run *r, const char *text, struct filter **out)
{
	bool chain = !strncmp(text, "chain(", 6);
	struct filter *f = calloc(1, sizeof(*f));
	int err = f ? 0 : -ENOMEM;

	*out = NULL;
	if (!chain && !err)
		err = add_step(r, f, text, strlen(text));
	text += 6;
	while (chain && !err && *text) {
		size_t size = strcspn(text, ",)");

		size += text[size] == ')' && memchr(text, '(', size);
		err = add_step(r, f, text, size);
		text += size + 1;
	}
	if (!err && chain && f->count < 2)
		err = -ERR_bad_argument;
	if (err) {
		filter_free(f);
		return err;
	}
	*out = f;
	return 0;
}

void filter_free(struct filter *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->count; i++)
		regex_free(f->steps[i].regex);
	free(f);
}

int filter_cell(struct filter *f, struct cell *cell, bool new_column)
{
	int pass = 1;
	size_t i;

	for (i = 0; i < f->count; i++) {
		struct filter_step *step = &f->steps[i];

		if (new_column)
			step->count = 0;
		if (pass <= 0)
			continue;
		switch (step->kind) {
		case FILTER_ROW:
			pass = regex_match(step->regex, cell->row);
			break;
		case FILTER_FAMILY:
			pass = regex_match(step->regex, cell->family);
			break;
		case FILTER_QUALIFIER:
			pass = regex_match(step->regex, cell->qualifier);
			break;
		case FILTER_VALUE:
			pass = regex_match(step->regex, cell->value);
			break;
		case FILTER_VERSIONS:
			pass = step->count++ < step->limit;
			break;
		case FILTER_STRIP:
			cell->value = BYTES_NONE;
			break;
		}
	}
	return pass;
}
