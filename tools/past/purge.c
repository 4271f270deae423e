#include <stdlib.h>

#include "tools/data/select_rows.h"
#include "tools/past/purge.h"

#define ALL_ROWS "rows=all"

/* What erases for good passes over no word that it does not know. 0, or 1 after
 * it said which. */
static int check_words(struct verb_call *c, bool *all)
{
	static const char *const known[] = { "key=",   "prefix=", "start=",
					     "after=", "end=",    "through=" };
	bool any;
	size_t j;
	int i;

	*all = false;
	for (i = 2; i < c->argc; i++) {
		any = !strcmp(c->argv[i], SELECT_OR);
		if (!strcmp(c->argv[i], ALL_ROWS))
			*all = any = true;
		for (j = 0; j < sizeof(known) / sizeof(*known); j++)
			any |= !strncmp(c->argv[i], known[j], strlen(known[j]));
		if (!any)
			return verb_wrong(
				c,
				"\"%s\": rows are key=, prefix=, "
				"start=, after=, end=, through= or " ALL_ROWS,
				c->argv[i]);
	}
	if (*all && c->argc > 3)
		return verb_wrong(c, ALL_ROWS " stands alone");
	return 0;
}

static void report(struct verb_call *c, const struct purge_result *r)
{
	fprintf(c->out,
		"%llu rows deleted\n"
		"%llu entries erased from %llu files and %llu of history; %llu "
		"files of large values dropped; %llu bytes in all\n",
		(unsigned long long)r->rows, (unsigned long long)r->entries,
		(unsigned long long)r->files, (unsigned long long)r->past_files,
		(unsigned long long)r->blob_files, (unsigned long long)r->size);
}

/* The spans of a selection that is settled, to be freed; NULL without memory.
 */
static struct purge_span *spans_of(const struct select *s)
{
	struct purge_span *spans = calloc(s->count + 1, sizeof(*spans));
	size_t i;

	for (i = 0; spans && i < s->count; i++)
		spans[i] = (struct purge_span){ buf_bytes(&s->spans[i].start),
						buf_bytes(&s->spans[i].end) };
	return spans;
}

static int purge(struct verb_call *c, struct select *select, bool all)
{
	struct purge_span *spans;
	struct purge_result r = { 0 };
	int err = select_settle(select);

	spans = err < 0 ? NULL : spans_of(select);
	if (!err && !spans)
		err = -ENOMEM;
	/* An empty span is all rows. */
	if (!err)
		err = store_purge(c->store, bytes_string(c->argv[1]), spans,
				  all ? 1 : select->count, STORE_PURGE_WAIT_MS,
				  &r);
	free(spans);
	if (!err || r.rows + r.entries > 0)
		report(c, &r);
	if (err < 0)
		return verb_failed(c, "Purging", err);
	fputs("backups, dumps and copies of the store were not touched, and it "
	      "knows of none: tabletfs backups <dir> lists those in a "
	      "directory\n",
	      c->out);
	return 0;
}

int verb_purge(struct verb_call *c)
{
	struct select select = SELECT_INIT;
	bool all;
	int wrong;

	if (c->argc < 3)
		return verb_usage(c);
	wrong = check_words(c, &all);
	if (!wrong && !all)
		wrong = select_rows(c, 2, &select);
	/* So that a slip does not empty a table. */
	if (!wrong && !all && select.count == 0)
		wrong = verb_wrong(
			c, "no row is named; to erase all rows, say " ALL_ROWS);
	if (!wrong)
		wrong = purge(c, &select, all);
	select_release(&select);
	return wrong;
}
