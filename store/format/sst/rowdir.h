#ifndef STORE_FORMAT_SST_ROWDIR_H
#define STORE_FORMAT_SST_ROWDIR_H

#include "store/format/block_build.h"
#include "store/format/key.h"

/*
 * Row directory: what an sst says of each of its rows, in blocks of its own,
 * so that rows can be listed without reading their cells. Its entries have a
 * row prefix as key, and as value a summary:
 *
 *   flags u8 | the newest put, if there is one: varint seq |
 *   varint timestamp | its family, as in the key without its terminator
 *
 * The newest put is the one with the greatest timestamp, of those the first.
 * When a reader may take a row for alive by its summaries alone is said in
 * store/README.md. One thread uses a tally or a directory at a time.
 */
enum {
	ROW_HAS_DELETE = 1, /* a point delete */
	ROW_HAS_PUT = 2,
};

struct row_summary {
	uint8_t flags;
	uint64_t seq, timestamp; /* of the newest put; with ROW_HAS_PUT */
	struct bytes family;     /* its, still escaped; else empty */
};

/* Appends the value to out. 0 or -ENOMEM. */
int row_summary_encode(const struct row_summary *s, struct buf *out);

/* family points into value; without ROW_HAS_PUT, seq and timestamp are left as
 * they were. -ERR_block_malformed. */
int row_summary_decode(struct bytes value, struct row_summary *s);

/* Sums up one row after the other. Zeroed, it is ready. */
struct row_tally {
	struct buf row; /* prefix; empty: none is under way */
	struct buf family;
	struct row_summary summary; /* its family is in family */
};

void row_tally_release(struct row_tally *t);

/* Begins the row with this prefix, which is copied. 0 or -ENOMEM. */
int row_tally_begin(struct row_tally *t, struct bytes row);

/* One entry of the row, with its parts; in the order of keys. 0 or -ENOMEM. */
int row_tally_add(struct row_tally *t, struct bytes key,
		  const struct key_parts *parts);

/* Builds a directory in memory. */
struct row_directory {
	struct row_tally tally;     /* of the row under way */
	struct block_builder data;  /* the present block */
	struct block_builder index; /* an entry for each block so far */
	struct buf stored;          /* blocks so far */
	struct buf last;            /* row added last */
	struct buf value, block;    /* scratch: a summary, a block */
	bool dropped;               /* it is not to be kept */
};

/* Makes it ready, whatever it held before. */
void row_directory_init(struct row_directory *d);

void row_directory_release(struct row_directory *d);

/* The next entry of the sst; is_new if it begins a row. Does nothing after a
 * drop. -ENOMEM, -ERR_bad_argument. */
int row_directory_add(struct row_directory *d, struct bytes key,
		      const struct key_parts *parts, bool is_new);

/* Ends it. stored then holds all, the index last, whose stored size is
 * *index_size and in which offsets are from the directory's start. */
int row_directory_finish(struct row_directory *d, uint32_t *index_size);

/* Not to be kept after all: frees what was built and ignores what comes. */
void row_directory_drop(struct row_directory *d);

#endif
