#ifndef STORE_FORMAT_BLOCK_ENTRY_H
#define STORE_FORMAT_BLOCK_ENTRY_H

#include "store/format/block.h"

/* How an entry of a block lies there; for block.c and block_heads.c alone. What
 * is borrowed lives as long as the block. */
struct block_entry {
	uint64_t shared, unshared, value_size; /* bytes */
	uint8_t flags;
	const uint8_t *key; /* the unshared bytes; the value follows */
};

/*
 * Parses the entry at p; returns where the next one starts, or NULL if it does
 * not fit before end or has flags that are not known. Whether there is a key
 * that could share so much is the caller's to check. This is the innermost loop
 * of every search: sizes below 128, as nearly all are, are read at once.
 */
static inline const uint8_t *block_entry_parse(const uint8_t *p,
					       const uint8_t *end,
					       struct block_entry *e)
{
	uint32_t head;

	if (end - p < 4)
		return NULL;
	head = get_u32le(p);
	if ((head & 0x80808080) == 0) {
		e->shared = head & 0xff;
		e->unshared = head >> 8 & 0xff;
		e->value_size = head >> 16 & 0xff;
		e->flags = (uint8_t)(head >> 24);
		p += 4;
	} else {
		p = get_varint(p, end, &e->shared);
		if (p)
			p = get_varint(p, end, &e->unshared);
		if (p)
			p = get_varint(p, end, &e->value_size);
		if (!p || p == end)
			return NULL;
		e->flags = *p++;
	}
	if ((e->flags & ~BLOCK_SAME_ROW) != 0)
		return NULL;
	if (e->unshared > (uint64_t)(end - p) ||
	    e->value_size > (uint64_t)(end - p) - e->unshared)
		return NULL;
	e->key = p;
	return p + e->unshared + e->value_size;
}

#endif
