#ifndef STORE_TEXT_PRINT_PRINT_H
#define STORE_TEXT_PRINT_PRINT_H

#include "store/store.h"
#include "store/text/value/text_format.h"

/*
 * Printers: each turns a stream of cells, in scan order, into text appended to
 * out. Feed every cell, then finish; the caller drains out between calls, so
 * memory does not grow with the stream (of JSON lines, a row's aggregate
 * families wait for its end). After finish it is ready for another stream. One
 * thread at a time uses a printer; times in the cbt layout are local ones.
 *
 *   TEXT_CSV, TEXT_TSV  a header line, then a line for each cell:
 *                       row,family,qualifier,timestamp,value, which an import
 *                       takes by a recipe. No bytes are "" in CSV; what is of
 *                       an aggregate family is the number that it stands for
 *   TEXT_JSONL          a line for each row, as an import takes it
 *   TEXT_CBT            as cbt read prints rows
 *
 * A large value is fed as a struct large and printed by the next calls, a piece
 * in each: printer_cell, printer_large and printer_finish then append only that
 * and return 1, and are to be called again with the same arguments.
 *
 * Else calls return 0, or a negative error after which only printer_finish and
 * printer_free are allowed: -ENOMEM, or -ERR_bad_timestamp of a time that the
 * calendar of the cbt layout does not have.
 */
struct printer;

int printer_new(enum text_format format, struct printer **out);

/* NULL is none. */
void printer_free(struct printer *p);

/* From here on fields of CSV and TSV but those of the header are base64. */
void printer_base64(struct printer *p);

/* For who has finished the text of some rows and goes on with the next: what is
 * appended from here on is what would have followed without that. */
void printer_resume(struct printer *p);

/* What a filter labelled the next cell, borrowed until that is fed; "" if
 * nothing, as mostly. Only the cbt layout and JSON lines show it. */
void printer_label(struct printer *p, struct bytes label);

/* Appends the cell, and what ends the row or column before it. The cell is not
 * needed afterwards. */
int printer_cell(struct printer *p, const struct cell *cell, struct buf *out);

/* As printer_cell, for a cell that a scan gave with keep_large. On 0 p has a
 * reference of its own. */
int printer_large(struct printer *p, const struct cell *cell,
		  struct large *large, struct buf *out);

/* Appends what ends the stream. Without any cell that is nothing, but of CSV
 * and TSV the header. */
int printer_finish(struct printer *p, struct buf *out);

#endif
