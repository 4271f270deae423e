#ifndef STORE_MODEL_ATTRIBUTES_H
#define STORE_MODEL_ATTRIBUTES_H

#include "store/attributes.h"

/*
 * Sets of attributes as data structures. A set lies in one allocation, which
 * copies of a schema share by reference, as no change touches it: a change
 * makes another one. No set is larger than STORE_ATTRIBUTES_MAX, so that this
 * takes no time beside the sync that follows.
 */

/* The place of name among count elements of the given size, which begin each
 * with their name, a struct bytes, and ascend by it; *found says whether it is
 * there. If not, it is where the name belongs. */
size_t place_by_name(const void *elements, size_t count, size_t size,
		     struct bytes name, bool *found);

/* Another reference to the same, which attributes_release gives back. */
struct attributes attributes_share(const struct attributes *a);

/* Leaves none. */
void attributes_release(struct attributes *a);

/* Makes *out of count items, which are copied and strictly ascend by name. 0 or
 * -ENOMEM. */
int attributes_new(const struct attribute *items, size_t count,
		   struct attributes *out);

/* Changes *a as store_set_attributes says, or leaves it as it was: -ENOMEM,
 * -ERR_bad_name, -ERR_name_too_long, -ERR_attribute_too_large,
 * -ERR_attributes_full. */
int attributes_change(struct attributes *a, const struct attribute *changes,
		      size_t count);

#endif
