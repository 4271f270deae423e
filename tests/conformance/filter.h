#ifndef TESTS_CONFORMANCE_FILTER_H
#define TESTS_CONFORMANCE_FILTER_H

#include "tests/conformance/run.h"

/* A filter as cases write it, in r's memory: 0 or RUN_MALFORMED. */
int case_filter(struct run *r, const char *text, struct proto_row_filter **out);

#endif
