#ifndef STORE_FORMAT_SST_SST_ITER_H
#define STORE_FORMAT_SST_SST_ITER_H

#include "store/format/iter.h"
#include "store/format/sst/sst.h"

/*
 * Iterators over the point entries of an sst, or over its row directory, as
 * iter.h has them. The sst must stay open. An iterator pins its index and the
 * data block it is in; keys and values point into that block, so that a value
 * is not copied. One thread uses an iterator at a time.
 */
struct sst_iter {
	struct iter iter; /* first, so that it can be cast */
	struct sst *sst;
	enum sst_read how; /* for data blocks */
	bool rows;         /* over the row directory */
	uint64_t base;     /* added to offsets in index */
	uint64_t since_us; /* blocks with only older entries are left out */
	bool valid;        /* at an entry, by anything but before */
	struct cache_block *index_block;
	struct cache_block *data_block; /* NULL: none yet */
	uint64_t data_offset;           /* in the file, of data_block */
	struct block_iter index;        /* shares nothing */
	struct block_iter data;         /* its buffer holds shared keys */
};

/* An iterator over the point entries, to be closed. With fill_cache false,
 * blocks read from the volume are not kept (compaction). -ENOMEM, and errors of
 * reading the index. */
int sst_iter_new(struct sst *t, bool fill_cache, struct iter **out);

/* The same over the row directory, which the file must have: keys are row
 * prefixes, values are summaries as in rowdir.h, those of a bulk-loaded file
 * with sequence 0. */
int sst_rows_new(struct sst *t, struct iter **out);

/*
 * An iterator over the point entries in the caller's memory, with a buffer of
 * KEY_SIZE_MAX bytes, for a lookup: released, not closed, and only after
 * success. The buffer may be NULL if the data are not read, only the index.
 */
int sst_iter_init(struct sst_iter *it, struct sst *t, uint8_t *buffer);

/* Gives back the blocks. The memory and the buffer stay the caller's. */
void sst_iter_release(struct sst_iter *it);

/* As sst_iter_init, with data blocks read as how says, over the row directory
 * if rows. */
int sst_iter_start(struct sst_iter *it, struct sst *t, bool rows,
		   enum sst_read how, uint8_t *buffer);

/* How many blocks of data it has. Errors of reading the index. */
int sst_block_count(struct sst *t, uint64_t *count);

/* About which part of its data is in [start, end), encoded keys, whose end may
 * be empty: open. From 0 to 1, to a block, by the index alone. Errors of
 * reading the index. */
int sst_estimate_share(struct sst *t, struct bytes start, struct bytes end,
		       double *share);

#endif
