#ifndef TESTS_CONFORMANCE_FILTER_H
#define TESTS_CONFORMANCE_FILTER_H

#include "tests/conformance/run.h"

/* A filter as cases write it: 0, a negative error of the store or
 * RUN_MALFORMED. */
int case_filter(struct run *r, const char *text, struct filter **out);

#endif
