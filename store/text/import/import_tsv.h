#ifndef STORE_TEXT_IMPORT_IMPORT_TSV_H
#define STORE_TEXT_IMPORT_IMPORT_TSV_H

#include "store/text/import/import_state.h"

int import_take_tsv(struct importer *im, bool final);

#endif
