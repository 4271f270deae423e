#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/buf.h"

int buf_grow(struct buf *b, size_t extra)
{
	size_t need, capacity;

	/* The half keeps the steps below from wrapping around. */
	if (extra > SIZE_MAX / 2 - b->size)
		return -ENOMEM;
	need = b->size + extra;
	capacity = b->capacity ? b->capacity : 64;
	/* By a half each time, so that however small the pieces are, a byte is
	 * copied twice on average. */
	while (capacity < need)
		capacity += capacity / 2 + 32;
	return buf_fit(b, capacity);
}

int buf_fit(struct buf *b, size_t capacity)
{
	uint8_t *data;

	if (capacity <= b->capacity)
		return 0;
	data = realloc(b->data, capacity);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->capacity = capacity;
	return 0;
}

int buf_add_string(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;
	int size, err;

	va_start(args, fmt);
	/* Once to learn the size, once to print. */
	size = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (size < 0)
		return -EINVAL;
	/* vsnprintf wants room for a NUL, which is not counted. */
	err = buf_reserve(b, (size_t)size + 1);
	if (err < 0)
		return err;
	va_start(args, fmt);
	vsnprintf((char *)b->data + b->size, (size_t)size + 1, fmt, args);
	va_end(args);
	b->size += (size_t)size;
	return 0;
}

int buf_add_visible(struct buf *b, struct bytes text)
{
	size_t i;
	int err = 0;

	for (i = 0; i < text.size && !err; i++)
		err = bytes_is_control(text, i)
			      ? buf_printf(b, "\\x%02x", text.data[i])
			      : buf_add_byte(b, text.data[i]);
	return err;
}

int buf_terminate(struct buf *b)
{
	int err = buf_reserve(b, 1);

	if (err < 0)
		return err;
	b->data[b->size] = 0;
	return 0;
}
