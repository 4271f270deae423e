#ifndef STORE_ENGINE_CORE_HISTORY_EDIT_H
#define STORE_ENGINE_CORE_HISTORY_EDIT_H

#include "store/engine/core/state.h"

/* Adds to edit which moments and history files come and go with it. Needs
 * edits; takes lock. 0 or -ENOMEM. */
int history_complete(struct engine *e, struct edit *edit);

#endif
