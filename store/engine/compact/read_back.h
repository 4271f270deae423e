#ifndef STORE_ENGINE_COMPACT_READ_BACK_H
#define STORE_ENGINE_COMPACT_READ_BACK_H

#include "store/format/sst/sst.h"

/* Opens a finished sst past the cache, since what matters is what the volume
 * has; *size is its bytes. The caller closes it. */
int compact_open(struct volume *v, uint64_t id, uint64_t *size,
		 struct sst **out);

/*
 * Reads a finished sst again, all of it: what cannot be read must not take the
 * place of what can. digest is that of sst_build_finish. *size is its bytes.
 */
int compact_read_back(struct volume *v, uint64_t id, uint64_t digest,
		      uint64_t *size);

#endif
