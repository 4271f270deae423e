#ifndef STORE_TEXT_VALUE_FAMILY_H
#define STORE_TEXT_VALUE_FAMILY_H

#include "store/store.h"

/*
 * Column families as words: their types, and the form in which createtable and
 * createfamily take a whole one. What the types mean says store/schema.h.
 */

/* One of the words intsum intmin intmax inthll stringutf8bytes, or bytes for a
 * family without a type. -ERR_no_such_type. */
int family_type_parse(struct bytes text, enum family_type *out);

/* The word that family_type_parse takes; a constant, never NULL. */
const char *family_type_word(enum family_type type);

/* The JSON that cbt ls prints for the type; a constant, never NULL. */
const char *family_type_json(enum family_type type);

/*
 * A family as createtable takes it: NAME[:POLICY[:TYPE]]. The name may be
 * anything without a colon; store_create_family judges it. spec->name points
 * into text; spec->gc is the caller's to free, and NULL after an error, which
 * is that of gc_policy_parse or of family_type_parse.
 */
int family_spec_parse(struct bytes text, struct family_spec *spec);

#endif
