#ifndef STORE_TEXT_IMPORT_IMPORT_CSV_H
#define STORE_TEXT_IMPORT_IMPORT_CSV_H

#include "store/text/import/import_state.h"

/*
 * Takes one record from the front: 1 if it did (or refused one), 0 if it is
 * not whole yet, negative if the import has to end. With final, there is no
 * more to come.
 */
int import_take_csv(struct importer *im, bool final);

#endif
