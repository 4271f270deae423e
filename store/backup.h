#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/base/buf.h"

/*
 * Backups of a store that goes on: readers and writers need not wait but for
 * the flush of what is in memory.
 */
struct store;

struct backup_result {
	uint64_t linked_count, copied_count; /* files */
	uint64_t size;                       /* bytes of them */
};

/*
 * Makes a directory with a store that holds what this one does at some moment
 * of the call; files are linked where that is possible. It is built as
 * DIRECTORY.partial, which a failure leaves behind, and gets its name when it
 * is whole and durable. -EEXIST if there is anything of either name.
 */
int store_backup(struct store *s, const char *directory,
		 struct backup_result *result);

#endif
