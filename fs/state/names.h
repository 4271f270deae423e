#ifndef FS_STATE_NAMES_H
#define FS_STATE_NAMES_H

#include "store/base/buf.h"

/*
 * A sorted list of names, for a directory that is listed from memory: fill it,
 * sort it, read it. Zeroed, it is empty. One thread at a time.
 */
struct names {
	struct bytes *names; /* into memory, where they are after a sort */
	size_t count;
	size_t capacity;   /* of names */
	struct buf memory; /* the names' bytes, in the order they were added */
};

/* Copies name. Until the next sort only the sizes of names are good. 0 or
 * -ENOMEM. */
int names_add(struct names *n, struct bytes name);

/* Orders them by their bytes; of equal names one stays. Once only: nothing may
 * be added afterwards. */
void names_sort(struct names *n);

/* Leaves the first of them, by some bytes more than size, to which others may
 * be added; *last is the last of these. 0 or -ENOMEM. */
int names_cut(struct names *n, size_t size, struct buf *last);

/* Leaves an empty list. */
void names_release(struct names *n);

#endif
