#ifndef STORE_MODEL_EVENTS_H
#define STORE_MODEL_EVENTS_H

#include "store/model/schema.h"

/* Tells how the schema, which is in force, differs from the one before. */
void tell_schema(struct store *s, const struct schema *old,
		 const struct schema *new);

#endif
