#ifndef TOOLS_DATA_EXPORT_H
#define TOOLS_DATA_EXPORT_H

#include "tools/output/output_verb.h"

/*
 * export TABLE [FILE] [WORDS]: what read would show with these words, for other
 * programs: CSV or TSV with a line for each cell or row, or JSON lines. 1 if it
 * could not all be written: FILE is then as it was before.
 */
int verb_export(struct verb_call *c);

/* The same of a store that is mounted: the daemon reads, this writes. */
int remote_export(struct verb_call *c, const struct served *served);

/* In the daemon: what export prints, without FILE. 0, or 1 after it said what
 * is wrong. */
int export_stream(struct verb_call *c, bool (*stop)(void),
		  struct text_stream **out);

#endif
