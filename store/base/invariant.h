#ifndef STORE_BASE_INVARIANT_H
#define STORE_BASE_INVARIANT_H

#include <stdbool.h>

/*
 * What must hold whatever is on disk and whatever users ask: only a mistake in
 * this program breaks it. assert() holds such things in tests and is gone from
 * installed builds. An invariant is held there too: where it costs next to
 * nothing, where the caller handles errors anyway, and where going on would
 * write what is wrong. It never ends the process: whoever gets the error makes
 * the store read-only with it, so that what is on disk stays as it is.
 *
 * Not for what is read from a file, a user or a socket, which has errors of its
 * own. Any thread may call it.
 */

/* 0 if it holds, else -ERR_invariant. what says what is wrong, in words that
 * name the file or level: "level 2: 00000001-00000007.sst overlaps ...". */
__attribute__((format(printf, 2, 3))) int invariant(bool holds,
						    const char *what, ...);

#endif
