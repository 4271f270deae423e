#include <assert.h>

#include "store/text/print/print_large.h"
#include "store/text/value/utf8.h"

/* Parts of a large value: small, as text may be several times as long, of whole
 * base64 groups. */
#define PART_SIZE ((size_t)48 << 10)
static_assert(PART_SIZE % 3 == 0, "no padding inside");

int print_read(struct large *value, uint64_t offset, struct buf *memory,
	       bool characters, struct bytes *part)
{
	uint64_t left = large_size(value) - offset;
	size_t size = left < PART_SIZE ? (size_t)left : PART_SIZE;
	int err;

	buf_reset(memory);
	err = buf_reserve(memory, size);
	if (!err)
		err = large_read(value, offset, memory->data, size);
	*part = bytes_of(memory->data, size);
	if (!err && characters && size < left)
		part->size = utf8_whole(*part);
	return err;
}

void print_later(struct printer *p,
		 int (*print)(struct bytes part, struct buf *out))
{
	assert(p->given && !p->large.value);
	p->large.value = large_get(p->given);
	p->large.at = 0;
	p->large.print = print;
	buf_reset(&p->large.tail);
}

int print_test(struct printer *p, bool (*test)(struct bytes part))
{
	uint64_t at = 0;
	struct bytes part;
	int err;

	while (at < large_size(p->given)) {
		err = print_read(p->given, at, &p->large.part, true, &part);
		if (err)
			return err;
		if (!test(part))
			return 0;
		at += part.size;
	}
	return 1;
}
