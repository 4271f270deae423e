#ifndef STORE_ENGINE_COMPACT_HIDDEN_H
#define STORE_ENGINE_COMPACT_HIDDEN_H

#include "store/engine/files/memtable.h"
#include "store/engine/files/version.h"

/*
 * How many bytes of large values deletions hide: a few entries may hide most of
 * a store then, which no count of entries tells. So they are looked up, as
 * many as a fraction of a second is enough for; what lies behind is left out.
 * Values count as they are, not as they are stored.
 */

/* What the deletions of m hide in ssts of v, and what m holds that it deletes
 * or overwrites itself. 0 with *size, -ENOMEM, or errors of reading. Others may
 * write to m. */
int hidden_by_memtable(const struct version *v, const struct memtable *m,
		       uint64_t *size);

/* What the deletions of f, which is of v, hide in ssts of v; kept in f once it
 * is known: for who has the engine's lock work. As hidden_by_memtable. */
int hidden_by_file(const struct version *v, struct sst_file *f, uint64_t *size);

#endif
