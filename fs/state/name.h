#ifndef FS_STATE_NAME_H
#define FS_STATE_NAME_H

#include "store/base/buf.h"

/*
 * Keys as file names. A name is the key's bytes, except that these are written
 * %XX, two upper-case hex digits:
 *
 *   NUL, '/', 01 to 1F, 7F
 *   a leading '.' where names with a dot are reserved (table, row, family), and
 *   anywhere that of the keys "." and ".."; also of the qualifier ".versions"
 *   '%' before two upper-case hex digits or before '~'
 *
 * The empty key is "%~". A name that would be longer than 255 bytes is cut at a
 * character after at most 200, followed by "%~" and 16 hex digits of the key's
 * hash. So each key has exactly one name and each name at most one spelling.
 * Pure functions.
 */
#define NAME_SIZE_MAX 255
#define NAME_HEAD_MAX 200

enum name_level {
	NAME_TABLE,
	NAME_ROW,
	NAME_FAMILY,
	NAME_QUALIFIER,
	NAME_VALUE, /* of a step in a .scan path: no name is reserved */
};

enum name_form {
	NAME_WHOLE = 0, /* the name says the whole key */
	NAME_CUT = 1,   /* it says the key's beginning and hash */
};

/* Appends the key's name. 0 or -ENOMEM. */
int name_encode(enum name_level level, struct bytes key, struct buf *out);

/* As that, but never cut: where it stands in a text, not in a directory. */
int name_encode_whole(enum name_level level, struct bytes key, struct buf *out);

/*
 * Appends the key, or the part of it that a cut name shows, and then sets
 * *hash; returns which. -EINVAL: no key has this name; -ENAMETOOLONG: longer
 * than any; -ENOMEM.
 */
int name_decode(enum name_level level, struct bytes name, struct buf *key,
		uint64_t *hash);

/* The hash in a cut name. */
uint64_t name_hash(struct bytes key);

#endif
