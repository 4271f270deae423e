#ifndef TOOLS_DATA_SELECT_PRINT_H
#define TOOLS_DATA_SELECT_PRINT_H

#include "tools/data/select.h"

int select_print(const struct select *s, struct scan *scan, FILE *out,
		 struct select_counts *counts);

#endif
