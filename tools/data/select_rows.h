#ifndef TOOLS_DATA_SELECT_ROWS_H
#define TOOLS_DATA_SELECT_ROWS_H

#include "tools/verb/verb.h"

/*
 * Adds to s the rows that the words of c from argv[first] on say: key=, each of
 * which is a row, and ranges, parted by the word SELECT_OR. A range is a
 * prefix=, or start= or after= and end= or through=, either of which may be
 * missing; of what comes again the last counts, and nothing without a value, as
 * in cbt. Other words are passed over. 0, or 1 after it said what is wrong.
 */
#define SELECT_OR "or"

int select_rows(struct verb_call *c, int first, struct select *s);

#endif
