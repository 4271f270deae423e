#ifndef STORE_TEXT_PRINT_PRINT_RESULT_H
#define STORE_TEXT_PRINT_PRINT_RESULT_H

#include "store/text/json/json_result.h"
#include "store/text/value/text_format.h"

/* Appends the versions of a settled result as a printer of the format does;
 * nothing if there are none. 0 or a printer's error. */
int print_result(const struct json_result *r, enum text_format format,
		 struct buf *out);

/*
 * Appends a line of JSON about the mutation in line number: {"line": 1,
 * "matched": true, "cells": ROW}, of which matched is there if it had an "if",
 * and cells, as print_result has them in JSON lines, if there are versions.
 * Nothing if both are missing. 0 or a printer's error.
 */
int print_result_line(const struct json_result *r, uint64_t number,
		      struct buf *out);

#endif
