#ifndef FS_CELLS_ENDING_H
#define FS_CELLS_ENDING_H

#include <signal.h>

#include "store/store.h"

/*
 * The end of a process whose store does not answer. What waits for a store
 * elsewhere waits on, so that it is known what came of it; but a process that
 * is to end is not kept by that. Once its store has not answered for as long as
 * reads wait for it (lease_wait_ms), it says so on standard error and ends with
 * status 1: what was said to be done is there, and what came of the rest nobody
 * was told.
 *
 * There is one such end in a process. Any thread may call these.
 */

/* From now until s is closed; path, which is borrowed until then, names it.
 * The process is to end once one of these signals, which all its threads block,
 * is pending, or ending_begin was called; with NULL, as of a command, it is to
 * end anyway. 0 or an error. */
int ending_watch(struct store *s, const sigset_t *signals, const char *path);

/* The process is to end. Nothing where nobody watches. */
void ending_begin(void);

#endif
