#ifndef FS_STATE_NAMES_H
#define FS_STATE_NAMES_H

#include "store/base/buf.h"

/* A sorted list of names, for a directory that is listed from memory. Zeroed,
 * it is empty. */
struct names {
	struct bytes *names; /* into memory; once sorted */
	size_t count;
	size_t capacity;
	struct buf memory;
};

/* Copies name; the list is to be sorted again before it is read. 0, -ENOMEM. */
int names_add(struct names *n, struct bytes name);
/* Of equal names one stays. */
void names_sort(struct names *n);
void names_release(struct names *n);

#endif
