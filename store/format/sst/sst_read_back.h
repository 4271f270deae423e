#ifndef STORE_FORMAT_SST_SST_READ_BACK_H
#define STORE_FORMAT_SST_SST_READ_BACK_H

#include "store/format/sst/sst.h"

/* Reads all of a file that was just written from the volume and compares it
 * with what its builder meant to write, by the digest of sst_build_finish. For
 * less than sst_verify costs it finds all that can go wrong after that:
 * -ERR_sst_malformed and others. */
int sst_read_back(struct sst *t, uint64_t digest);

/* The digest of what a file holds, with one more of its parts. It starts with
 * 0; parts are added in their order: of blocks the content before compression,
 * of the row directory what is stored. */
uint64_t sst_digest_add(uint64_t digest, struct bytes content);

#endif
