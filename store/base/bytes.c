#include "store/base/bytes.h"

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct bytes bytes_trim(struct bytes b)
{
	while (b.size > 0 && is_space(b.data[b.size - 1]))
		b.size--;
	while (b.size > 0 && is_space(b.data[0]))
		b = bytes_after(b, 1);
	return b;
}

size_t bytes_shared(struct bytes a, struct bytes b)
{
	size_t limit = a.size < b.size ? a.size : b.size;
	size_t n = 0;

	/* Eight bytes a step. The lowest bit that differs is in the first byte
	 * that does, as the machine is little endian. */
	while (n + 8 <= limit) {
		uint64_t x, y;

		memcpy(&x, a.data + n, 8);
		memcpy(&y, b.data + n, 8);
		if (x != y)
			return n + (size_t)(__builtin_ctzll(x ^ y) / 8);
		n += 8;
	}
	while (n < limit && a.data[n] == b.data[n])
		n++;
	return n;
}

bool bytes_is_control(struct bytes text, size_t at)
{
	uint8_t byte = text.data[at];

	if (byte == 0xc2)
		return at + 1 < text.size && text.data[at + 1] < 0xa0;
	if (at > 0 && text.data[at - 1] == 0xc2)
		return byte < 0xa0;
	return byte < 0x20 || byte == 0x7f;
}
