#ifndef TOOLS_OUTPUT_OUTPUT_VERB_H
#define TOOLS_OUTPUT_OUTPUT_VERB_H

#include "tools/output/output.h"
#include "tools/verb/remote.h"

/*
 * How a verb writes a text to a file. Both say what is wrong and give the exit
 * status, 0 or 1; path is as that of output_open.
 */

/* Writes all of t, which is closed in every case. */
int output_text(struct verb_call *c, const char *path, struct text_stream *t);

/* Writes what the command of these words, of argc, prints in the daemon. */
int output_remote(struct verb_call *c, const struct served *served,
		  const char *path, int argc, char **argv);

#endif
