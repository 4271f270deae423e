#include <stdlib.h>

#include "store/format/block_entry.h"
#include "store/format/block_heads.h"

/*
 * A binary search among the entries at a block's restarts waits for memory at
 * each step. Their heads lie together in few cache lines. That heads ascend and
 * keys share the prefix is checked here, as searches count on it; a block where
 * that is not so gets none.
 */

/* Eight bytes of key from offset on as a number that compares as they do; what
 * is not there counts as zeros, so that keys of equal heads may differ. */
static uint64_t head_of(struct bytes key, size_t offset)
{
	uint8_t raw[8] = { 0 };

	if (offset + 8 <= key.size)
		return get_u64be(key.data + offset);
	if (offset < key.size)
		memcpy(raw, key.data + offset, key.size - offset);
	return get_u64be(raw);
}

/* A copy of the block's, so that finding one reads nothing of the block. */
static uint8_t *restarts_of(struct block_heads *h)
{
	return (uint8_t *)&h->heads[h->count];
}

/* Of prefix_size bytes; it ends the allocation. */
static const uint8_t *prefix_of(const struct block_heads *h)
{
	return (const uint8_t *)&h->heads[h->count] + 4 * (size_t)h->count;
}

/* The key at a restart; false if there is no whole one. */
static bool restart_key(const uint8_t *data, size_t end, uint32_t restart,
			struct bytes *key)
{
	size_t offset = restart & ~BLOCK_RESTART_SAME_ROW;
	struct block_entry e;

	if (offset >= end ||
	    !block_entry_parse(data + offset, data + end, &e) || e.shared > 0)
		return false;
	*key = bytes_of(e.key, e.unshared);
	return true;
}

struct block_heads *block_heads_new(struct bytes block)
{
	struct block_heads *h;
	struct bytes first, last, key;
	const uint8_t *restarts;
	uint32_t count, i;
	size_t end, prefix;

	if (block.size < 4 || block.size > BLOCK_SIZE_MAX)
		return NULL;
	count = get_u32le(block.data + block.size - 4);
	if (count == 0 || count > (block.size - 4) / 4)
		return NULL;
	end = block.size - 4 - 4 * (size_t)count;
	restarts = block.data + end;
	if (!restart_key(block.data, end, get_u32le(restarts), &first) ||
	    !restart_key(block.data, end,
			 get_u32le(restarts + 4 * (size_t)(count - 1)), &last))
		return NULL;
	prefix = bytes_shared(first, last);
	h = malloc(sizeof(*h) + count * (sizeof(h->heads[0]) + 4) + prefix);
	if (!h)
		return NULL;
	h->count = count;
	h->prefix_size = (uint32_t)prefix;
	memcpy(restarts_of(h), restarts, 4 * (size_t)count);
	if (prefix > 0)
		memcpy(restarts_of(h) + 4 * (size_t)count, first.data, prefix);
	for (i = 0; i < count; i++) {
		if (!restart_key(block.data, end,
				 get_u32le(restarts + 4 * (size_t)i), &key) ||
		    bytes_shared(first, key) < prefix)
			goto malformed;
		h->heads[i] = head_of(key, prefix);
		if (i > 0 && h->heads[i] < h->heads[i - 1])
			goto malformed;
	}
	return h;

malformed:
	free(h);
	return NULL;
}

size_t block_heads_size(const struct block_heads *h)
{
	return sizeof(*h) + h->count * (sizeof(h->heads[0]) + 4) +
	       h->prefix_size;
}

/* How many heads, of those from low on, are less than head. */
static uint32_t heads_below(const struct block_heads *h, uint32_t low,
			    uint64_t head)
{
	uint32_t count = h->count - low;

	/* Without branches that depend on what is found. */
	while (count > 0) {
		uint32_t half = (count + 1) / 2;

		low += h->heads[low + half - 1] < head ? half : 0;
		count -= half;
	}
	return low;
}

void block_heads_find(const struct block_heads *h, struct bytes key,
		      uint32_t *first, uint32_t *last)
{
	struct bytes prefix = bytes_of(prefix_of(h), h->prefix_size);
	struct bytes start = key;
	uint64_t head;
	int order;

	if (start.size > prefix.size)
		start.size = prefix.size;
	order = bytes_compare(start, prefix);
	if (order != 0) {
		*first = *last = order < 0 ? 0 : h->count;
		return;
	}
	head = head_of(key, prefix.size);
	*first = *last = heads_below(h, 0, head);
	while (*last < h->count && h->heads[*last] == head)
		++*last;
}
