#ifndef STORE_BASE_CODING_H
#define STORE_BASE_CODING_H

#include "store/base/buf.h"

/*
 * Fixed and variable length integers in byte strings. Files hold little
 * endian; keys hold big endian, so that memcmp orders them. A varint is
 * LEB128: seven bits a byte, lowest first, at most 10 bytes. A value has one
 * shortest form, which is written; longer ones are read as well.
 *
 * The calls on p read or write as many bytes as the type has, at any alignment.
 * The calls on a struct bytes trust nothing: they tell when it is cut off.
 */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "the memcpy forms assume a little endian machine");

static inline void put_u16le(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline uint16_t get_u16le(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline void put_u32le(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

static inline uint32_t get_u32le(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static inline void put_u64le(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, 8);
}

static inline uint64_t get_u64le(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static inline void put_u32be(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

static inline uint32_t get_u32be(const uint8_t *p)
{
	return __builtin_bswap32(get_u32le(p));
}

static inline void put_u64be(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

static inline uint64_t get_u64be(const uint8_t *p)
{
	return __builtin_bswap64(get_u64le(p));
}

#define VARINT_MAX_SIZE 10

/* How many bytes put_varint writes. */
static inline size_t varint_size(uint64_t v)
{
	return (size_t)(63 - __builtin_clzll(v | 1)) / 7 + 1;
}

/* Writes v at p, which has room for VARINT_MAX_SIZE; returns the end. */
static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Reads a varint that starts at p and ends before end; returns the byte after
 * it, or NULL if it is cut off or longer than 64 bits. */
static inline const uint8_t *get_varint(const uint8_t *p, const uint8_t *end,
					uint64_t *v)
{
	uint64_t result = 0;
	unsigned int shift;

	for (shift = 0; shift < 64 && p < end; shift += 7) {
		uint8_t byte = *p++;

		/* The tenth byte has one bit of the 64. */
		if (shift == 63 && byte > 1)
			return NULL;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = result;
			return p;
		}
	}
	return NULL;
}

/* Each appends to b: 0, or -ENOMEM, and b is as it was. */
int buf_add_u32le(struct buf *b, uint32_t v);
int buf_add_u64le(struct buf *b, uint64_t v);
int buf_add_varint(struct buf *b, uint64_t v);

/* Appends a varint length and the bytes. 0, or -ENOMEM, and b is as it was. */
int buf_add_sized(struct buf *b, struct bytes s);

/* Each takes its item from the front of *in; false if it is cut off or no valid
 * one, and *in is as it was. Bytes given out are borrowed from in's. */
bool take_u32le(struct bytes *in, uint32_t *v);
bool take_u64le(struct bytes *in, uint64_t *v);
bool take_bytes(struct bytes *in, size_t size, struct bytes *out);

static inline bool take_varint(struct bytes *in, uint64_t *v)
{
	const uint8_t *end, *p;

	if (in->size == 0)
		return false;
	end = in->data + in->size;
	p = get_varint(in->data, end, v);
	if (!p)
		return false;
	*in = bytes_of(p, (size_t)(end - p));
	return true;
}

static inline bool take_sized(struct bytes *in, struct bytes *out)
{
	struct bytes rest = *in;
	uint64_t size;

	if (!take_varint(&rest, &size) || size > rest.size)
		return false;
	*out = bytes_of(rest.data, (size_t)size);
	*in = bytes_after(rest, (size_t)size);
	return true;
}

#endif
