#ifndef STORE_TEXT_VALUE_FAMILY_H
#define STORE_TEXT_VALUE_FAMILY_H

#include "store/store.h"

/* intsum intmin intmax inthll stringutf8bytes, and bytes for none. */
int family_type_parse(struct bytes text, enum family_type *out);
const char *family_type_word(enum family_type type);

/* The JSON that cbt ls prints. */
const char *family_type_json(enum family_type type);

/* A family as createtable takes it: F[:GC[:TYPE]]. spec->gc is the caller's to
 * free; spec->name points into text. */
int family_spec_parse(struct bytes text, struct family_spec *spec);

#endif
