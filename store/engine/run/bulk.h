#ifndef STORE_ENGINE_RUN_BULK_H
#define STORE_ENGINE_RUN_BULK_H

#include "store/engine/core/engine.h"

/*
 * Bulk load: puts become ssts without passing the log and the memtable. They
 * are sorted in memory and spilled as runs; runs that overlap are merged once.
 * Publishing gives all of them one sequence, the next one at that moment, and
 * names them in the manifest by one edit, each at the lowest level above which
 * it overlaps nothing; all become visible and durable together, or none. (The
 * idea is RocksDB's ingestion of external files with a global sequence.)
 *
 * Of puts with one version key the last one added stays. A load belongs to one
 * thread at a time; other writers and readers go on beside it.
 */
struct bulk;

/* A buffer of memory_size bytes at most, and as much again while it spills. */
int bulk_new(struct engine *e, size_t memory_size, struct bulk **out);
/* kind: KEY_PUT, or KEY_BLOB, then the value is a list of references; -ESTALE
 * if what they lead to is no more. */
int bulk_add(struct bulk *b, struct bytes version_key, enum key_kind kind,
	     struct bytes value);
/* The long part of publishing: sorting, writing, merging, with no lock. */
int bulk_prepare(struct bulk *b);
/* Everything added so far; then b is empty. On failure nothing is visible. */
int bulk_publish(struct bulk *b);
/* What was not published is gone. */
void bulk_free(struct bulk *b);

#endif
