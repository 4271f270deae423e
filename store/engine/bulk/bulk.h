#ifndef STORE_ENGINE_BULK_BULK_H
#define STORE_ENGINE_BULK_BULK_H

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
 * thread at a time; other writers and readers go on beside it. After an error
 * of bulk_add or bulk_prepare a part of the load may be lost, so only bulk_free
 * is allowed.
 */
struct bulk;

/* An empty load, which is spilled when its keys and values, and 25 bytes for
 * each put, take memory_size bytes and a row ends, or when there is no more
 * memory (MEMORY_IMPORTS) for them: then within a row, too, but with 2 MiB at
 * least. With options.beside what is spilled is half of it. Sorting needs more.
 * 0 or -ENOMEM. */
int bulk_new(struct engine *e, size_t memory_size, struct bulk **out);

/* Adds a put; key and value are copied. kind: KEY_PUT, or KEY_BLOB, then the
 * value is a list of references; -ESTALE if what they lead to is no more.
 * -ENOMEM, and the errors of writing a file. */
int bulk_add(struct bulk *b, struct bytes version_key, enum key_kind kind,
	     struct bytes value);

/* The long part of publishing: sorting, writing, merging, with no lock. A load
 * that is small enough for the log is left in memory. */
int bulk_prepare(struct bulk *b);

/* Everything added so far, which is visible and durable when it returns 0; then
 * b is empty and may go on. On failure nothing is visible; but if that made the
 * store read-only, all of it may be seen now or after the next opening. Takes
 * commit and work, during which other writers wait. */
int bulk_publish(struct bulk *b);

/* What was not published is gone. NULL is allowed. */
void bulk_free(struct bulk *b);

#endif
