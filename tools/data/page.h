#ifndef TOOLS_DATA_PAGE_H
#define TOOLS_DATA_PAGE_H

#include "store/base/buf.h"

/*
 * Tokens of pages: the key of the last row of one, in a form that any terminal
 * and shell carries, with a checksum, since a part of one is to be told from
 * another key. They hold nothing else, so they do not expire.
 */

/* Appends row's token to out. 0 or -ENOMEM. */
int page_print(struct bytes row, struct buf *out);

/* Appends a token's row to out, which is empty: 0, -ENOMEM, or
 * -ERR_bad_argument for what page_print did not make. */
int page_parse(struct bytes token, struct buf *out);

#endif
