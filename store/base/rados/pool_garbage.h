#ifndef STORE_BASE_RADOS_POOL_GARBAGE_H
#define STORE_BASE_RADOS_POOL_GARBAGE_H

#include "store/base/rados/object/pool_volume.h"

/*
 * Garbage: parts of files that the registry names as such. Who has the lease
 * removes them, beside all else; who has none does at once. What is being read
 * through the same volume stays until that ends.
 */

/* What the registry has as garbage, of so many parts, or 0, can be removed.
 * err_detail() stays as it is. */
void pool_garbage_add(struct pool_volume *v, const char *name, uint64_t nonce,
		      uint64_t parts);

/* The end of a reader: what it kept can be removed. */
void pool_garbage_look(struct pool_volume *v);

/* Removes one file's parts, and tells the registry: 1, 0 if there is nothing to
 * remove, or an error, and it is tried again. */
int pool_garbage_step(struct pool_volume *v);

/* Forgets all that is to be removed; the registry has it. */
void pool_garbage_end(struct pool_volume *v);

/* As volume.h has it: parts that the registry does not have. */
int pool_strays(struct volume *volume,
		int (*each)(void *context, const char *object), void *context);

#endif
