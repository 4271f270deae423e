#ifndef STORE_TEXT_IMPORT_IMPORT_RECIPE_H
#define STORE_TEXT_IMPORT_IMPORT_RECIPE_H

#include "store/text/import/import_state.h"

/* Records that become rows by a recipe. Errors that are returned end the
 * import; a wrong record is refused. */

/* Makes ready for options->recipe, and looks whether the table has what it
 * writes to. What it made is import_recipe_release's to free in any case. */
int import_recipe_init(struct importer *im,
		       const struct import_options *options);
void import_recipe_release(struct importer *im);

/* The format of a file is known: binds the fields, unless a header is to
 * come. */
int import_recipe_begin(struct importer *im);

/* The present record, made of the fields: a header or data. 1 or an error. */
int import_recipe_record(struct importer *im);

/* The present record, a JSON text. 1 or an error. */
int import_recipe_json(struct importer *im, struct bytes text);

/* What that would refuse such a record for; nothing becomes of it. 0 or an
 * error. */
int import_recipe_judge(struct importer *im, struct bytes text);

#endif
