#ifndef STORE_FORMAT_SST_SST_H
#define STORE_FORMAT_SST_SST_H

#include "store/base/cache.h"
#include "store/base/volume/volume.h"
#include "store/format/blob.h"
#include "store/format/block.h"
#include "store/format/iter.h"
#include "store/format/tombstone.h"

/*
 * SSTable: an immutable sorted file of encoded keys and values. The byte
 * format is described in store/README.md:
 *
 *   data block* row directory? tombstones? filter index properties footer
 *
 * Blocks are read through the cache and their CRC32C is checked on every read
 * from the volume. index and filter are blocks of the cache like any other.
 * An open sst may be used by any number of threads.
 */
struct sst;

/* What a file says of itself; enough to rebuild a manifest from files. The
 * bounds cover point entries and range tombstones. */
struct sst_properties {
	struct bytes smallest;  /* first key or tombstone start */
	struct bytes largest;   /* last key, or the end of the last
					   tombstone if that is greater */
	bool largest_exclusive; /* largest is a tombstone's end */
	uint64_t smallest_seq;
	uint64_t largest_seq;
	uint64_t min_timestamp; /* of puts and point deletes */
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

/*
 * Opens the file that reader reads; on success the sst owns reader, on failure
 * the caller still does. file_id names its blocks in cache.
 */
int sst_open(struct reader *reader, struct cache *cache, uint64_t file_id,
	     struct sst **out);
void sst_close(struct sst *t);

/* Valid while t is open. */
const struct sst_properties *sst_properties(const struct sst *t);
/* Decoded at open and pinned; count 0 if there are none. */
const struct tombstone_list *sst_tombstones(const struct sst *t);

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
 * row, family or column prefix: 0 no, 1 perhaps, negative on error.
 */
int sst_may_contain(struct sst *t, uint64_t prefix_hash);
/* A hint that it will be asked soon. */
void sst_prefetch_filter(const struct sst *t, uint64_t prefix_hash);

/* The same over the row directory, which the file must have: keys are row
 * prefixes, values are summaries as in rowdir.h, those of a bulk-loaded file
 * with sequence 0. */
bool sst_has_rows(const struct sst *t);

enum sst_read {
	SST_READ_FILL,   /* from the cache, else from the volume into it */
	SST_READ_NOFILL, /* from the cache, else from the volume */
	SST_READ_VOLUME, /* from the volume, whatever the cache holds */
};

/*
 * The same in the caller's memory, with a buffer of KEY_SIZE_MAX bytes, for a
 * lookup: released, not closed, and only after success.
 */
struct sst_iter {
	struct iter iter;
	struct sst *sst;
	enum sst_read how;
	bool rows;         /* over the row directory */
	uint64_t base;     /* added to offsets in index */
	uint64_t since_us; /* blocks with only older entries are left out */
	bool valid;        /* at an entry, by anything but before */
	struct cache_block *index_block;
	struct cache_block *data_block; /* NULL: none yet */
	uint64_t data_offset;
	struct block_iter index; /* shares nothing */
	struct block_iter data;
};

/*
 * Reading what is left of a file that is damaged: every entry whose block is
 * whole and every range tombstone, each in order; without footer or index,
 * those up to the first block that is damaged. A negative result of a call ends
 * it and is returned.
 */
struct salvage {
	int (*entry)(void *context, struct bytes key, struct bytes value);
	int (*tombstone)(void *context, const struct tombstone *t);
	/* What was between these keys cannot be read; an empty one is a bound
	 * that is not known. */
	int (*lost)(void *context, const char *problem, struct bytes after,
		    struct bytes before);
	/* Tombstones cannot be read, so what they deleted may be back. */
	int (*undeleted)(void *context, const char *problem);
	void *context;
};

/*
 * Building. Keys come in strictly ascending order, and so do tombstones, but
 * the two may be mixed. The writer passes to the builder, which finishes or
 * abandons it, also when sst_build_new fails.
 */
struct sst_builder;

/* Whether a file gets a row directory. The latter two are for tests: answers
 * must be the same. */
enum row_directory_rule {
	ROW_DIRECTORY_SMALL, /* if it is a quarter of the data, or less */
	ROW_DIRECTORY_ALWAYS,
	ROW_DIRECTORY_NEVER,
};

/* Fewer where most files are: a lookup asks few of those above. */
enum {
	SST_FILTER_BITS = 20,
	SST_FILTER_BITS_BOTTOM = 10, /* of the lowest level */
};

struct sst_options {
	uint32_t level;       /* recorded */
	uint32_t filter_bits; /* per filter entry; 0: no filter */
	bool compress;        /* LZ4 where it saves an eighth */
	enum row_directory_rule rows;
};

#endif
