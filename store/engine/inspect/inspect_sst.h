#ifndef STORE_ENGINE_INSPECT_INSPECT_SST_H
#define STORE_ENGINE_INSPECT_INSPECT_SST_H

#include "store/engine/inspect/inspect_out.h"

/* Shows an sst. The file is reader's, which cannot fail but by the receiver of
 * lines. 0, or an error of inspect_out.h. */
int inspect_sst(struct inspect *i, struct reader *reader,
		const struct inspect_facts *facts);

/* " put N" and the like: what an entry of this kind does, by enum key_kind,
 * with the size of its value; of a large one with that of its references. */
int inspect_add_value(struct inspect *i, int kind, struct bytes value);

/* After inspect_end of such an entry: a line for each of its references. */
int inspect_references(struct inspect *i, int kind, struct bytes value);

#endif
