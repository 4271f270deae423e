#ifndef TOOLS_VERB_STOP_H
#define TOOLS_VERB_STOP_H

#include <stdbool.h>

#include "store/base/err.h"

/*
 * SIGINT and SIGTERM of a command that ends what it began: the first one
 * interrupts a read or write of it, so that it ends where it is and tells; of
 * each a second one ends the process, as ever. Who ignores one, as nohup and &
 * have it, goes on doing so. Of a process, not of a thread; never of a daemon.
 */

/* Until stop_begin, before which nothing is to be undone or told, one ends the
 * process with a sentence and this status. */
void stop_expect(int status);

/* From here on one is noted, until stop_end, after which the command is about
 * to be done anyway. */
void stop_begin(void);
void stop_end(void);

/* One ends the process, as of a child that has nothing to undo. */
void stop_by_default(void);

/* 0, or once a signal has come an error that names it. */
int stop_check(void);

/* Whether one has come; for struct scan_range. */
bool stop_came(void);

#endif
