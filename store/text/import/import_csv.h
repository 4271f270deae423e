#ifndef STORE_TEXT_IMPORT_IMPORT_CSV_H
#define STORE_TEXT_IMPORT_IMPORT_CSV_H

#include "store/text/import/import_state.h"

/*
 * Takes one CSV record from the front of the input: 1 if it did (or refused
 * one, or skipped a blank line), 0 if it is not whole yet, negative if the
 * import has to end. With final, no more input comes.
 */
int import_take_csv(struct importer *im, bool final);

/* What importer_rest says of CSV. */
int import_csv_rest(struct importer *im);

#endif
