#ifndef TOOLS_SERVE_DATA_MUTATE_H
#define TOOLS_SERVE_DATA_MUTATE_H

#include "tools/serve/method/method.h"

/* Writes to one row, each of which is atomic: MutateRow, CheckAndMutateRow,
 * ReadModifyWriteRow. */
enum call_result mutate_row(struct call *c, void *context);
enum call_result check_and_mutate_row(struct call *c, void *context);
void check_and_mutate_row_release(void *state);
enum call_result read_modify_write_row(struct call *c, void *context);

#endif
