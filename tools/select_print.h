#ifndef TOOLS_SELECT_PRINT_H
#define TOOLS_SELECT_PRINT_H

#include "tools/select.h"

int select_print(const struct select *s, struct scan *scan, FILE *out,
		 struct select_counts *counts);

#endif
