#include "tools/data/delete.h"

/* Each verb is one write of one mutation, however much it deletes, and commits
 * it durably: a range is a tombstone, so no row is read. Usage errors are told
 * before the store is asked. */

/* Whether the arguments from i on are none, or an app-profile, which is taken
 * and ignored. */
static bool only_app_profile(const struct verb_call *c, int i)
{
	return i == c->argc ||
	       (i + 1 == c->argc && !strncmp(c->argv[i], "app-profile=", 12));
}

/* Commits w, durably, unless there is an error already, and ends it: the exit
 * status. w may be NULL after an error. */
static int finish(struct verb_call *c, struct write *w, const char *doing,
		  int err)
{
	if (!err)
		err = store_commit(c->store, w, true);
	write_free(w);
	return err < 0 ? verb_failed(c, doing, err) : 0;
}

int verb_deleterow(struct verb_call *c)
{
	struct write *w = NULL;
	int err;

	if (c->argc < 3 || !only_app_profile(c, 3))
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (!err)
		err = write_row(w, bytes_string(c->argv[1]),
				bytes_string(c->argv[2]));
	if (!err)
		err = write_delete_row(w);
	return finish(c, w, "Deleting row", err);
}

int verb_deletecolumn(struct verb_call *c)
{
	struct write *w = NULL;
	int err;

	if (c->argc < 5 || !only_app_profile(c, 5))
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (!err)
		err = write_row(w, bytes_string(c->argv[1]),
				bytes_string(c->argv[2]));
	if (!err)
		err = write_delete_column(w, bytes_string(c->argv[3]),
					  bytes_string(c->argv[4]));
	return finish(c, w, "Deleting cells in column", err);
}

int verb_deleteallrows(struct verb_call *c)
{
	struct write *w = NULL;
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (!err)
		err = write_delete_range(w, bytes_string(c->argv[1]),
					 BYTES_NONE, BYTES_NONE);
	return finish(c, w, "Deleting all rows", err);
}

int verb_deleterows(struct verb_call *c)
{
	enum { PREFIX, START, END };
	static const char *const keys[] = { "prefix", "start", "end", NULL };
	const char *values[3] = { NULL, NULL, NULL };
	struct bytes table, start, end;
	struct write *w = NULL;
	int err;

	if (c->argc < 3)
		return verb_usage(c);
	if (verb_arguments(c, 2, keys, values))
		return 1;
	if (values[PREFIX] && (values[START] || values[END]))
		return verb_wrong(c, "\"start\"/\"end\" may not be mixed with "
				     "\"prefix\"");
	/* An empty start or end is an open one; an empty prefix is refused by
	 * the store. */
	table = bytes_string(c->argv[1]);
	start = bytes_string(values[START] ? values[START] : "");
	end = bytes_string(values[END] ? values[END] : "");
	/* So that a slip does not empty a table. */
	if (!values[PREFIX] && start.size == 0 && end.size == 0)
		return verb_wrong(c, "start and end are empty; to delete all "
				     "rows, use deleteallrows");
	err = write_new(c->store, &w);
	if (!err && values[PREFIX])
		err = write_delete_prefix(w, table,
					  bytes_string(values[PREFIX]));
	else if (!err)
		err = write_delete_range(w, table, start, end);
	return finish(c, w, "Deleting rows", err);
}
