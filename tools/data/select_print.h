#ifndef TOOLS_DATA_SELECT_PRINT_H
#define TOOLS_DATA_SELECT_PRINT_H

#include "tools/data/select.h"

struct select_counts {
	/* Rows and cells that the scan gave, of them those printed. */
	uint64_t rows_seen, rows_returned, cells_seen, cells_returned;
};

/*
 * Prints what s selects of the scan as cbt does, adding to counts, which are
 * exact for s->stats only: else cells that cannot be wanted are not looked at.
 * The scan has the range, direction and filter of s. 0 or an error, before
 * which what was found is printed all the same. Errors of out are left to its
 * owner.
 */
int select_print(const struct select *s, struct scan *scan, FILE *out,
		 struct select_counts *counts);

#endif
