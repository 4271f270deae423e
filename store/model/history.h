#ifndef STORE_MODEL_HISTORY_H
#define STORE_MODEL_HISTORY_H

#include "store/schema.h"

/* Has the engine go by the setting that is in schema, which is in force.
 * Needs writing, or that nobody else has s. */
void history_install(struct store *s, const struct schema *schema);

#endif
