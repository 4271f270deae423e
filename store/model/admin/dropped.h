#ifndef STORE_MODEL_ADMIN_DROPPED_H
#define STORE_MODEL_ADMIN_DROPPED_H

#include "store/model/admin/change.h"

/*
 * Whose tables were when they were dropped, as attributes of the store's own:
 * moments of the past have the tables, but not that one of them was closed to
 * others between two moments that stayed. STORE_DROPPED and the table's id in
 * eight hexadecimal digits is the name; mode, uid and gid, 4 bytes each, and
 * the time in microseconds, 8 bytes, little-endian, are the value. They are
 * kept while history is, and as long as it reaches back to the drop,
 * DROPPED_MAX at most.
 */
#define DROPPED_MAX 1000

/* Adds to c, which drops table, that of it, and the deletion of those that are
 * no longer wanted. */
int dropped_note(struct change *c, const struct table *table);

/* All that a has, as changes that remove them, in out, which has room for
 * DROPPED_MAX: how many. Names are borrowed from a. */
size_t dropped_all(const struct attributes *a, struct attribute *out);

#endif
