#ifndef STORE_ENGINE_LARGE_BLOB_VERIFY_H
#define STORE_ENGINE_LARGE_BLOB_VERIFY_H

#include "store/engine/files/manifest.h"
#include "store/engine/large/blobs.h"

/*
 * Reads every chunk that the entries of it refer to and tells of each that is
 * wrong, with its error and err_detail(). Errors of it, and of memory, are
 * returned. v, which stays referenced, has the files; it stays the caller's.
 * The references of all entries are in memory at once, 32 bytes and some each.
 */
int blob_verify(const struct version *v, struct iter *it,
		void (*tell)(void *context, int err), void *context);

/* Reads, of these blob files of a volume, which ascend by id and are finished,
 * the header and every chunk that any of the ssts there refers to: 0, or the
 * first error. What no entry refers to may be anything. */
int blob_verify_files(struct volume *from, const struct manifest_log *blobs,
		      size_t blob_count, const struct manifest_file *ssts,
		      size_t sst_count);

#endif
