#ifndef STORE_TEXT_IMPORT_IMPORT_JSON_H
#define STORE_TEXT_IMPORT_IMPORT_JSON_H

#include "store/text/import/import_state.h"

int import_take_json(struct importer *im, bool final);

#endif
