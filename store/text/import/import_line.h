#ifndef STORE_TEXT_IMPORT_IMPORT_LINE_H
#define STORE_TEXT_IMPORT_IMPORT_LINE_H

#include "store/text/import/import_state.h"

/* The input by lines; CSV, whose records may span several, uses the second
 * function only. */

/*
 * Shows the next line without its end, LF or CR LF: 1 with *line, which lives
 * until the next input, and im->at the size of it with its end; 0 if it is not
 * whole yet. With final, what is left is a line.
 */
int import_take_line(struct importer *im, bool final, struct bytes *line);

/* The record of size bytes from im->start on is done with, line end included:
 * the next one begins at line im->line_next. 1, or an error of who takes
 * refused records. */
int import_advance(struct importer *im, size_t size);

#endif
