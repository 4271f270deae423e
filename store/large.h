#ifndef STORE_LARGE_H
#define STORE_LARGE_H

#include "store/base/buf.h"

/*
 * A large value, of 64 KiB and more, is stored in chunks. A struct large is one
 * that can be read in pieces, and that new commits may refer to, whatever
 * becomes of the cell that it was read from. Count references; any thread may
 * use it, but not after its store was closed.
 */
struct large;

/* NULL stays NULL. */
struct large *large_get(struct large *l);
void large_put(struct large *l);
uint64_t large_size(const struct large *l);
uint32_t large_chunk_size(const struct large *l);
/* size bytes at offset, all within it. The chunk read last is kept. */
int large_read(struct large *l, uint64_t offset, void *data, size_t size);
/* Appends all of it. */
int large_load(struct large *l, struct buf *out);
/*
 * Writing one beside the commits: its chunks reach the disk before a commit
 * refers to them. size, not 0, is the value's. Where base, which may be NULL,
 * has a chunk of the same size in the same place, that is borrowed; all other
 * chunks, and any that is to differ, have to be put, each once, in any order.
 */
struct large_writer;
struct store;

int store_large_new(struct store *s, struct large *base, uint64_t size,
		    struct large_writer **out);

void large_writer_free(struct large_writer *w);
/* Bytes of each chunk but the last. */
uint32_t large_writer_chunk_size(const struct large_writer *w);
/* Whether the chunk with this index was put or borrowed. */
bool large_writer_has(const struct large_writer *w, uint32_t index);
int large_writer_put(struct large_writer *w, uint32_t index, struct bytes raw);
/* Ends w. */
void large_writer_finish(struct large_writer *w, struct large **out);

#endif
