#include <assert.h>

#include "store/text/value/utf8.h"

/*
 * The first byte tells the size: 0xc2 to 0xdf two, 0xe0 to 0xef three, 0xf0 to
 * 0xf4 four; the others begin nothing (0xc0 and 0xc1 only overlong forms). Each
 * byte that follows carries six bits below 10.
 */
size_t utf8_decode(struct bytes s, uint32_t *rune)
{
	/* By size: what is below has a shorter form. */
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size, i;
	uint32_t r;

	if (s.size == 0)
		return 0;
	r = s.data[0];
	if (r < 0x80) {
		*rune = r;
		return 1;
	}
	if (r < 0xc2 || r > 0xf4)
		return 0;
	size = r < 0xe0 ? 2 : r < 0xf0 ? 3 : 4;
	if (s.size < size)
		return 0;
	/* The size stands in the top bits; five, four or three below are
	 * value. */
	r &= 0x7fu >> size;
	for (i = 1; i < size; i++) {
		if ((s.data[i] & 0xc0) != 0x80)
			return 0;
		r = r << 6 | (s.data[i] & 0x3f);
	}
	if (r < smallest[size] || r > 0x10ffff || (r >= 0xd800 && r < 0xe000))
		return 0;
	*rune = r;
	return size;
}

/* How many leading bytes are ASCII, found eight at a time: most text is nothing
 * else, and every value printed as JSON goes through here. */
static size_t ascii_run(struct bytes s)
{
	size_t n = 0;

	while (n + 8 <= s.size) {
		uint64_t word;

		/* s.data need not be aligned. */
		memcpy(&word, s.data + n, 8);
		if (word & UINT64_C(0x8080808080808080))
			break;
		n += 8;
	}
	while (n < s.size && s.data[n] < 0x80)
		n++;
	return n;
}

bool utf8_valid(struct bytes s)
{
	while (s.size > 0) {
		uint32_t rune;
		size_t n = ascii_run(s);

		if (n == 0)
			n = utf8_decode(s, &rune);
		if (n == 0)
			return false;
		assert(n <= s.size);
		s = bytes_after(s, n);
	}
	return true;
}

size_t utf8_whole(struct bytes s)
{
	size_t i, size;

	/* i bytes from the end stands what may begin the last character. */
	for (i = 1; i <= 3 && i < s.size; i++) {
		uint8_t c = s.data[s.size - i];

		size = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		if (size > i)
			return s.size - i;
		if ((c & 0xc0) != 0x80)
			break;
	}
	return s.size;
}

size_t utf8_count(struct bytes s)
{
	size_t count = 0;

	while (s.size > 0) {
		uint32_t rune;
		size_t n = utf8_decode(s, &rune);

		/* A stray byte counts, and the next one is tried anew. */
		s = bytes_after(s, n ? n : 1);
		count++;
	}
	return count;
}
