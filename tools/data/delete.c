#include "tools/data/delete.h"
#include "tools/verb/verb.h"

static bool only_app_profile(const struct verb_call *c, int i)
{
	return i == c->argc ||
	       (i + 1 == c->argc && !strncmp(c->argv[i], "app-profile=", 12));
}

int verb_deleterow(struct verb_call *c)
{
	struct write *w;
	int err;

	if (c->argc < 3 || !only_app_profile(c, 3))
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (err < 0)
		return verb_failed(c, "Deleting row", err);
	err = write_row(w, bytes_string(c->argv[1]), bytes_string(c->argv[2]));
	if (!err)
		err = write_delete_row(w);
	if (!err)
		err = store_commit(c->store, w, true);
	write_free(w);
	return err < 0 ? verb_failed(c, "Deleting row", err) : 0;
}

int verb_deletecolumn(struct verb_call *c)
{
	struct write *w;
	int err;

	if (c->argc < 5 || !only_app_profile(c, 5))
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (err < 0)
		return verb_failed(c, "Deleting cells in column", err);
	err = write_row(w, bytes_string(c->argv[1]), bytes_string(c->argv[2]));
	if (!err)
		err = write_delete_column(w, bytes_string(c->argv[3]),
					  bytes_string(c->argv[4]));
	if (!err)
		err = store_commit(c->store, w, true);
	write_free(w);
	return err < 0 ? verb_failed(c, "Deleting cells in column", err) : 0;
}

int verb_deleteallrows(struct verb_call *c)
{
	struct write *w;
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (err < 0)
		return verb_failed(c, "Deleting all rows", err);
	err = write_delete_range(w, bytes_string(c->argv[1]), BYTES_NONE,
				 BYTES_NONE);
	if (!err)
		err = store_commit(c->store, w, true);
	write_free(w);
	return err < 0 ? verb_failed(c, "Deleting all rows", err) : 0;
}

int verb_deleterows(struct verb_call *c)
{
	enum { PREFIX, START, END };
	static const char *const keys[] = { "prefix", "start", "end", NULL };
	const char *values[3] = { NULL, NULL, NULL };
	struct bytes table, start, end;
	struct write *w;
	int err;

	if (c->argc < 3)
		return verb_usage(c);
	if (verb_arguments(c, 2, keys, values))
		return 1;
	if (values[PREFIX] && (values[START] || values[END]))
		return verb_wrong(c, "\"start\"/\"end\" may not be mixed with "
				     "\"prefix\"");
	table = bytes_string(c->argv[1]);
	start = bytes_string(values[START] ? values[START] : "");
	end = bytes_string(values[END] ? values[END] : "");
	/* So that a slip does not empty a table. */
	if (!values[PREFIX] && start.size == 0 && end.size == 0)
		return verb_wrong(c, "start and end are empty; to delete all "
				     "rows, use deleteallrows");
	err = write_new(c->store, &w);
	if (err < 0)
		return verb_failed(c, "Deleting rows", err);
	if (values[PREFIX])
		err = write_delete_prefix(w, table,
					  bytes_string(values[PREFIX]));
	else
		err = write_delete_range(w, table, start, end);
	if (!err)
		err = store_commit(c->store, w, true);
	write_free(w);
	return err < 0 ? verb_failed(c, "Deleting rows", err) : 0;
}
