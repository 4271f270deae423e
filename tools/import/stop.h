#ifndef TOOLS_IMPORT_STOP_H
#define TOOLS_IMPORT_STOP_H

#include "store/base/err.h"

/*
 * SIGINT and SIGTERM of an import: the first one interrupts a read of its
 * input, so that it ends where it is and tells where that was; another ends the
 * process, as ever. One import at a time in a process.
 */
void stop_begin(void);
void stop_end(void);

/* 0, or once a signal has come an error that names it. */
int stop_check(void);

#endif
