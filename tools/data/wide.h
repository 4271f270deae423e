#ifndef TOOLS_DATA_WIDE_H
#define TOOLS_DATA_WIDE_H

#include "store/text/print/print_field.h"

/*
 * Rows as records: a column for each family and qualifier, the newest version
 * that was selected in it. Which columns there are has to be known before the
 * first row. One thread at a time uses it.
 */
#define WIDE_COLUMNS_MAX 4096

struct wide;

int wide_new(const struct print_fields *how, struct wide **out);
/* NULL is allowed. */
void wide_free(struct wide *w);

/* One more column, behind the others; false in *added if it is there already.
 * -ERR_bad_argument beyond WIDE_COLUMNS_MAX, or -ENOMEM. */
int wide_add(struct wide *w, struct bytes family, struct bytes qualifier,
	     bool *added);

/* Orders the columns by family and qualifier. */
void wide_sort(struct wide *w);

/* Appends the header: row, then family:qualifier of each. */
int wide_header(const struct wide *w, struct buf *out);

/* Takes a cell, which is copied; those of other columns, and versions after a
 * column's first, are left out. Appends the record of the row before if this is
 * of another. 0 or -ENOMEM. */
int wide_cell(struct wide *w, const struct cell *c, struct buf *out);

/* Appends the record of the last row. */
int wide_finish(struct wide *w, struct buf *out);

/* How many bytes the fields of the present row take. */
size_t wide_size(const struct wide *w);

#endif
