#ifndef STORE_ENGINE_LARGE_LARGE_H
#define STORE_ENGINE_LARGE_LARGE_H

#include "store/engine/large/blobs.h"
#include "store/large.h"

/*
 * Large values as the engine makes and opens them; store/large.h is the part
 * that those who use the store see. A struct large holds the files that its
 * chunks lie in, so it can be read, and committed again, after the cell that it
 * came from is gone.
 */
struct engine;

/* Opens the value that a cell's references, blob, lead to; *out has one
 * reference. -ESTALE if a file is no more: then the cell is gone, too.
 * -ERR_blob_damaged if blob is no list; -ENOMEM. */
int large_open(struct engine *e, struct bytes blob, struct large **out);

/* For who commits a reference to it: the list, which lives as long as l. */
const struct blob_list *large_list(const struct large *l);

/* Adds l's files to h, so that they outlive l. As blob_hold. */
int large_hold(struct large *l, struct blob_holds *h);

/* What store_large_new is to the store's users. 0 < size <=
 * BLOB_VALUE_SIZE_MAX. base may be NULL and stays the caller's. -ESTALE if what
 * would be borrowed of it is no more; -ENOMEM. */
int large_writer_new(struct engine *e, struct large *base, uint64_t size,
		     struct large_writer **out);

/* Writes value, which is not empty, as a large one of one reference. */
int large_make(struct engine *e, struct bytes value, struct large **out);

/* A value that is base's and then tail, of one reference; either may be empty,
 * base by being NULL, but not both. The whole chunks of base are borrowed. As
 * store_large_new, and errors of reading the last chunk of base. */
int large_append(struct engine *e, struct large *base, struct bytes tail,
		 struct large **out);

/* Reads a chunk of f, of raw_size bytes when it is unpacked, to raw. scratch is
 * for the bytes as stored. -ERR_blob_damaged, -ENOMEM, errors of reading. */
int blob_read(const struct blob_file *f, const struct blob_chunk *c,
	      uint32_t raw_size, struct buf *scratch, void *raw);

/* Appends the large value with these encoded references to out, from files of
 * v, which stays referenced. stop, which may be NULL, is asked before each
 * chunk: once it is true, -EINTR. -ERR_blob_damaged if a file is not there;
 * else as blob_read. After an error out may have a part of it. */
int blob_load(const struct version *v, struct bytes list, bool (*stop)(void),
	      struct buf *out);

#endif
