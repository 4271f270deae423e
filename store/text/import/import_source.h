#ifndef STORE_TEXT_IMPORT_IMPORT_SOURCE_H
#define STORE_TEXT_IMPORT_IMPORT_SOURCE_H

#include "store/text/import/import_state.h"

/* How an input begins; and the files of an import by a recipe: where one begins
 * and ends, and of which format it is. Errors end the import. */

/* Begins a file: nothing of the one before is left in the input. */
int import_source_begin(struct importer *im, struct bytes file,
			enum recipe_format by_name);

/* Looks at the first bytes of an input, whatever its form, once: passes over a
 * byte-order mark of UTF-8, but in cbt's form, and refuses UTF-16 and UTF-32,
 * with a mark or without. 1, or 0 if there are not enough of them yet. */
int import_source_mark(struct importer *im, bool final);

/* The same of a file, by a recipe, and makes ready for its format. CSV, TSV
 * and control whose lines end with CR alone are refused. */
int import_source_look(struct importer *im, bool final);

#endif
