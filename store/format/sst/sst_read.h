#ifndef STORE_FORMAT_SST_SST_READ_H
#define STORE_FORMAT_SST_SST_READ_H

#include <stdatomic.h>

#include "store/format/sst/sst_format.h"

/*
 * Reading blocks and parts of an open sst, for the files of this folder alone.
 * Blocks come from the cache or the volume, checked and expanded, with a
 * reference that pins them until they are given back. The filter, the index and
 * the row directory's index are asked at every lookup: once read they are held
 * by the sst itself, while the cache lets that much of its capacity be taken,
 * and cost no look-up in the cache. Any thread may call any of this on an sst
 * that is open.
 */
struct tombstone_piece {
	uint32_t offset, size;            /* bytes, in the part */
	uint32_t crc;                     /* of these */
	uint32_t start_place, start_size; /* in starts: of its first one */
};

struct sst {
	/* Set by sst_open and never changed. */
	struct reader *reader; /* owned */
	struct cache *cache;   /* NULL: nothing is kept; see sst_verify */
	uint64_t file_id;      /* of its blocks in the cache */
	struct sst_footer footer;
	struct sst_properties properties;
	struct buf property_memory; /* what the bounds point at */
	struct blob_share *blobs;   /* what properties.blobs points at */
	struct sst_tombstones {
		uint64_t count;
		struct tombstone_list whole;    /* if there are no pieces */
		struct tombstone_piece *pieces; /* by start; owned */
		size_t piece_count;
		struct buf starts; /* the bounds that pieces begin with */
		size_t held;       /* bytes, taken from the cache's */
	} tombstones;              /* see sst_tombstones.h */

	/* Parts that are held, with a reference each: from NULL to a block
	 * once, by whoever is first, and then until the sst is closed. As
	 * SST_ROW_DIRECTORY only the directory's index. */
	_Atomic(struct cache_block *) pinned[SST_PARTS];

	uint64_t seq; /* of all keys, if not 0; see sst_set_seq */
};

/* Passes on the error of a block, with file and offset before its reason, which
 * is err_detail(). -ENOMEM stays as it is. */
int sst_fail(const struct sst *t, uint64_t offset, int err);

/* The bytes of the volume as they are, neither checked nor expanded, in a block
 * that is not in the cache; give it back with cache_put. *out is set on success
 * only. -ENOMEM, -ERR_sst_malformed if handle does not lie before the footer,
 * errors of the volume. */
int sst_read_stored(const struct sst *t, struct sst_handle handle,
		    struct cache_block **out);

/* A block, checked and expanded; give it back with cache_put. A failure gives
 * NULL. handle must be of a stored block, not of a part that is absent. */
int sst_read_block(const struct sst *t, struct sst_handle handle,
		   enum sst_read how, struct cache_block **out);

/* The index, or as SST_ROW_DIRECTORY that of the directory, which the file must
 * have: valid until sst_put_part, also if it is held. With SST_READ_VOLUME it
 * is read anew and not held; the other two ways do the same. */
int sst_get_part(struct sst *t, enum sst_part part, enum sst_read how,
		 struct cache_block **out);

/* Gives back what sst_get_part gave; NULL is allowed. */
void sst_put_part(struct sst *t, enum sst_part part, struct cache_block *block);

/*
 * The filter, if it is in memory or may be held there: 1, and it is valid until
 * the sst is closed; else 0, or an error. It is as large as hundreds of data
 * blocks, so to read it for one lookup and let it go again would cost more than
 * the one block that it may save.
 */
int sst_get_filter(struct sst *t, struct cache_block **out);

/* Gives back all parts that are held: the end of t. */
void sst_unpin_parts(struct sst *t);

#endif
