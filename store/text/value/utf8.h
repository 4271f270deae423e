#ifndef STORE_TEXT_VALUE_UTF8_H
#define STORE_TEXT_VALUE_UTF8_H

#include "store/base/bytes.h"

/* The size of the valid UTF-8 sequence at the front of s, with its code point
 * in *rune; 0 if s is empty or does not begin with one. */
size_t utf8_decode(struct bytes s, uint32_t *rune);
bool utf8_valid(struct bytes s);
/* Code points, each stray byte counted as one. */
size_t utf8_count(struct bytes s);

#endif
