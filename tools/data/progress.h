#ifndef TOOLS_DATA_PROGRESS_H
#define TOOLS_DATA_PROGRESS_H

#include "tools/data/import.h"

void progress_begin(struct progress *p, FILE *out, int input);
void progress_update(struct progress *p, uint64_t bytes, uint64_t rows);

/* Erases the line. */
void progress_end(struct progress *p);

#endif
