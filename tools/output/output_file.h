#ifndef TOOLS_OUTPUT_OUTPUT_FILE_H
#define TOOLS_OUTPUT_OUTPUT_FILE_H

#include "tools/output/output_state.h"

/* Writes data to the file, as it is stored: 0 or an error. */
int output_put(struct output *o, struct bytes data);

#endif
