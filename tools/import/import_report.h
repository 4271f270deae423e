#ifndef TOOLS_IMPORT_IMPORT_REPORT_H
#define TOOLS_IMPORT_IMPORT_REPORT_H

#include "tools/verb/verb.h"

/* What an import tells, wherever it ran. */

/* There is no such table: tells it, and what makes one. 1. */
int import_no_table(struct verb_call *c, const char *table);

/* The value of quiet=, or NULL: 1 for yes, 0 for no, -1 after it said what is
 * wrong. */
int import_quiet(struct verb_call *c, const char *value);

/* Tells refused lines ("line N: reason\n" each), the first few of them, and how
 * many there are, if there are any; each is a failure, with "tabletfs: " before
 * it. */
void import_tell_refused(struct verb_call *c, uint64_t refused,
			 struct bytes lines);

/* The same, then how many rows came in. The exit status: 1 if any line was
 * refused. */
int import_report(struct verb_call *c, uint64_t rows, uint64_t refused,
		  struct bytes lines);

/* After an import without a recipe that a signal may have stopped: tells the
 * last line that is in, and returns 2; status if none did. */
int import_tell_stopped(struct verb_call *c, uint64_t line, int status);

#endif
