#ifndef STORE_TEXT_IMPORT_IMPORT_RAW_H
#define STORE_TEXT_IMPORT_IMPORT_RAW_H

#include "store/text/import/import_state.h"

/*
 * Records as they stand in their file, for import_options.rejects: those that
 * are refused, and headers. All do nothing without it, and give 0 or an error,
 * which ends the import.
 */

/* Before size bytes at an offset from im->start are rewritten in place. */
int import_raw_keep(struct importer *im, size_t offset, size_t size);

/* The size bytes from im->start on are passed over; end tells whether the
 * record ends with them. */
int import_raw_pass(struct importer *im, size_t size, bool end);

/* Before anything is committed. */
int import_raw_flush(struct importer *im);

/* What one of those functions said, which is noted if it is an error. */
int import_raw_check(struct importer *im, int err);

#endif
