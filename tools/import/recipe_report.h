#ifndef TOOLS_IMPORT_RECIPE_REPORT_H
#define TOOLS_IMPORT_RECIPE_REPORT_H

#include "tools/import/recipe_import.h"

/* What an import by a recipe became. */
struct recipe_outcome {
	const struct import_result *result;
	uint64_t rows;           /* that came in */
	uint64_t committed_line; /* as in the result, of all files together */
	bool has_before; /* runs before this one took something of the file */
	bool is_changed; /* what ended it is that the table is another now */
	bool is_unsure;  /* more may be in: who has them tells no more */
	int err;         /* what ended it; 0: it came to its end */
};

/* What became of records that are not simply in. */
void recipe_tell_counts(struct verb_call *c, const struct recipe_import *r,
			const struct import_result *result);

/* Closes the rejects, of which an error is one of o, and tells it. The exit
 * status. */
int recipe_report(struct verb_call *c, struct recipe_import *r,
		  struct recipe_outcome *o);

/* Tells which line was taken for a header that nothing asked for, if one
 * was. */
void recipe_report_header(struct verb_call *c, const struct recipe_import *r,
			  const struct import_result *result);

#endif
