#ifndef STORE_TEXT_VALUE_QUOTE_H
#define STORE_TEXT_VALUE_QUOTE_H

#include "store/store.h"

/* Go's %q: a double-quoted string with escapes. */
int quote_go(struct bytes value, struct buf *out);

#endif
