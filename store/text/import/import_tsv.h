#ifndef STORE_TEXT_IMPORT_IMPORT_TSV_H
#define STORE_TEXT_IMPORT_IMPORT_TSV_H

#include "store/text/import/import_state.h"

/*
 * Takes one line of tab-separated values from the front of the input: 1 if it
 * did (or refused it, or skipped a blank one), 0 if it is not whole yet,
 * negative if the import has to end. With final, no more input comes.
 */
int import_take_tsv(struct importer *im, bool final);

#endif
