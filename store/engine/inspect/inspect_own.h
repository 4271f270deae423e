#ifndef STORE_ENGINE_INSPECT_INSPECT_OWN_H
#define STORE_ENGINE_INSPECT_INSPECT_OWN_H

#include "store/engine/inspect/inspect_out.h"

/* Show the small files that the volume has for itself, otherwise as
 * inspect_sst: the root, the marker, and the lock, whose line anybody may have
 * written. */
int inspect_root(struct inspect *i, struct reader *reader);
int inspect_marker(struct inspect *i, struct reader *reader);
int inspect_lock(struct inspect *i, struct reader *reader);

#endif
