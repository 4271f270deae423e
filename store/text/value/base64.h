#ifndef STORE_TEXT_VALUE_BASE64_H
#define STORE_TEXT_VALUE_BASE64_H

#include "store/base/buf.h"

/*
 * Base64 with padding, RFC 4648 section 4: how JSON carries bytes that are not
 * UTF-8. Both append to out, keep nothing, and may be called by any thread; in
 * must not be part of out, which may move.
 */

/* 0 or -ENOMEM; then out is as before. */
int base64_encode(struct bytes in, struct buf *out);

/* Takes exactly what base64_encode makes: no line breaks, no missing padding,
 * no bits set behind the last byte. -ERR_bad_line tells the character, from 1,
 * or -ENOMEM; then out may hold part of it. */
int base64_decode(struct bytes in, struct buf *out);

/* As base64_decode, of size characters from at on, both multiples of 4. */
int base64_decode_piece(struct bytes in, size_t at, size_t size,
			struct buf *out);

#endif
