#ifndef STORE_TEXT_IMPORT_IMPORT_ROWS_H
#define STORE_TEXT_IMPORT_IMPORT_ROWS_H

#include "store/text/import/import_state.h"

/* What the records of CSV and TSV mean, once they are taken apart. */

/* Appends a field to the present record, by its offset from im->start; quoted
 * ones are there even if they are empty. Beyond
 * im->field_max it is only counted. 0 or -ENOMEM. */
int import_field_add(struct importer *im, size_t offset, size_t size,
		     bool quoted);

/* The present record, made of the fields, of which there is one at least: a
 * header, or a row that goes into im->w. 1 if it was taken, or refused;
 * negative if the import has to end, as for any wrong header. */
int import_record(struct importer *im);

#endif
