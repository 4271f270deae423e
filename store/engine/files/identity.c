#include <string.h>

#include "store/engine/files/identity.h"

bool store_id_is_none(const struct store_id *id)
{
	static const struct store_id none;

	return store_id_equal(id, &none);
}

bool store_id_equal(const struct store_id *a, const struct store_id *b)
{
	return memcmp(a->bytes, b->bytes, STORE_ID_SIZE) == 0;
}

void store_id_text(const struct store_id *id, char text[STORE_ID_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < STORE_ID_SIZE; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	text[2 * STORE_ID_SIZE] = 0;
}

/* -1 if c is no digit as store_id_text writes them. */
static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool store_id_parse(struct bytes text, struct store_id *id)
{
	size_t i;

	if (text.size != 2 * STORE_ID_SIZE)
		return false;
	for (i = 0; i < STORE_ID_SIZE; i++) {
		int high = digit_of(text.data[2 * i]);
		int low = digit_of(text.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		id->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

struct identity identity_of_child(const struct identity *parent,
				  uint64_t sequence)
{
	struct identity child = { .features = parent->features,
				  .parent = parent->parent,
				  .parent_sequence = parent->parent_sequence };

	if (!store_id_is_none(&parent->id)) {
		child.parent = parent->id;
		child.parent_sequence = sequence;
	}
	return child;
}
