#ifndef STORE_ATTRIBUTES_H
#define STORE_ATTRIBUTES_H

#include "store/base/bytes.h"

/*
 * Attributes: named values that those who use the store keep with a table, or
 * with the store itself; the store goes by STORE_PROTECTED alone. A table's go
 * with it when it is renamed, and go when it is dropped. They are part of the
 * schema, so that they are read without a wait and are durable when they are
 * changed, see admin.h; and they are held in memory, hence the limits.
 *
 * Who uses the store agrees on names: one for each purpose, or a word and a
 * slash before many of a kind.
 */

/* Of a name, in bytes from ! to ~. At least one. */
#define STORE_ATTRIBUTE_NAME_MAX 255
/* Of a value, in bytes of any kind. */
#define STORE_ATTRIBUTE_VALUE_MAX (64 << 10)
/* Of all attributes of a table, or of the store's own, and of all that there
 * are; each counts for its name, its value and STORE_ATTRIBUTE_COST. */
#define STORE_ATTRIBUTE_COST 32
#define STORE_ATTRIBUTES_MAX ((size_t)1 << 20)
#define STORE_ATTRIBUTES_ALL_MAX ((size_t)4 << 20)

/* A table that has this one is not dropped, renamed or emptied by one deletion
 * of all rows, nor are families of it dropped, by anybody: -EPERM. Single rows
 * and ranges of them are not protected. */
#define STORE_PROTECTED "bigtable/protected"

struct attribute {
	struct bytes name, value;
};

/* Those of a table or of the store, immutable. They live as long as the schema
 * that leads to them; zeroed, there are none. */
struct attributes {
	const struct attribute *items; /* strictly ascending by name */
	size_t count;
	size_t size;                      /* what they count for */
	struct attributes_shared *shared; /* the store's; NULL if count is 0 */
};

/* Whether there is one of this name, whose value is *value then. value may be
 * NULL. */
bool attributes_find(const struct attributes *a, struct bytes name,
		     struct bytes *value);

/* The index of the first one whose name is not less; count if there is none. So
 * those that begin with a prefix are those from there on that do. */
size_t attributes_from(const struct attributes *a, struct bytes name);

#endif
