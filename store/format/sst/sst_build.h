#ifndef STORE_FORMAT_SST_SST_BUILD_H
#define STORE_FORMAT_SST_SST_BUILD_H

#include "store/format/sst/sst.h"

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
