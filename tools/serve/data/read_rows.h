#ifndef TOOLS_SERVE_DATA_READ_ROWS_H
#define TOOLS_SERVE_DATA_READ_ROWS_H

#include "tools/serve/method/method.h"

/*
 * ReadRows. What it answers with are rows as they are when they come to be
 * read, not a snapshot: a reader who does not take them for a while has the
 * rest read anew behind the last whole row. A row is never parted between
 * messages; one that is too large for a message ends the call, which says
 * which.
 */
enum call_result read_rows(struct call *c, void *context);
void read_rows_rest(struct call *c, void *context);
void read_rows_release(void *state);

#endif
