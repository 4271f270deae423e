#ifndef STORE_SST_H
#define STORE_SST_H

#include "store/base/cache.h"
#include "store/base/volume.h"
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

/*
 * An iterator over the point entries. t must stay open. With fill_cache false,
 * blocks read from the volume are not kept (compaction).
 */
int sst_iter_new(struct sst *t, bool fill_cache, struct iter **out);

/* The same over the row directory, which the file must have: keys are row
 * prefixes, values are summaries as in rowdir.h, those of a bulk-loaded file
 * with sequence 0. */
bool sst_has_rows(const struct sst *t);
int sst_rows_new(struct sst *t, struct iter **out);

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

int sst_iter_init(struct sst_iter *it, struct sst *t, uint8_t *buffer);
void sst_iter_release(struct sst_iter *it);

/* About how many of its rows have entries in [start, end), whose end may be
 * empty: their part of the data, to a block. */
int sst_estimate_rows(struct sst *t, struct bytes start, struct bytes end,
		      uint64_t *rows);

/* Re-reads every block from the volume, past the cache (which may be NULL if
 * nothing but this is called), checks checksums, order,
 * filter (each key must hit) and properties. 0 or the first error, with file
 * and offset. */
int sst_verify(struct sst *t);
/* Reads all of a file that was just written from the volume and compares it
 * with what its builder meant to write. For less than sst_verify costs it finds
 * all that can go wrong after that: -ERR_sst_malformed and others. */
int sst_read_back(struct sst *t, uint64_t digest);

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

/* 0 however little was left; -ENOMEM, -ERR_format_newer. */
int sst_salvage(struct reader *reader, const struct salvage *to);

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

int sst_build_new(struct segment_writer *writer,
		  const struct sst_options *options, struct sst_builder **out);
/* After an error only abandon is allowed. -ERR_key_malformed, also for a key
 * out of order; -ENOMEM and the volume's errors. */
int sst_build_add(struct sst_builder *b, struct bytes key, struct bytes value);
/* Fragments, in order; copied. */
int sst_build_tombstone(struct sst_builder *b, const struct tombstone *t);
/* Bytes written and buffered so far: when to cut the output. */
uint64_t sst_build_size(const struct sst_builder *b);
/* Ends b in every case; on success the file is durable. digest, if not NULL, is
 * for sst_read_back. */
int sst_build_finish(struct sst_builder *b, uint64_t *digest);
void sst_build_abandon(struct sst_builder *b);

#endif
