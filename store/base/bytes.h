#ifndef STORE_BASE_BYTES_H
#define STORE_BASE_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A borrowed run of bytes, passed by value. Nobody frees a struct bytes; the
 * comment of whoever hands one out says how long it stays valid. data may be
 * NULL only when size is 0.
 */
struct bytes {
	const uint8_t *data;
	size_t size;
};

#define BYTES_NONE ((struct bytes){ NULL, 0 })
/* A string literal, without its final NUL. */
#define BYTES_LITERAL(s) ((struct bytes){ (const uint8_t *)(s), sizeof(s) - 1 })

/* size bytes from data on; data may be NULL only when size is 0. */
static inline struct bytes bytes_of(const void *data, size_t size)
{
	return (struct bytes){ data, size };
}

/* A string without its final NUL. */
static inline struct bytes bytes_string(const char *s)
{
	return bytes_of(s, strlen(s));
}

/* Negative, 0 or positive as memcmp; the shorter of two that agree so far comes
 * first. memcmp is not called with NULL, not even for 0 bytes. */
static inline int bytes_compare(struct bytes a, struct bytes b)
{
	size_t n = a.size < b.size ? a.size : b.size;
	int order = n ? memcmp(a.data, b.data, n) : 0;

	if (order)
		return order;
	return (a.size > b.size) - (a.size < b.size);
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
	return a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Every b starts with an empty prefix. */
static inline bool bytes_starts_with(struct bytes b, struct bytes prefix)
{
	return b.size >= prefix.size &&
	       (prefix.size == 0 ||
		memcmp(b.data, prefix.data, prefix.size) == 0);
}

/* b without its first n bytes; n must not exceed b.size. */
static inline struct bytes bytes_after(struct bytes b, size_t n)
{
	assert(n <= b.size);
	return bytes_of(b.data + n, b.size - n);
}

/* b without the blanks, tabs, returns and newlines around it. */
struct bytes bytes_trim(struct bytes b);

/* How many leading bytes a and b share. */
size_t bytes_shared(struct bytes a, struct bytes b);

/* Whether the byte at this place is of a control character: of ASCII, or of the
 * 32 that UTF-8 begins with c2. */
bool bytes_is_control(struct bytes text, size_t at);

#endif
