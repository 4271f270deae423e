#ifndef TOOLS_DATA_IMPORT_H
#define TOOLS_DATA_IMPORT_H

#include <time.h>

#include "store/text/value/text_format.h"
#include "tools/verb/verb.h"

/* The arguments of import, and its progress on a terminal. */
struct import_arguments {
	const char *table;
	const char *path; /* "-" is standard input */
	enum text_format format;
	const char *format_word;
	const char *family; /* NULL: families are in the file */
	bool value_timestamps;
};

/* 0, or 1 after it said what is wrong. */
int import_arguments(struct verb_call *c, struct import_arguments *a);
/* Opens the input: its descriptor, or -1 after it said what is wrong. */
int import_open(struct verb_call *c, const struct import_arguments *a);

/* A line that is drawn again and again, if out is a terminal. */
struct progress {
	FILE *out;
	bool shown;
	uint64_t total; /* bytes, 0 if not known */
	struct timespec begin;
	uint64_t drawn_ms;
};

/* Tells refused lines ("line N: reason\n" each), the first few of them; then
 * how it ended. The exit status. */
int import_report(struct verb_call *c, uint64_t rows, uint64_t refused,
		  struct bytes lines);

int verb_import(struct verb_call *c);

#endif
