#ifndef TOOLS_IMPORT_PROGRESS_H
#define TOOLS_IMPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* A line that tells how far an import is, drawn again and again if out is a
 * terminal; else nothing is. */
struct progress {
	FILE *out; /* borrowed */
	bool shown;
	uint64_t total;        /* bytes of the input; 0 if not known */
	struct timespec begin; /* CLOCK_MONOTONIC */
	uint64_t drawn_ms;     /* when it was drawn last, since begin */
};

/* total is that of all that is read, in bytes; 0 if it is not known. */
void progress_begin(struct progress *p, FILE *out, uint64_t total);

/* Bytes and rows so far; rows are 0 where they are not known. Draws if it is
 * time to. */
void progress_update(struct progress *p, uint64_t bytes, uint64_t rows);

/* Erases the line. */
void progress_end(struct progress *p);

#endif
