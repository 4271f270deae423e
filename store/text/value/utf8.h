#ifndef STORE_TEXT_VALUE_UTF8_H
#define STORE_TEXT_VALUE_UTF8_H

#include "store/base/bytes.h"

/*
 * UTF-8 as Go and RFC 3629 have it: no overlong forms, no surrogates, nothing
 * above U+10FFFF. Pure functions.
 */

/* The size of the valid sequence at the front of s, 1 to 4, with its code point
 * in *rune; 0 if s is empty or does not begin with one, and *rune is
 * untouched. */
size_t utf8_decode(struct bytes s, uint32_t *rune);

/* Whether s is valid sequences and nothing else; so is "". */
bool utf8_valid(struct bytes s);

/* How much of s does not end in the middle of a character: all but up to three
 * bytes that more would follow. 0 of "" only. */
size_t utf8_whole(struct bytes s);

/* Code points, each stray byte counted as one, as Go's
 * utf8.RuneCountInString. */
size_t utf8_count(struct bytes s);

#endif
