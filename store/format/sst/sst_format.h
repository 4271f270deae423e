#ifndef STORE_FORMAT_SST_SST_FORMAT_H
#define STORE_FORMAT_SST_SST_FORMAT_H

#include "store/base/coding.h"
#include "store/format/sst/sst.h"

/*
 * The bytes of an sst around its blocks, for the files of this folder alone.
 * Pure functions over memory; nothing that is read is trusted. The file is
 *
 *   data block*  row directory?  tombstones?  filter?  index  properties
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

/* It is of the recent past, and no part of the tree. */
#define SST_FEATURE_PAST 4

#define SST_FEATURES_KNOWN \
	(SST_FEATURE_ROWS | SST_FEATURE_BLOBS | SST_FEATURE_PAST)

/* The parts behind the data, in the order in which they lie in the file and
 * their sizes in the footer. */
enum sst_part {
	SST_ROW_DIRECTORY,
	SST_TOMBSTONES,
	SST_FILTER,
	SST_INDEX,
	SST_PROPERTIES,
	SST_PARTS,
};

/* A run of the file's bytes: a stored block, or a part. */
struct sst_handle {
	uint64_t offset;
	uint64_t size; /* stored, with the trailer */
};

struct sst_footer {
	uint64_t data_size; /* all data blocks */
	uint32_t part_size[SST_PARTS];
	uint32_t row_index_size; /* the last part of the row directory; 0
				    just where there is no directory */
	bool has_blobs;          /* the properties name blob files */
	bool is_past;            /* of the recent past */
};

/* The bits that a file with this footer has. */
uint32_t sst_footer_features(const struct sst_footer *f);

/* Writes SST_FOOTER_SIZE bytes to raw, with version, features and checksum. */
void sst_footer_encode(const struct sst_footer *f, uint8_t *raw);

/* Reads SST_FOOTER_SIZE bytes and checks that the parts fill a file of
 * file_size. path is for messages. -ERR_sst_malformed, also for a wrong
 * checksum; -ERR_format_newer for a version or feature that is not known. */
int sst_footer_decode(const uint8_t *raw, uint64_t file_size, const char *path,
		      struct sst_footer *f);

/* Where a part lies; its size is 0 if the file has none. */
struct sst_handle sst_footer_part(const struct sst_footer *f,
				  enum sst_part part);

/* Where the row directory's own index lies, which ends the directory. */
struct sst_handle sst_footer_row_index(const struct sst_footer *f);

/* Appends the block of properties, not stored yet, to b. 0 or -ENOMEM. */
int sst_properties_encode(const struct sst_properties *p, struct buf *b);

/* Fills *p from such a block. The bounds point into block; blobs to memory,
 * also given as *blobs, that is the caller's to free, NULL on failure. -ENOMEM,
 * -ERR_block_malformed. */
int sst_properties_decode(struct bytes block, struct sst_properties *p,
			  struct blob_share **blobs);

/*
 * The value of an index entry: one of each data block, in their order. Its key
 * is not before the block's last key, before the next block's first, and begins
 * with the last key's row prefix, so that it tells whether the next block is
 * still in that row. In the row directory's index the key is the block's last
 * key, times are 0, and offsets count from the directory's start.
 */
struct sst_index_entry {
	struct sst_handle block;
	uint64_t min_timestamp, max_timestamp; /* of the block's entries */
};

#define SST_INDEX_VALUE_MAX (4 * VARINT_MAX_SIZE)

/* Writes at most SST_INDEX_VALUE_MAX bytes at p and returns their end. */
uint8_t *sst_index_encode(const struct sst_index_entry *e, uint8_t *p);

/* All of a value; -ERR_block_malformed. Whether the block lies in the file is
 * checked where it is read. */
int sst_index_decode(struct bytes value, struct sst_index_entry *e);

/* Only where the block is, without the times: what each step to another block
 * needs. -ERR_block_malformed. */
int sst_index_block(struct bytes value, struct sst_handle *block);

#endif
