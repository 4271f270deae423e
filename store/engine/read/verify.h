#ifndef STORE_ENGINE_READ_VERIFY_H
#define STORE_ENGINE_READ_VERIFY_H

#include "store/engine/core/engine.h"

/*
 * Reads and checks all ssts of the present version from the volume, past the
 * cache, that the files of each sorted level are disjoint, and every chunk of
 * the large values that ssts and memtables refer to. Not what logs and the
 * manifest hold: opening reads those. What is written meanwhile may be left
 * out. Writers and readers go on; it may take hours.
 *
 * Each problem is told to report, one sentence each, valid during the call, and
 * the check goes on. 0 if there was none; else -ERR_check_failed, or the first
 * problem that is no damage but kept something from being read, such as -EIO or
 * -ENOMEM.
 */
int engine_verify(struct engine *e,
		  void (*report)(void *context, const char *problem),
		  void *context);

#endif
