#ifndef STORE_TEXT_IMPORT_IMPORT_ARRAY_H
#define STORE_TEXT_IMPORT_IMPORT_ARRAY_H

#include "store/text/import/import_state.h"

/*
 * Takes one record from the front of a JSON text that is an array of records,
 * or one record after another: 1 if it did, or refused it; 0 if it is not whole
 * yet, or there is no more; negative if the import has to end, as where no
 * record can be told from the next. With final, no more input comes.
 */
int import_take_array(struct importer *im, bool final);

/* What importer_rest says of an array. */
int import_array_rest(const struct importer *im);

#endif
