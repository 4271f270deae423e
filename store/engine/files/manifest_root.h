#ifndef STORE_ENGINE_FILES_MANIFEST_ROOT_H
#define STORE_ENGINE_FILES_MANIFEST_ROOT_H

#include "store/engine/files/identity.h"

/*
 * The content of a volume's root: which store this is, what a program must know
 * to open it, and where its manifest begins.
 *
 *   "tabletfs" | u32 format = 2 | u32 incompatible features | u32 epoch |
 *   u64 id of the edit log | u32 read-only features | u32 optional features |
 *   id | parent | u64 parent's sequence | u32 crc32c of all before
 *
 * In format 1 the checksum follows the id of the edit log. Pure functions; no
 * byte that is read is trusted.
 */
#define MANIFEST_ROOT_SIZE 80
#define MANIFEST_FORMAT 2

struct manifest_root {
	uint32_t epoch;
	uint64_t edits_id;        /* of the edit log */
	struct identity identity; /* nothing, of format 1 */
};

/* In today's format. */
void manifest_root_encode(const struct manifest_root *root,
			  uint8_t raw[MANIFEST_ROOT_SIZE]);

/* path is the volume's, for messages. -ERR_manifest_damaged; -ERR_format_newer
 * of another format, or with an incompatible feature. */
int manifest_root_decode(const char *path, struct bytes raw,
			 struct manifest_root *root);

/* -ERR_format_newer if this program must not write to a store that has these
 * features. */
int manifest_root_writable(const char *path, const struct features *f);

#endif
