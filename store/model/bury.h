#ifndef STORE_MODEL_BURY_H
#define STORE_MODEL_BURY_H

#include "store/model/model.h"

/* Deletions of what the GC rule hides now of the column with this encoded
 * prefix: adds them to out. Of a whole family: writes them. All need
 * s->writing. */
int bury_column(struct store *s, struct bytes column, struct batch *out);
int bury_now(struct store *s, struct batch *batch);
int bury_family(struct store *s, uint32_t table, struct bytes family);

#endif
