#ifndef TOOLS_IMPORT_RECIPE_IMPORT_H
#define TOOLS_IMPORT_RECIPE_IMPORT_H

#include "store/text/import/import.h"
#include "tools/import/rejects.h"
#include "tools/verb/verb.h"

/*
 * import by a recipe: what is the same on a store and through a mount. The
 * files are opened and parsed by this process in both cases.
 */

/* Exit statuses: all is in; records were refused; it did not come to its end,
 * or did not begin. */
enum { ALL_IN = 0, SOME_REFUSED = 1, NOT_FINISHED = 2 };

struct recipe_import {
	const char *table;
	const char **files; /* owned; each is borrowed */
	unsigned int file_count, begun_count;
	uint64_t *line_bases;  /* owned; of each file begun, lines before it */
	struct recipe *recipe; /* owned */
	const char *recipe_file; /* borrowed; NULL: none */
	const char *resume;      /* borrowed; NULL: it has no name */
	bool refuse_duplicates, stop, quiet;
	struct rejects rejects; /* open from recipe_import_feed on */
	bool dry;               /* print rows, and write nothing */
	uint64_t dry_max;       /* so many */
	uint64_t dry_count;
};

/* Takes the arguments of c, whose store is mounted at root, or -1: open. 0, or
 * 2 after it said what is wrong. What r holds is to be released in both cases.
 */
int recipe_import_arguments(struct verb_call *c, int root,
			    struct recipe_import *r);
void recipe_import_release(struct recipe_import *r);

/* Feeds all files and finishes: 0, or the error that ended it. Ends early once
 * a dry run has its rows. */
int recipe_import_feed(struct verb_call *c, struct recipe_import *r,
		       struct importer *im);

/* What an importer is to do, but for where rows go. */
struct import_options recipe_import_options(const struct recipe_import *r);

/* Prints the first rows that would be written to a table. The exit status. */
int recipe_import_dry(struct verb_call *c, struct recipe_import *r,
		      const struct table *target);

/* import by a recipe, on a store. */
int verb_import_by_recipe(struct verb_call *c);

#endif
