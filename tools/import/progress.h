#ifndef TOOLS_IMPORT_PROGRESS_H
#define TOOLS_IMPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* What tells how far an import is: on a terminal a bar that is drawn again and
 * again, else a line every ten seconds. */
struct progress {
	FILE *out; /* borrowed; NULL: quiet */
	bool is_terminal;
	uint64_t total;        /* bytes of all files; 0 if not known */
	struct timespec begin; /* CLOCK_MONOTONIC */
	uint64_t told_ms;      /* when it was told last, since begin */
	bool is_drawn;         /* a bar is to be erased */
};

/* So far. Bytes are those of the files as they are stored. */
struct progress_now {
	uint64_t bytes;
	bool has_rows; /* these are known */
	uint64_t rows, refused;
};

/* out may be NULL, for nothing to be told. */
void progress_begin(struct progress *p, FILE *out, uint64_t total);

/* Tells of it if it is time to. */
void progress_update(struct progress *p, const struct progress_now *now);

/* The same, so many milliseconds after the beginning. */
void progress_update_at(struct progress *p, const struct progress_now *now,
			uint64_t ms);

/* Erases the bar. */
void progress_end(struct progress *p);

#endif
