#ifndef STORE_LARGE_H
#define STORE_LARGE_H

#include "store/base/buf.h"

/*
 * A large value, of store_large_size() bytes and more, is stored in chunks. A
 * struct large is one that can be read in pieces, and that new commits may
 * refer to, whatever becomes of the cell that it was read from. It is counted
 * by references; any thread may use it, but not after its store was closed.
 */
struct store;
struct large;

/* One more reference to l, which is returned; NULL stays NULL. */
struct large *large_get(struct large *l);

/* Gives a reference back; NULL is allowed. */
void large_put(struct large *l);

/* Bytes of the value. */
uint64_t large_size(const struct large *l);

/* Bytes of each chunk but the last: reads that keep to chunks are the fastest.
 */
uint32_t large_chunk_size(const struct large *l);

/* size bytes at offset, all within it. The chunk read last is kept, so that
 * small reads one after another expand it once. -ERR_blob_damaged. */
int large_read(struct large *l, uint64_t offset, void *data, size_t size);

/* Appends all of it; what a failure has appended already stays. */
int large_load(struct large *l, struct buf *out);

/*
 * Writing one beside the commits: its chunks reach the disk before a commit
 * refers to them. One thread at a time uses a writer.
 */
struct large_writer;

/* size, from 1 to STORE_VALUE_MAX, is the value's. Where base, which may be
 * NULL, has a chunk of the same size in the same place, that is borrowed; all
 * other chunks, and any that is to differ, have to be put, each once, in any
 * order. */
int store_large_new(struct store *s, struct large *base, uint64_t size,
		    struct large_writer **out);

/* Gives up what was put, which is garbage then. NULL is allowed. */
void large_writer_free(struct large_writer *w);

/* Bytes of each chunk but the last. */
uint32_t large_writer_chunk_size(const struct large_writer *w);

/* Whether the chunk with this index was put or borrowed. */
bool large_writer_has(const struct large_writer *w, uint32_t index);

/* raw is all of the chunk with this index. */
int large_writer_put(struct large_writer *w, uint32_t index, struct bytes raw);

/* Ends w, of which every chunk must be there; *out has one reference. */
void large_writer_finish(struct large_writer *w, struct large **out);

#endif
