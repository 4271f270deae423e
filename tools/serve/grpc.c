#include <errno.h>

#include "store/base/coding.h"
#include "tools/serve/grpc.h"

void grpc_prefix(uint8_t prefix[GRPC_PREFIX_SIZE], uint32_t size)
{
	prefix[0] = 0;
	put_u32be(prefix + 1, size);
}

uint32_t grpc_prefix_size(const uint8_t prefix[GRPC_PREFIX_SIZE])
{
	return get_u32be(prefix + 1);
}

/* Eight digits of hours are 3.6e17 microseconds: nothing here overflows. */
int grpc_timeout(struct bytes text, uint64_t *us)
{
	static const struct {
		char unit;
		uint64_t ns;
	} units[] = { { 'n', 1 },           { 'u', 1000 },
		      { 'm', 1000000 },     { 'S', 1000000000 },
		      { 'M', 60000000000 }, { 'H', 3600000000000 } };
	uint64_t number = 0;
	size_t i;

	if (text.size < 2 || text.size > 9)
		return -EINVAL;
	for (i = 0; i < text.size - 1; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return -EINVAL;
		number = number * 10 + (text.data[i] - '0');
	}
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (units[i].unit != text.data[text.size - 1])
			continue;
		*us = units[i].ns < 1000 ? (number + 999) / 1000
					 : number * (units[i].ns / 1000);
		return 0;
	}
	return -EINVAL;
}

bool grpc_content_type(struct bytes text)
{
	struct bytes type = BYTES_LITERAL("application/grpc");

	return bytes_starts_with(text, type) &&
	       (text.size == type.size || text.data[type.size] == '+' ||
		text.data[type.size] == ';');
}

int grpc_add_text(struct buf *b, struct bytes text)
{
	static const char digits[] = "0123456789ABCDEF";
	uint8_t escape[3] = { '%', 0, 0 };
	size_t i;
	int err = 0;

	if (text.size > GRPC_TEXT_MAX) {
		text.size = GRPC_TEXT_MAX;
		/* Not in the middle of a character. */
		while (text.size > 0 && (text.data[text.size] & 0xc0) == 0x80)
			text.size--;
	}
	for (i = 0; i < text.size && err == 0; i++) {
		uint8_t c = text.data[i];

		if (c >= ' ' && c <= '~' && c != '%') {
			err = buf_add_byte(b, c);
			continue;
		}
		escape[1] = (uint8_t)digits[c >> 4];
		escape[2] = (uint8_t)digits[c & 15];
		err = buf_add(b, escape, sizeof(escape));
	}
	return err;
}
