#include "tools/data/select_rows.h"

/* The words of one range, as far as they have come. */
struct range_words {
	struct filter_range range;
	struct bytes prefix; /* empty: none */
	bool has_key;        /* and keys, which were added */
};

/* Whether the word is name=, with its value. */
static bool is_word(const char *word, const char *name, struct bytes *value)
{
	size_t size = strlen(name);

	if (strncmp(word, name, size) || word[size] != '=')
		return false;
	*value = bytes_string(word + size + 1);
	return true;
}

/* Notes a word that bounds a range; one without a value takes the bound back,
 * as cbt does. */
static void take_bound(struct range_words *w, const char *word)
{
	struct filter_range *r = &w->range;
	struct bytes value;
	bool open;

	if (is_word(word, "prefix", &value))
		w->prefix = value;
	open = is_word(word, "after", &value);
	if (open || is_word(word, "start", &value)) {
		r->start = value;
		r->has_start = value.size > 0;
		r->start_open = open;
	}
	open = !is_word(word, "through", &value);
	if (!open || is_word(word, "end", &value)) {
		r->end = value;
		r->has_end = value.size > 0;
		r->end_closed = !open;
	}
}

/* A range is whole: adds it, and begins another. 0, or 1 after it said what is
 * wrong. */
static int end_range(struct verb_call *c, struct range_words *w,
		     bool among_others, struct select *s)
{
	bool bounded = w->range.has_start || w->range.has_end;
	int err = 0;

	if (bounded && w->prefix.size > 0)
		return verb_wrong(c, "\"start\"/\"end\" may not be mixed with "
				     "\"prefix\"");
	if (among_others && !bounded && w->prefix.size == 0 && !w->has_key)
		return verb_wrong(c, "\"" SELECT_OR "\" parts keys and ranges: "
				     "one is missing");
	if (bounded)
		err = select_add_range(s, &w->range);
	else if (w->prefix.size > 0)
		err = select_add_prefix(s, w->prefix);
	*w = (struct range_words){ .prefix = BYTES_NONE };
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

int select_rows(struct verb_call *c, int first, struct select *s)
{
	struct range_words range = { .prefix = BYTES_NONE };
	struct bytes key;
	bool others = false;
	int i, err;

	for (i = first; i < c->argc; i++) {
		if (!strcmp(c->argv[i], SELECT_OR)) {
			others = true;
			if (end_range(c, &range, others, s))
				return 1;
			continue;
		}
		take_bound(&range, c->argv[i]);
		if (!is_word(c->argv[i], "key", &key))
			continue;
		range.has_key = true;
		err = select_add_row(s, key);
		if (err < 0)
			return verb_failed(c, "Reading rows", err);
	}
	return end_range(c, &range, others, s);
}
