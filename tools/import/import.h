#ifndef TOOLS_IMPORT_IMPORT_H
#define TOOLS_IMPORT_IMPORT_H

#include "store/text/value/text_format.h"
#include "tools/input/input.h"
#include "tools/verb/verb.h"

/*
 * import, and what it shares with remote_import.c, which does the same through
 * a mount: arguments and input.
 */

/* Strings are borrowed from the arguments. */
struct import_arguments {
	const char *table;
	const char *path; /* "-" is standard input */
	enum text_format format;
	const char *format_word; /* csv, tsv or jsonl */
	const char *family;      /* NULL: families are in the file */
	bool value_timestamps;
	FILE *progress; /* where it is told how far it is; NULL: quiet */
};

/* Takes the arguments of c. 0, or 1 after it said what is wrong. */
int import_arguments(struct verb_call *c, struct import_arguments *a);

/* Opens the input, which is the caller's to close: 0, or 1 after it said what
 * is wrong. */
int import_open(struct verb_call *c, const struct import_arguments *a,
		struct input **out);

/* The verb, on a store: 0 if every line is in, durably; else 1, or of one by a
 * recipe 2 if it did not come to its end. All that it
 * prints is on c->err: progress on a terminal, refused lines, the count of
 * rows. */
int verb_import(struct verb_call *c);

#endif
