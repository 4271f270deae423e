#ifndef STORE_ENGINE_PURGE_VISIT_H
#define STORE_ENGINE_PURGE_VISIT_H

#include "store/engine/core/state.h"

/* Calls each with every entry that any file of the tree or the past has in
 * [start, end), whether anybody sees it or not, in no order; a result other
 * than 0 ends it, and is returned. What only memtables have is not there. */
int engine_visit(struct engine *e, struct bytes start, struct bytes end,
		 int (*each)(void *context, struct bytes key,
			     struct bytes value),
		 void *context);

#endif
