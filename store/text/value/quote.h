#ifndef STORE_TEXT_VALUE_QUOTE_H
#define STORE_TEXT_VALUE_QUOTE_H

#include "store/store.h"

/*
 * Appends value as Go's %q prints it, and so cbt read: in double quotes, with
 * \n and the like, \x00 for control characters and for bytes that are not
 * UTF-8, \u00ad for code points that Go does not print. Never a raw newline or
 * escape sequence. 0 or -ENOMEM. Any thread may call it.
 */
int quote_go(struct bytes value, struct buf *out);
/* Without the quotes around it: of parts that end with a character what follows
 * is the whole. */
int quote_go_part(struct bytes value, struct buf *out);

#endif
