#ifndef STORE_FORMAT_SST_SST_FORMAT_H
#define STORE_FORMAT_SST_SST_FORMAT_H

#include <stdatomic.h>

#include "store/format/block.h"
#include "store/format/sst/sst.h"

/*
 * What the parts of sst share, and nobody else includes: the file is
 *
 *   data block*  row directory?  tombstones?  filter  index  properties
 *   footer (64 bytes)
 *
 * with nothing in between, so the sizes of the parts tell their places and
 * every byte of a file belongs to something that has a checksum.
 *
 *   footer = magic "tfs-sst\n" | version u32 | features u32 |
 *            data size u64 | sizes u32 * 5 | row index size u32 |
 *            zero * 12 | CRC-32C u32
 *
 * Sizes are of stored blocks with their trailers, 0 for a part that is absent.
 * Version and features come after a magic and before a checksum that stay where
 * they are, so that an older program can tell a newer file from damage.
 */
#define SST_FOOTER_SIZE 64
#define SST_MAGIC "tfs-sst\n"
#define SST_VERSION 1
/* The file has a row directory. */
#define SST_FEATURE_ROWS 1
/* It refers to blob files. */
#define SST_FEATURE_BLOBS 2
#define SST_FEATURES_KNOWN (SST_FEATURE_ROWS | SST_FEATURE_BLOBS)

enum sst_part {
	SST_ROW_DIRECTORY,
	SST_TOMBSTONES,
	SST_FILTER,
	SST_INDEX,
	SST_PROPERTIES,
	SST_PARTS,
};

struct sst_handle {
	uint64_t offset;
	uint64_t size; /* stored, with the trailer */
};

struct sst_footer {
	uint64_t data_size; /* all data blocks */
	uint32_t part_size[SST_PARTS];
	uint32_t row_index_size; /* the last part of the row directory */
	bool has_blobs;
};

void sst_footer_encode(const struct sst_footer *f, uint8_t *raw);
/* Also checks that the parts fill a file of file_size. path is for messages.
 * -ERR_sst_malformed, -ERR_format_newer. */
int sst_footer_decode(const uint8_t *raw, uint64_t file_size, const char *path,
		      struct sst_footer *f);
/* Where a part lies. */
struct sst_handle sst_footer_part(const struct sst_footer *f,
				  enum sst_part part);
/* Where the row directory's own index lies, which ends it. */
struct sst_handle sst_footer_row_index(const struct sst_footer *f);

int sst_properties_encode(const struct sst_properties *p, struct buf *b);
/* The bounds point into block, blobs to memory that is the caller's to free,
 * NULL on failure. -ERR_block_malformed. */
int sst_properties_decode(struct bytes block, struct sst_properties *p,
			  struct blob_share **blobs);

/* The value of an index entry, whose key is not before the block's last key,
 * before the next block's first, and begins with the last key's row prefix. */
struct sst_index_entry {
	struct sst_handle block;
	uint64_t min_timestamp, max_timestamp;
};

#define SST_INDEX_VALUE_MAX (4 * VARINT_MAX_SIZE)

/* Returns the end of what it wrote at p. */
uint8_t *sst_index_encode(const struct sst_index_entry *e, uint8_t *p);
/* -ERR_block_malformed */
int sst_index_decode(struct bytes value, struct sst_index_entry *e);
/* Only where the block is. */
int sst_index_block(struct bytes value, struct sst_handle *block);

struct sst {
	struct reader *reader;
	struct cache *cache;
	uint64_t file_id;
	struct sst_footer footer;
	struct sst_properties properties;
	struct buf property_memory; /* what the bounds point at */
	struct blob_share *blobs;
	struct tombstone_list tombstones;
	/* The filter, the index and the row directory's index, once read, while
	 * the cache lets them be held: they are asked at every lookup. */
	_Atomic(struct cache_block *) pinned[SST_PARTS];
	uint64_t seq; /* of all keys, if not 0 */
};

/* Bytes of the volume as they are; give them back to the cache. */
int sst_read_stored(const struct sst *t, struct sst_handle handle,
		    struct cache_block **out);
/* A block, checked and expanded; give it back to the cache. */
int sst_read_block(const struct sst *t, struct sst_handle handle,
		   enum sst_read how, struct cache_block **out);
/* Passes on the error of a block with file and offset before its reason. */
int sst_fail(const struct sst *t, uint64_t offset, int err);

/* The filter, the index, or as SST_ROW_DIRECTORY its index, valid until
 * sst_put_part or until t is closed. */
int sst_get_part(struct sst *t, enum sst_part part, enum sst_read how,
		 struct cache_block **out);
void sst_put_part(struct sst *t, enum sst_part part, struct cache_block *block);

#endif
