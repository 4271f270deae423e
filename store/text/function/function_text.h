#ifndef STORE_TEXT_FUNCTION_FUNCTION_TEXT_H
#define STORE_TEXT_FUNCTION_FUNCTION_TEXT_H

#include "store/text/function/function.h"

/*
 * Functions from text to text: each sets v->text, to a part of itself or to
 * what it appends to memory, which is empty. 0, -ERR_bad_line or -ENOMEM. For
 * function.c, whose table says what arguments they have.
 */
int text_trim(const struct call *c, struct value *v, struct buf *memory);
int text_lower(const struct call *c, struct value *v, struct buf *memory);
int text_upper(const struct call *c, struct value *v, struct buf *memory);
int text_part(const struct call *c, struct value *v, struct buf *memory);
int text_replace(const struct call *c, struct value *v, struct buf *memory);
int text_slice(const struct call *c, struct value *v, struct buf *memory);
int text_length(const struct call *c, struct value *v, struct buf *memory);
int text_reverse(const struct call *c, struct value *v, struct buf *memory);
int text_pad(const struct call *c, struct value *v, struct buf *memory);
int text_pad_hex(const struct call *c, struct value *v, struct buf *memory);
int text_reverse_domain(const struct call *c, struct value *v,
			struct buf *memory);

#endif
