#ifndef STORE_BASE_BUF_H
#define STORE_BASE_BUF_H

#include "store/base/bytes.h"

/*
 * A growing array of bytes that owns its memory. A zeroed struct buf is empty
 * and ready; buf_release returns it to that state. Adding may move data, so
 * bytes borrowed from a buf end with the next call that adds to it. On -ENOMEM
 * the content is as before.
 */
struct buf {
	uint8_t *data;
	size_t size;
	size_t capacity;
};

#define BUF_INIT           \
	{                  \
		NULL, 0, 0 \
	}

void buf_release(struct buf *b);

/* Makes room where there is not enough; see buf_reserve. */
int buf_grow(struct buf *b, size_t extra);

/* Room for at least extra more bytes. 0 or -ENOMEM. */
static inline int buf_reserve(struct buf *b, size_t extra)
{
	return extra <= b->capacity - b->size ? 0 : buf_grow(b, extra);
}

/* Each appends and returns 0 or -ENOMEM. data may be NULL when size is 0. */
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

int buf_add_string(struct buf *b, const char *s);
__attribute__((format(printf, 2, 3))) int buf_printf(struct buf *b,
						     const char *fmt, ...);

/* A NUL after the content, not counted in size. 0 or -ENOMEM. */
int buf_terminate(struct buf *b);

static inline void buf_reset(struct buf *b)
{
	b->size = 0;
}

static inline int buf_add_bytes(struct buf *b, struct bytes s)
{
	return buf_add(b, s.data, s.size);
}

/* Replaces the content. */
static inline int buf_set(struct buf *b, struct bytes s)
{
	b->size = 0;
	return buf_add(b, s.data, s.size);
}

static inline struct bytes buf_bytes(const struct buf *b)
{
	return bytes_of(b->data, b->size);
}

#endif
