#ifndef STORE_MODEL_ADMIN_H
#define STORE_MODEL_ADMIN_H

#include "store/model/model.h"

/* Reads the schema from table 0 and installs it. */
int schema_load(struct store *s);

/* Adds a table with its id, families and their types; all cells are seen. */
int schema_adopt(struct store *s, const struct table *table);

#endif
