#include <assert.h>

#include "store/base/err.h"
#include "store/text/value/base64.h"

/*
 * Three bytes become four characters of six bits each, highest bits first. Of a
 * last group of one or two bytes come two or three characters, filled up with
 * zero bits, and = for what is missing.
 */
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "abcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_encode(struct bytes in, struct buf *out)
{
	uint8_t *p;
	size_t i;
	int err = buf_reserve(out, in.size / 3 * 4 + 4);

	if (err < 0)
		return err;
	/* Room was made once for all of it, so p stays good. */
	p = out->data + out->size;
	for (i = 0; i < in.size; i += 3) {
		size_t left = in.size - i;
		uint32_t v = (uint32_t)in.data[i] << 16;

		if (left > 1)
			v |= (uint32_t)in.data[i + 1] << 8;
		if (left > 2)
			v |= in.data[i + 2];
		*p++ = (uint8_t)alphabet[v >> 18];
		*p++ = (uint8_t)alphabet[v >> 12 & 63];
		*p++ = left > 1 ? (uint8_t)alphabet[v >> 6 & 63] : '=';
		*p++ = left > 2 ? (uint8_t)alphabet[v & 63] : '=';
	}
	out->size = (size_t)(p - out->data);
	assert(out->size <= out->capacity);
	return 0;
}

/* 0 to 63; 64 for what is not of the alphabet. */
static uint32_t sextet(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a') + 26;
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0') + 52;
	return c == '+' ? 62 : c == '/' ? 63 : 64;
}

/* How many of the last four characters are padding. A third = is then found to
 * be outside of the alphabet. */
static size_t padding_of(struct bytes in)
{
	size_t padding = 0;

	while (padding < 2 && padding < in.size &&
	       in.data[in.size - 1 - padding] == '=')
		padding++;
	return padding;
}

int base64_decode_piece(struct bytes in, size_t at, size_t size,
			struct buf *out)
{
	size_t padding = padding_of(in), end = at + size, i;
	int err;

	if (in.size % 4)
		return fail(ERR_bad_line,
			    "base64 text has %zu characters, not a multiple "
			    "of 4",
			    in.size);
	assert(at % 4 == 0 && size % 4 == 0 && end <= in.size);
	err = buf_reserve(out, size / 4 * 3);
	if (err < 0)
		return err;
	for (i = at; i < end; i += 4) {
		size_t count = i + 4 == in.size ? 4 - padding : 4, j;
		uint32_t v = 0;

		for (j = 0; j < 4; j++) {
			uint32_t s = j < count ? sextet(in.data[i + j]) : 0;

			if (s > 63)
				return fail(ERR_bad_line,
					    "bad base64 at character %zu",
					    i + j + 1);
			v = v << 6 | s;
		}
		/* The bits that fill the last character must be zero, or
		 * different texts would be one value. */
		if ((count == 2 && v & 0xffff) || (count == 3 && v & 0xff))
			return fail(ERR_bad_line,
				    "base64 text has stray bits at its end");
		out->data[out->size++] = (uint8_t)(v >> 16);
		if (count > 2)
			out->data[out->size++] = (uint8_t)(v >> 8);
		if (count > 3)
			out->data[out->size++] = (uint8_t)v;
	}
	return 0;
}

int base64_decode(struct bytes in, struct buf *out)
{
	return base64_decode_piece(in, 0, in.size, out);
}
