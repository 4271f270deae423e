#ifndef STORE_TEXT_IMPORT_IMPORT_SOURCE_H
#define STORE_TEXT_IMPORT_IMPORT_SOURCE_H

#include "store/text/import/import_state.h"

/* Files of an import by a recipe: where one begins and ends, and of which
 * format it is. Errors end the import. */

/* Begins a file: nothing of the one before is left in the input. */
int import_source_begin(struct importer *im, struct bytes file,
			enum recipe_format by_name);

/* Looks at the first bytes of a file, once: passes over a byte-order mark and
 * makes ready for its format. 1, or 0 if there are not enough of them yet. */
int import_source_look(struct importer *im, bool final);

#endif
