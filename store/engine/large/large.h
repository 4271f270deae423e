#ifndef STORE_ENGINE_LARGE_LARGE_H
#define STORE_ENGINE_LARGE_LARGE_H

#include "store/engine/large/blobs.h"
#include "store/large.h"

/* Large values as the engine makes and opens them. */
struct engine;

/* Of a cell's blob. -ESTALE if it is no more: then the cell is gone, too. */
int large_open(struct engine *e, struct bytes blob, struct large **out);
/* For who commits a reference to it: what it refers to, and the same holds. */
const struct blob_list *large_list(const struct large *l);
int large_hold(struct large *l, struct blob_holds *h);

/* As store_large_new. */
int large_writer_new(struct engine *e, struct large *base, uint64_t size,
		     struct large_writer **out);

/* Writes value as a large one. */
int large_make(struct engine *e, struct bytes value, struct large **out);

/* Reads a chunk of raw_size bytes. */
int blob_read(const struct blob_file *f, const struct blob_chunk *c,
	      uint32_t raw_size, struct buf *scratch, void *raw);

/* Appends the large value with these encoded references to out. */
int blob_load(const struct version *v, struct bytes list, struct buf *out);

#endif
