#ifndef FS_OPEN_CONTENT_H
#define FS_OPEN_CONTENT_H

#include "store/store.h"

/*
 * The bytes of an open cell. They start as a value: small, in memory, or large,
 * read from the store piece by piece. Changes stay in memory up to 1 MiB;
 * beyond, the pieces that were touched are in an unlinked file, at their place,
 * and all others are still the large value's. One thread at a time.
 *
 * With a file or a base, each piece before size is either in the file or wholly
 * in the base; the file ends at size.
 */
#define CONTENT_MEMORY_MAX (UINT64_C(1) << 20)

struct content {
	uint64_t size;
	struct buf memory;   /* what value points into */
	struct bytes value;  /* small and not changed */
	struct buf data;     /* changed, in memory */
	bool owned;          /* it is in data, not in value */
	struct large *base;  /* NULL: none */
	int fd;              /* -1: none */
	uint32_t piece_size; /* as of the base's chunks */
	bool *in_file;       /* of each piece; with fd */
	size_t piece_room;
};

void content_init(struct content *c);
void content_release(struct content *c);
/* No bytes. */
void content_empty(struct content *c);
/* What store_get_large gave: memory and large pass to c. */
void content_load(struct content *c, const struct cell *cell,
		  struct buf *memory, struct large *large);

/* Whether all of it can be had at once, in *all. */
bool content_in_memory(const struct content *c, struct bytes *all);
/* size bytes at offset, all within it. */
int content_read(struct content *c, uint64_t offset, void *data, size_t size);
/* The limit of a value's size is the caller's to check. */
int content_write(struct content *c, struct bytes data, uint64_t offset);
int content_resize(struct content *c, uint64_t size);

/*
 * The content as a commit takes it: made before the commit's lock is taken,
 * changed pieces of a large one being written to the store, all others
 * borrowed. It points into c.
 */
struct content_value {
	uint64_t size;
	struct bytes bytes;  /* if it is not large */
	struct large *large; /* referenced, or NULL */
	struct buf memory;
};

int content_value(struct content *c, struct store *s,
		  struct content_value *out);
void content_value_release(struct content_value *v);
/* As write_set. */
int content_value_set(const struct content_value *v, struct write *w,
		      struct bytes family, struct bytes qualifier,
		      uint64_t timestamp_us);
/* It was committed: c goes on from it. */
void content_rebase(struct content *c, const struct content_value *v);

#endif
