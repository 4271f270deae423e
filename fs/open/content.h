#ifndef FS_OPEN_CONTENT_H
#define FS_OPEN_CONTENT_H

#include "store/store.h"

/*
 * The bytes of an open cell. They start as a value: small, in memory, or large,
 * read from the store piece by piece. Changes stay in memory up to 1 MiB;
 * beyond, the pieces that were touched are in a file without a name, at their
 * place, and all others are still the large value's. One thread at a time;
 * calls that reach the store or the file may wait for a disk.
 *
 * What is in memory is counted as MEMORY_DRAFTS. Where that has no more room,
 * small contents are in a file, too; without a file, as where nothing can be
 * written, they stay in memory and others wait. Who has too many such files is
 * refused.
 *
 * With a file or a base, each piece before size is either in the file or wholly
 * in the base; the file ends at size.
 *
 *   owned            fd    base     the bytes are
 *   no               -1    NULL     value, as it was loaded
 *   yes              -1    NULL     data
 *   no               -1    set      the base's
 *   no               >= 0  any      of each piece, the file's or the base's
 */
#define CONTENT_MEMORY_MAX (UINT64_C(1) << 20)

struct content {
	struct store *store; /* borrowed */
	uint64_t counted;    /* bytes of memory and data, as MEMORY_DRAFTS */
	uint64_t size;
	struct buf memory;   /* what value points into */
	struct bytes value;  /* small and not changed */
	struct buf data;     /* changed, in memory */
	bool owned;          /* it is in data, not in value */
	struct large *base;  /* referenced; NULL: none */
	int fd;              /* of a file without a name; -1: none */
	uint32_t piece_size; /* as of the base's chunks; with fd or base */
	bool *in_file;       /* of each piece; with fd */
	size_t piece_room;   /* of in_file; what is past the end is false */
};

void content_init(struct content *c, struct store *s);
/* Leaves it as content_init does. */
void content_release(struct content *c);
/* No bytes, whatever it had. */
void content_empty(struct content *c);
/* A value of size bytes as the store gave it, in place of what it had: it is in
 * memory, or empty and large. Both pass to c, and memory is left empty. 0, or
 * -ERR_scratch_full, and it has no bytes. */
int content_load(struct content *c, struct bytes value, uint64_t size,
		 struct buf *memory, struct large *large);

/* Whether all of it can be had at once, in *all, until the next change of c;
 * else *all is not to be used. */
bool content_in_memory(const struct content *c, struct bytes *all);

/* size bytes at offset, all within it. 0, or an error of the store or of the
 * temporary file. */
int content_read(struct content *c, uint64_t offset, void *data, size_t size);

/* Puts data at offset, with zeros between the end and that. The limit of a
 * value's size is the caller's to check. After an error the size is as before,
 * but a part of data may be in it. */
int content_write(struct content *c, struct bytes data, uint64_t offset);

/* Cuts it, or adds zeros. On an error the size is as before. */
int content_resize(struct content *c, uint64_t size);

/*
 * The content as a commit takes it: made before the commit's lock is taken,
 * changed pieces of a large one being written to the store, all others
 * borrowed. It points into c, which must not change while it is used.
 */
struct content_value {
	uint64_t size;
	struct bytes bytes;  /* if it is not large */
	struct large *large; /* referenced, or NULL */
	struct buf memory;   /* what bytes points into, unless that is c's */
};

/* 0, or an error with nothing to release. */
int content_value(struct content *c, struct store *s,
		  struct content_value *out);
/* Leaves an empty one, which may be released again. */
void content_value_release(struct content_value *v);

/* Adds it to w as that column's version, as write_set or write_set_large does,
 * with their errors. */
int content_value_set(const struct content_value *v, struct write *w,
		      struct bytes family, struct bytes qualifier,
		      uint64_t timestamp_us);

/* v, made of c as it is now, was committed: c goes on from it, without a file.
 */
void content_rebase(struct content *c, const struct content_value *v);

#endif
