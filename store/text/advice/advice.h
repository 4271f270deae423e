#ifndef STORE_TEXT_ADVICE_ADVICE_H
#define STORE_TEXT_ADVICE_ADVICE_H

#include "store/store.h"

/*
 * Advice on a table's schema, found in its data, for people. A line "looked"
 * tells what was read, then for each rule there is a line "ok RULE: what there
 * is", or "advice RULE: the figure and a sample", after which why, do and
 * perhaps recipe stand, each a line behind two blanks. Rules are of what is bad
 * here, or would be on Bigtable, and says so; none is of tastes.
 *
 * A table of up to some million cells is read, of a larger one stretches all
 * over it. Keys are quoted.
 */

/* Appends the text. stop, which may be NULL, is asked now and then and ends it
 * with -EINTR. 0, -ERR_no_table, or an error of reading. Any thread. */
int advice_print(struct store *s, struct bytes table, bool (*stop)(void),
		 struct buf *out);

#endif
