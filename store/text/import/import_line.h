#ifndef STORE_TEXT_IMPORT_IMPORT_LINE_H
#define STORE_TEXT_IMPORT_IMPORT_LINE_H

#include "store/text/import/import_state.h"

/* The next line, without its end (LF or CR LF): as above. */
int import_take_line(struct importer *im, bool final, struct bytes *line);

/* The record up to size bytes from start is done with. */
void import_advance(struct importer *im, size_t size);

#endif
