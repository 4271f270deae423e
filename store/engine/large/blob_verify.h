#ifndef STORE_ENGINE_LARGE_BLOB_VERIFY_H
#define STORE_ENGINE_LARGE_BLOB_VERIFY_H

#include "store/engine/large/blobs.h"

/* Reads every chunk that the entries of it refer to; tells of each that is
 * wrong. Errors of it, and of memory, are returned. */
int blob_verify(const struct version *v, struct iter *it,
		void (*tell)(void *context, int err), void *context);

#endif
