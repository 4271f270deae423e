#ifndef TOOLS_DATA_SELECT_PRINT_H
#define TOOLS_DATA_SELECT_PRINT_H

#include <stdio.h>

#include "store/store.h"

/*
 * Prints what scan, which has keep_large, gives as cbt does, large values in
 * pieces; *cells, if not NULL, is how many that
 * were. 0 or an error, before which what was found is printed all the same.
 * Errors of out are left to its owner.
 */
int select_print(struct select_scan *scan, FILE *out, uint64_t *cells);

#endif
