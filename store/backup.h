#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/base/buf.h"

struct store;

struct backup_result {
	uint64_t linked_count, copied_count; /* files */
	uint64_t size;                       /* bytes of them */
};

/* Makes a directory with a store that holds what this one does at some moment
 * of the call; files are linked where that is possible. -EEXIST. What a failure
 * leaves is named DIRECTORY.partial. */
int store_backup(struct store *s, const char *directory,
		 struct backup_result *result);

#endif
