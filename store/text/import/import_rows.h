#ifndef STORE_TEXT_IMPORT_IMPORT_ROWS_H
#define STORE_TEXT_IMPORT_IMPORT_ROWS_H

#include "store/text/import/import_state.h"

/* Appends a field to the present record. */
int import_field_add(struct importer *im, size_t offset, size_t size);

/* Header or row, made of the fields. As import_take_*, but never 0. */
int import_record(struct importer *im);

#endif
