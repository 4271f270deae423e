#ifndef STORE_FORMAT_SST_SST_BUILD_H
#define STORE_FORMAT_SST_SST_BUILD_H

#include "store/format/sst/sst.h"

/*
 * Building an sst. Keys come in strictly ascending order, and so do tombstones,
 * but the two may be mixed. Data blocks are written as they fill; index, filter
 * hashes, tombstones and row directory wait in memory for the end, some 8 bytes
 * for each distinct prefix and as many as a short key for each block. One
 * thread at a time.
 */
struct sst_builder;

/* Filter bits for each entry. Fewer where most files are: a lookup asks few of
 * those above. */
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

/* The writer passes to the builder, which finishes or abandons it, also when
 * this fails, with -ENOMEM and *out NULL. options are copied. */
int sst_build_new(struct segment_writer *writer,
		  const struct sst_options *options, struct sst_builder **out);

/* The file is of the recent past: sst_is_past. Before it is finished. */
void sst_build_past(struct sst_builder *b);

/* A full key, with its trailer, and its value; copied. After an error only
 * abandon is allowed. -ERR_key_malformed, also for a key out of order;
 * -ERR_blob_damaged for a KEY_BLOB whose value is no list; -ENOMEM and the
 * volume's errors. */
int sst_build_add(struct sst_builder *b, struct bytes key, struct bytes value);

/* Fragments, as tombstone_fragment makes them, in order; copied. -ENOMEM. */
int sst_build_tombstone(struct sst_builder *b, const struct tombstone *t);

/* Bytes written and buffered so far: when to cut the output. */
uint64_t sst_build_size(const struct sst_builder *b);

/* Ends b in every case; on success the file is durable under its name, on
 * failure it does not exist. digest, if not NULL, is for sst_read_back. */
int sst_build_finish(struct sst_builder *b, uint64_t *digest);

/* Ends b; nothing remains of the file. NULL is allowed. */
void sst_build_abandon(struct sst_builder *b);

#endif
