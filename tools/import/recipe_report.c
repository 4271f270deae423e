#include "tools/import/import_report.h"
#include "tools/import/recipe_report.h"
#include "tools/verb/stop.h"

/* The file, from 1, in which a line of the import is; 0: none. */
static unsigned int file_of(const struct recipe_import *r, uint64_t line)
{
	unsigned int i = r->begun_count;

	while (i > 0 && r->line_bases[i - 1] >= line)
		i--;
	return i;
}

void recipe_report_header(struct verb_call *c, const struct recipe_import *r,
			  const struct import_result *result)
{
	uint64_t line = result->header_line;
	unsigned int i = file_of(r, line);

	if (i > 0)
		verb_wrong(c, "%s:%llu: " IMPORT_HEADER_TAKEN, r->files[i - 1],
			   (unsigned long long)(line - r->line_bases[i - 1]));
}

/* Up to where all good records are in, as file and line; of the first line
 * there may be a part, as of an array that is all on it. */
static void tell_committed(struct verb_call *c, const struct recipe_import *r,
			   uint64_t line, bool any)
{
	unsigned int i = file_of(r, line);

	if (i == 0 && any && r->begun_count > 0)
		verb_wrong(c, "a part of what begins at %s:1 is committed",
			   r->files[0]);
	else if (i == 0)
		verb_wrong(c, "no line is committed");
	else
		verb_wrong(c, "committed up to %s:%llu", r->files[i - 1],
			   (unsigned long long)(line - r->line_bases[i - 1]));
}

/* The same when the daemon is gone: what it said last. */
static void tell_known(struct verb_call *c, const struct recipe_import *r,
		       uint64_t line)
{
	if (line == 0 || r->begun_count == 0) {
		verb_wrong(c, "which lines are in is not known, for the mount "
			      "does not tell any more");
		return;
	}
	tell_committed(c, r, line, true);
	verb_wrong(c, "more may be in, for the mount does not tell any more");
}

/* What to do, where nothing is wrong with what was asked for. */
static void tell_how_on(struct verb_call *c, const struct recipe_import *r,
			const struct recipe_outcome *o)
{
	int number = err_errno(o->err);

	if (!stop_check() && !o->is_changed &&
	    (number == EINVAL || number == ENOENT || number == EACCES ||
	     number == EISDIR || number == ENOTDIR))
		return;
	if (r->resume)
		verb_wrong(c, "the same command goes on from there");
	else
		verb_wrong(c, "the same command begins anew; one that also "
			      "says resume=NAME can go on when it is stopped");
}

/* The last record of a file that may grow. */
static void tell_left(struct verb_call *c, const struct recipe_import *r,
		      const struct import_result *result)
{
	unsigned long long line = result->left_line;

	if (result->left_quote > 0)
		verb_wrong(c,
			   "%s:%llu:%llu: the quote that begins here has no "
			   "end yet, so all from its record on is left for the "
			   "next time; if the field is whole, end it there "
			   "with a quote; if quotes are text in this file, "
			   "begin anew with quote=none",
			   r->files[0], line,
			   (unsigned long long)result->left_quote);
	else
		verb_wrong(c,
			   "%s:%llu: the last line has no end yet, so it is "
			   "left for the next time; a newline ends it",
			   r->files[0], line);
}

/* Braces that were forgotten make one row of all records. */
static void tell_fixed_key(struct verb_call *c, const struct recipe_import *r)
{
	struct bytes key;

	if (recipe_fixed_key(r->recipe, &key))
		fprintf(c->err,
			"every record gets the row \"%.*s\"; for a field of "
			"that name write key='{%.*s}'\n",
			(int)key.size, key.data, (int)key.size, key.data);
}

void recipe_tell_counts(struct verb_call *c, const struct recipe_import *r,
			const struct import_result *result)
{
	if (result->unexploded_count > 0)
		fprintf(c->err,
			"records without the field that explode names: %llu\n",
			(unsigned long long)result->unexploded_count);
	if (result->skipped_count > 0)
		fprintf(c->err, "skipped records: %llu\n",
			(unsigned long long)result->skipped_count);
	if (result->empty_count > 0)
		fprintf(c->err,
			"records without a cell: %llu, of which no field that "
			"the recipe sets is there\n",
			(unsigned long long)result->empty_count);
	if (result->replaced_count > 0)
		fprintf(c->err,
			"replaced cells: %s%llu, which a later record set "
			"again\n",
			result->replaced_more ? "at least " : "",
			(unsigned long long)result->replaced_count);
	if (result->replaced_count > 0)
		tell_fixed_key(c, r);
	if (result->hidden_count > 0)
		fprintf(c->err,
			"hidden cells: %llu, by the age that their family's "
			"policy keeps\n",
			(unsigned long long)result->hidden_count);
}

int recipe_report(struct verb_call *c, struct recipe_import *r,
		  struct recipe_outcome *o)
{
	uint64_t refused = o->result->refused_count;
	int status = ALL_IN;

	if (o->err < 0) {
		verb_wrong(c, "%s", verb_error_text(o->err));
		rejects_close(&r->rejects);
	} else {
		o->err = rejects_close(&r->rejects);
		if (o->err < 0)
			verb_wrong(c, "%s", verb_error_text(o->err));
	}
	if (o->err < 0) {
		if (o->is_unsure)
			tell_known(c, r, o->committed_line);
		else
			tell_committed(c, r,
				       o->rows || r->resume ? o->committed_line
							    : 0,
				       o->rows || o->has_before);
		tell_how_on(c, r, o);
		status = NOT_FINISHED;
		/* The error says all. */
		if (o->is_unsure || (o->rows == 0 && refused == 0))
			return status;
	} else if (o->result->left_line > 0) {
		tell_left(c, r, o->result);
		status = SOME_REFUSED;
	}
	recipe_report_header(c, r, o->result);
	recipe_tell_counts(c, r, o->result);
	if (import_report(c, o->rows, refused,
			  buf_bytes(&o->result->refused)) &&
	    status == ALL_IN)
		status = SOME_REFUSED;
	return status;
}
