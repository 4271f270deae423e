#ifndef STORE_ENGINE_PURGE_BLOB_USE_H
#define STORE_ENGINE_PURGE_BLOB_USE_H

#include "store/engine/core/state.h"
#include "store/engine/purge/erasing.h"

/*
 * Which blob files have bytes that no entry refers to once what is erased has
 * gone. Whose garbage was is not known: a value that was overwritten long ago
 * may be that of an erased row, and so all of it has to go. Unlike the shares
 * that ssts tell, this is exact: each chunk counts once, whoever shares it.
 */
struct blob_use {
	struct blob_file **dirty; /* of the version, borrowed; by id */
	size_t dirty_count;
	uint64_t live_size; /* bytes in these that are to be moved */
};

/* Of the files of g's version that are finished and have an id before
 * before_id. Reads every sst that refers to large values; lets flushes go
 * before, so it needs work. 0, -ENOMEM or an error of reading; u is to be
 * released in any case. */
int blob_use_find(struct blob_use *u, struct engine *e, const struct erasing *g,
		  uint64_t before_id);
void blob_use_release(struct blob_use *u);

/* Whether any of these shares is of a dirty file. */
bool blob_use_is_dirty(const struct blob_use *u,
		       const struct blob_share *shares, size_t count);

#endif
