#ifndef STORE_FORMAT_SST_SST_H
#define STORE_FORMAT_SST_SST_H

#include "store/base/cache.h"
#include "store/base/volume/volume.h"
#include "store/format/blob.h"
#include "store/format/block.h"
#include "store/format/iter.h"
#include "store/format/tombstone.h"

/*
 * SSTable: an immutable sorted file of encoded keys and values, with range
 * tombstones beside them. The byte format is described in store/README.md:
 *
 *   data block* row directory? tombstones? filter? index properties footer
 *
 * This is the open file and what it says of itself. The other headers of the
 * folder are one job each: sst_build.h writes a file, sst_iter.h steps through
 * one and tells how large a part of it is, sst_tombstones.h has its range
 * tombstones, sst_verify.h and sst_read_back.h check it, sst_salvage.h reads
 * what is left of a damaged one.
 *
 * Blocks are read through the cache and their CRC-32C is checked on every read
 * from the volume. Index and filter are blocks of the cache like any other, but
 * may be held by the sst. An open sst may be used by any number of threads.
 */
struct sst;

/* What a file says of itself; enough to rebuild a manifest from files. The
 * bounds cover point entries and range tombstones, sequences are those of both,
 * timestamps those of point entries alone. */
struct sst_properties {
	struct bytes smallest;  /* first key or tombstone start */
	struct bytes largest;   /* last key, or the end of the last
					   tombstone if that is greater */
	bool largest_exclusive; /* largest is a tombstone's end */
	uint64_t smallest_seq;
	uint64_t largest_seq;
	uint64_t min_timestamp; /* of puts and point deletes; without any,
				   UINT64_MAX, and the greatest 0 */
	uint64_t max_timestamp;
	uint64_t put_count;
	uint64_t delete_count;    /* point tombstones */
	uint64_t tombstone_count; /* range tombstones */
	uint64_t row_count;       /* distinct row prefixes */
	uint64_t data_size;       /* bytes of data blocks as stored */
	uint32_t level;           /* at birth */
	/* The blob files that its large values refer to, by id; see
	 * blob_tally. */
	const struct blob_share *blobs;
	size_t blob_count;
};

/* Where a block comes from, and whether the cache is to keep it. */
enum sst_read {
	SST_READ_FILL,   /* from the cache, else from the volume into it */
	SST_READ_NOFILL, /* from the cache, else from the volume */
	SST_READ_VOLUME, /* from the volume, whatever the cache holds */
};

/* Whether a file gets a row directory. The latter two are for tests: answers
 * must be the same. ROW_DIRECTORY_NEVER is also for files that will be merged
 * before anybody reads them. */
enum row_directory_rule {
	ROW_DIRECTORY_SMALL, /* if it is a quarter of the data, or less; of
				level 0 a sixteenth */
	ROW_DIRECTORY_ALWAYS,
	ROW_DIRECTORY_NEVER,
};

/*
 * Opens the file that reader reads; on success the sst owns reader, on failure
 * the caller still does. file_id names its blocks in cache, which may be NULL
 * if the file is only opened, verified and closed. Reads footer, properties and
 * tombstones, no data. -ERR_sst_malformed, -ERR_block_checksum,
 * -ERR_block_malformed, -ERR_format_newer, -ENOMEM, errors of the volume.
 */
int sst_open(struct reader *reader, struct cache *cache, uint64_t file_id,
	     struct sst **out);

/* No iterator may be open. NULL is allowed. */
void sst_close(struct sst *t);

/* Valid while t is open. */
const struct sst_properties *sst_properties(const struct sst *t);

/*
 * Of a bulk-loaded file, whose keys are stored as puts of sequence 0: iterators
 * show them as puts of this sequence, and it holds one put of a version key at
 * most. Call it before anything is read. Do not seek a key with a sequence in
 * such a file, only prefixes and version keys.
 */
void sst_set_seq(struct sst *t, uint64_t seq);

/* 0 if each key has its own. */
uint64_t sst_seq(const struct sst *t);

/*
 * Whether the file may hold a key that starts with the prefix of this hash64, a
 * row, family or column prefix: 0 no, 1 perhaps, negative on error. 1 also
 * where there is no filter, or no room in the cache to hold it.
 */
int sst_may_contain(struct sst *t, uint64_t prefix_hash);

/* A hint that sst_may_contain will be asked this soon: brings the filter's line
 * into the processor's cache if the filter is in memory. */
void sst_prefetch_filter(const struct sst *t, uint64_t prefix_hash);

/* Whether the file was written as one of the recent past, and so is no part of
 * the tree. Values of its merges (KEY_MERGE) have a varint before them: the
 * sequence from which on they are part of another merge, 0: of none. */
bool sst_is_past(const struct sst *t);

/* Whether the file has a filter. Only what is soon merged has none. */
bool sst_has_filter(const struct sst *t);

/* Whether the file has a row directory, which sst_rows_new steps through. */
bool sst_has_rows(const struct sst *t);

#endif
