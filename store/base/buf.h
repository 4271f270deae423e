#ifndef STORE_BASE_BUF_H
#define STORE_BASE_BUF_H

#include <assert.h>
#include <stdlib.h>

#include "store/base/bytes.h"

/*
 * A growing array of bytes that owns its memory. A zeroed struct buf is empty
 * and ready; buf_release returns it to that state. Adding may move data, so
 * bytes borrowed from a buf end with the next call that adds to it. On -ENOMEM
 * the content is as before, but after buf_set.
 */
struct buf {
	uint8_t *data; /* from malloc; NULL while capacity is 0 */
	size_t size;   /* bytes in use, at most capacity */
	size_t capacity;
};

#define BUF_INIT           \
	{                  \
		NULL, 0, 0 \
	}

/* Frees the memory; b is empty and may be used again. Most of those that a read
 * has ready were never filled. */
static inline void buf_release(struct buf *b)
{
	if (b->data)
		free(b->data);
	*b = (struct buf)BUF_INIT;
}

/* The slow half of buf_reserve, for when there is not enough room. */
int buf_grow(struct buf *b, size_t extra);

/* Capacity for so many bytes in all and no more, unless there is more already.
 * 0 or -ENOMEM. */
int buf_fit(struct buf *b, size_t capacity);

/* Room for at least extra more bytes, so that adding as many cannot fail. 0 or
 * -ENOMEM. */
static inline int buf_reserve(struct buf *b, size_t extra)
{
	assert(b->size <= b->capacity);
	return extra <= b->capacity - b->size ? 0 : buf_grow(b, extra);
}

/* Appends size bytes, which must not lie in b. data may be NULL when size is 0.
 * 0 or -ENOMEM. */
static inline int buf_add(struct buf *b, const void *data, size_t size)
{
	int err;

	if (size == 0)
		return 0;
	err = buf_reserve(b, size);
	if (err < 0)
		return err;
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return 0;
}

static inline int buf_add_byte(struct buf *b, uint8_t byte)
{
	return buf_add(b, &byte, 1);
}

/* Appends s without its final NUL. 0 or -ENOMEM. */
int buf_add_string(struct buf *b, const char *s);

/* Appends what printf would print, without a final NUL. 0, -ENOMEM, or -EINVAL
 * for a format that cannot be printed. */
__attribute__((format(printf, 2, 3))) int buf_printf(struct buf *b,
						     const char *fmt, ...);

/* Appends text that others may have chosen as a part of a line: control
 * characters, which would end the line or steer a terminal, as \xXX. 0 or
 * -ENOMEM, after which a part may be there. */
int buf_add_visible(struct buf *b, struct bytes text);

/* Puts a NUL after the content, not counted in size, which stands until the
 * next call that adds: then data is a string. 0 or -ENOMEM. */
int buf_terminate(struct buf *b);

/* Empties b and keeps its memory. */
static inline void buf_reset(struct buf *b)
{
	b->size = 0;
}

static inline int buf_add_bytes(struct buf *b, struct bytes s)
{
	return buf_add(b, s.data, s.size);
}

/* Replaces the content by s, which must not lie in b. 0, or -ENOMEM, and b is
 * empty. */
static inline int buf_set(struct buf *b, struct bytes s)
{
	b->size = 0;
	return buf_add(b, s.data, s.size);
}

/* The content, borrowed until b is changed. */
static inline struct bytes buf_bytes(const struct buf *b)
{
	return bytes_of(b->data, b->size);
}

#endif
