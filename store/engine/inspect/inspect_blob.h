#ifndef STORE_ENGINE_INSPECT_INSPECT_BLOB_H
#define STORE_ENGINE_INSPECT_INSPECT_BLOB_H

#include "store/engine/inspect/inspect_out.h"

/* Shows a blob file, by the id of its name, or NULL if the name has none.
 * Otherwise as inspect_sst. */
int inspect_blob(struct inspect *i, struct reader *reader, const uint64_t *id,
		 const struct inspect_facts *facts);

#endif
