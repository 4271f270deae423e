#ifndef CONFORMANCE_FILTER_H
#define CONFORMANCE_FILTER_H

#include "tests/conformance/run.h"

/*
 * The filters that the store's own means can express so far: whole-string
 * regexes, a number of versions, values left out; alone or chained.
 */
struct filter;

/* 0, a negative error, RUN_SKIP or RUN_MALFORMED. */
int filter_new(struct run *r, const char *text, struct filter **out);
void filter_free(struct filter *f);
/* Whether the cell passes (1), which may lose its value, or not (0). Cells are
 * shown in scan order; new_column says that it is the first of its column. */
int filter_cell(struct filter *f, struct cell *cell, bool new_column);

#endif
