#ifndef STORE_FORMAT_SST_SST_TOMBSTONES_H
#define STORE_FORMAT_SST_SST_TOMBSTONES_H

#include "store/format/sst/sst.h"
#include "store/format/tombstone.h"

/*
 * The range tombstones of an sst. There may be more of them than memory is to
 * hold: of many, only where pieces of some 8 KiB begin stays in memory, and
 * pieces come from the cache, decoded, or from the volume. Few are kept whole,
 * and so are those of an older file that has them compressed. What stays takes
 * from the cache's capacity (cache_hold).
 */

/*
 * One thread's place in them; a zeroed one is none. It pins the piece that it
 * is in: what it gives lives until the next call on it, and ends as the sst
 * does.
 */
struct tombstone_reader {
	struct sst *sst;                   /* borrowed; it stays open */
	const struct tombstone_list *list; /* of the piece; NULL: none yet */
	struct cache_block *block;         /* that has it; NULL: it is kept */
	size_t piece;                      /* if list is set */
	size_t next;                       /* index in list */
};

/* Before the first tombstone. */
void tombstone_reader_init(struct tombstone_reader *r, struct sst *t);

void tombstone_reader_release(struct tombstone_reader *r);

/* As tombstone_cover, of all: 0 with span filled, or an error of reading. The
 * place of tombstone_reader_next is lost. */
int tombstone_reader_cover(struct tombstone_reader *r, struct bytes key,
			   uint64_t visible_seq, struct tombstone *span);

/* The next one, in the list's order: 1, 0 at the end, or an error of reading.
 */
int tombstone_reader_next(struct tombstone_reader *r,
			  const struct tombstone **out);

/* Of the piece after so many more from the present one, or the first, on: where
 * its first tombstone starts, or empty if there is none. Borrowed from the sst.
 */
struct bytes tombstone_reader_ahead(const struct tombstone_reader *r,
				    size_t pieces);

/* For the files of this folder alone. Opening reads, checks and finds pieces,
 * after the properties, with whose count they must agree: -ENOMEM,
 * -ERR_block_malformed, errors of reading. Release is also for after that. */
int sst_load_tombstones(struct sst *t);
void sst_release_tombstones(struct sst *t);

#endif
