#include <errno.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/engine/files/version.h"

/*
 * Where a key is among the files of a sorted level or run. Each lookup asks
 * each of them, and by bisection over the files' own keys every step waits for
 * memory twice. So next to each other lie the eight bytes that tell the largest
 * keys apart: those behind the bytes that all of them begin with. What the
 * bytes do not tell, the keys do.
 */

/* Of fewer files heads are not worth their making. */
#define INDEX_MIN 4

/* A tombstone's end is the one bound that is not part of its file. */
bool sst_file_before(const struct sst_file *f, struct bytes key)
{
	int order = bytes_compare(f->largest, key);

	return order < 0 || (order == 0 && f->largest_exclusive);
}

bool sst_file_overlaps(const struct sst_file *f, struct bytes start,
		       struct bytes end)
{
	return !sst_file_before(f, start) &&
	       (end.size == 0 || bytes_compare(f->smallest, end) < 0);
}

/* The eight bytes behind shared of key, as a number; what it lacks is zeros. In
 * a version that is out of order, and refused for it, a key may have fewer. */
static uint64_t head_of(struct bytes key, size_t shared)
{
	uint8_t bytes[sizeof(uint64_t)] = { 0 };
	size_t size = key.size > shared ? key.size - shared : 0;

	if (size >= sizeof(bytes))
		return get_u64be(key.data + shared);
	if (size > 0)
		memcpy(bytes, key.data + shared, size);
	return get_u64be(bytes);
}

int level_index(struct level *l)
{
	size_t i;

	free(l->heads);
	l->heads = NULL;
	if (l->count < INDEX_MIN)
		return 0;
	l->heads = malloc(l->count * sizeof(*l->heads));
	if (!l->heads)
		return -ENOMEM;
	/* They ascend, so what the outermost share all do. */
	l->shared = bytes_shared(l->files[0]->largest,
				 l->files[l->count - 1]->largest);
	for (i = 0; i < l->count; i++)
		l->heads[i] = head_of(l->files[i]->largest, l->shared);
	return 0;
}

/* The first of heads in [low, high) that is at least head. */
static size_t first_head(const uint64_t *heads, size_t low, size_t high,
			 uint64_t head)
{
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (heads[middle] < head)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Narrows [*low, *high) to where key's file is: before it all are before key,
 * and from *high on none is. */
static void narrow(const struct level *l, struct bytes key, size_t *low,
		   size_t *high)
{
	size_t size = key.size < l->shared ? key.size : l->shared;
	int order = bytes_compare(bytes_of(key.data, size),
				  bytes_of(l->files[0]->largest.data, size));
	uint64_t head;

	if (order != 0 || key.size < l->shared) {
		*low = *high = order > 0 ? l->count : 0;
		return;
	}
	head = head_of(key, l->shared);
	*low = first_head(l->heads, 0, l->count, head);
	*high = head == UINT64_MAX
			? l->count
			: first_head(l->heads, *low, l->count, head + 1);
}

size_t level_find(const struct level *level, struct bytes key)
{
	size_t low = 0, high = level->count;

	if (level->heads)
		narrow(level, key, &low, &high);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sst_file_before(level->files[middle], key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
