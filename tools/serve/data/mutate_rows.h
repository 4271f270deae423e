#ifndef TOOLS_SERVE_DATA_MUTATE_ROWS_H
#define TOOLS_SERVE_DATA_MUTATE_ROWS_H

#include "tools/serve/method/method.h"

/* MutateRows: every entry is atomic and has a status of its own. Whole entries
 * are committed, several at once. */
enum call_result mutate_rows(struct call *c, void *context);
void mutate_rows_release(void *state);

#endif
