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
 *
 * The empty key is "%~". A name that would be longer than 255 bytes is cut at a
 * character after at most 200, followed by "%~" and 16 hex digits of the key's
 * hash.
 *
 * An escape is a '%', "25" any number of times, and what makes it one: the
 * digits of a byte that is written %XX at that place, or "~" where that is all
 * of the rest and the '%' comes first, or "~" and 16 lower-case hex digits that
 * end it. Where a key has an escape, its name has the same with one "25" more;
 * any other '%' is itself:
 *
 *   key    name          key      name
 *   a/b    a%2Fb         %41      %41
 *   a%2Fb  a%252Fb       100%25   100%25
 *
 * So each key has exactly one name, and each name that a directory can hold is
 * that of one key, but for raw control bytes, reserved names, and the form of
 * cut names, which are those of long keys only. Pure functions, tested with all
 * short strings, with random bytes and by a fuzzer (fuzz_name.c).
 */

/* Bytes of a name, NAME_MAX of Linux. */
#define NAME_SIZE_MAX 255
/* Bytes of a cut name before its mark; with mark and hash it has 218 at most.
 */
#define NAME_HEAD_MAX 200

/* Where a name stands, which decides about a leading dot. */
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

/* Appends the key's name, at most NAME_SIZE_MAX bytes. 0, or -ENOMEM with out
 * as it was. */
int name_encode(enum name_level level, struct bytes key, struct buf *out);

/* Appends the key's name however long it is: where it stands in a text, not in
 * a directory. 0, or -ENOMEM with part of it appended. */
int name_encode_whole(enum name_level level, struct bytes key, struct buf *out);

/*
 * Appends the key, or the part of it that a cut name shows, and then sets
 * *hash; returns which (enum name_form). -EINVAL: no key has this name;
 * -ENAMETOOLONG: longer than any; -ENOMEM; then key is as it was. Whether a cut
 * name is spelled as that of the key that is meant is known only when the key
 * is found, see lookup_key.
 */
int name_decode(enum name_level level, struct bytes name, struct buf *key,
		uint64_t *hash);

/* The hash in a cut name. Names are kept by users: it is the same for good. */
uint64_t name_hash(struct bytes key);

#endif
