#ifndef TOOLS_IMPORT_RECIPE_IMPORT_H
#define TOOLS_IMPORT_RECIPE_IMPORT_H

#include "store/text/import/import.h"
#include "tools/verb/verb.h"

/*
 * import by a recipe: what is the same on a store and through a mount. The
 * files are opened and parsed by this process in both cases.
 *
 * The exit status is 0 if all is in, 1 if records were refused, 2 if it did not
 * come to its end or did not begin.
 */
struct recipe_import {
	const char *table;
	const char **files; /* owned; each is borrowed */
	unsigned int file_count;
	struct recipe *recipe; /* owned */
	bool refuse_duplicates;
	bool dry;         /* print rows, and write nothing */
	uint64_t dry_max; /* so many */
	uint64_t dry_count;
};

/* Takes the arguments of c: 0, or 2 after it said what is wrong. What r holds
 * is to be released in both cases. */
int recipe_import_arguments(struct verb_call *c, struct recipe_import *r);
void recipe_import_release(struct recipe_import *r);

/* Feeds all files and finishes: 0, or the error that ended it. Ends early once
 * a dry run has its rows. */
int recipe_import_feed(struct verb_call *c, struct recipe_import *r,
		       struct importer *im);

/* Tells what became of the records: refused is how many beside those of the
 * result, rows how many came in, err what ended it or 0. The exit status. */
int recipe_import_tell(struct verb_call *c, const struct import_result *result,
		       uint64_t rows, uint64_t refused, struct bytes lines,
		       int err);

/* Prints the first rows that would be written to a table. The exit status. */
int recipe_import_dry(struct verb_call *c, struct recipe_import *r,
		      const struct table *target);

/* import by a recipe, on a store. */
int verb_import_by_recipe(struct verb_call *c);

#endif
