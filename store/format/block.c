#include <assert.h>
#include <lz4.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/format/block.h"
#include "store/format/block_entry.h"
#include "store/format/block_heads.h"

/*
 * Reading blocks; block.h has the format. An iterator keeps offsets and checks
 * each before it is used, whatever checks were made before: a block with a good
 * checksum may still be one that somebody made up.
 */

/* Steps over so many entries by their flags before it asks the restarts, so
 * that a short row costs no search. */
#define STEPS_MAX 16
/* Bytes that a search of entries will likely read. */
#define SCAN_AHEAD 512
/* What LZ4 can make of one byte, at most, so that no few bytes can ask for much
 * memory. */
#define LZ4_RATIO_MAX 255

static_assert(BLOCK_SIZE_MAX <= INT32_MAX, "LZ4 takes sizes as int");

/* Refuses the entry at position. */
static int malformed(const struct block_iter *it, uint32_t position)
{
	return fail(ERR_block_malformed, "bad entry at %u of %u", position,
		    it->end);
}

int block_iter_init(struct block_iter *it, struct bytes block,
		    const struct block_heads *heads, uint8_t *buffer)
{
	uint32_t count;

	memset(it, 0, sizeof(*it));
	it->buffer = buffer;
	it->data = block.data;
	it->heads = heads;
	if (heads) {
		/* The block was looked at when they were made, and its end need
		 * not be read again. */
		count = heads->count;
	} else {
		if (block.size < 4 || block.size > BLOCK_SIZE_MAX)
			return fail(ERR_block_malformed, "block of %zu bytes",
				    block.size);
		count = get_u32le(block.data + block.size - 4);
		if (count > (block.size - 4) / 4)
			return fail(ERR_block_malformed,
				    "%u restarts in a block of %zu bytes",
				    count, block.size);
	}
	it->end = (uint32_t)(block.size - 4 - 4 * (size_t)count);
	it->next = it->end;
	it->restart_count = count;
	it->restarts = heads ? (const uint8_t *)&heads->heads[count]
			     : it->data + it->end;
	if ((it->end == 0) != (count == 0))
		return fail(ERR_block_malformed,
			    "%u restarts for %u bytes of entries", count,
			    it->end);
	return 0;
}

/* With the bit that tells of rows. */
static uint32_t restart_at(const struct block_iter *it, uint32_t i)
{
	return get_u32le(it->restarts + 4 * (size_t)i);
}

static uint32_t restart_offset(const struct block_iter *it, uint32_t i)
{
	return restart_at(it, i) & ~BLOCK_RESTART_SAME_ROW;
}

/* Makes e, which is at position and ends at next, the present entry. What it
 * shares has to be at the front of it->key still, in the buffer or in the
 * block; the key is in the block if the entry shares nothing. */
static int show(struct block_iter *it, uint32_t position, const uint8_t *next,
		const struct block_entry *e)
{
	if (e->shared > 0) {
		if (e->shared > it->key.size || !it->buffer ||
		    e->shared + e->unshared > KEY_SIZE_MAX)
			return malformed(it, position);
		if (it->key.data != it->buffer)
			memcpy(it->buffer, it->key.data, e->shared);
		memcpy(it->buffer + e->shared, e->key, e->unshared);
		it->key = bytes_of(it->buffer, e->shared + e->unshared);
	} else {
		it->key = bytes_of(e->key, e->unshared);
	}
	it->value = bytes_of(e->key + e->unshared, e->value_size);
	it->flags = e->flags;
	it->position = position;
	it->next = (uint32_t)(next - it->data);
	return 1;
}

/* There is something at it->next, but perhaps no whole entry. */
int block_iter_read(struct block_iter *it)
{
	const uint8_t *next;
	struct block_entry e;

	assert(it->next <= it->end);
	next = block_entry_parse(it->data + it->next, it->data + it->end, &e);
	if (!next)
		return malformed(it, it->next);
	return show(it, it->next, next, &e);
}

/* The next entry read will be that at restart i. */
static int go_to_restart(struct block_iter *it, uint32_t i)
{
	uint32_t offset = restart_offset(it, i);

	if (offset >= it->end)
		return fail(ERR_block_malformed, "restart %u at %u of %u", i,
			    offset, it->end);
	it->next = offset;
	it->key = BYTES_NONE;
	return 0;
}

int block_iter_first(struct block_iter *it)
{
	it->key = BYTES_NONE;
	it->next = 0;
	return block_iter_next(it);
}

/* Reads on from it->next to the last entry that is before key, or in the block
 * if key is NULL. There is one, at it->next. That it was the last one shows
 * only behind it, where its key is gone, so it is gone to once more. */
static int last_before(struct block_iter *it, const struct bytes *key)
{
	uint32_t start = it->next, last = start;
	int result = block_iter_read(it);

	while (result > 0 && (!key || bytes_compare(it->key, *key) < 0)) {
		last = it->position;
		result = block_iter_next(it);
	}
	if (result < 0)
		return result;
	if (it->position == last)
		return 1;
	it->key = BYTES_NONE;
	it->next = start;
	do {
		result = block_iter_read(it);
	} while (result > 0 && it->position < last);
	return result;
}

int block_iter_last(struct block_iter *it)
{
	int err;

	if (it->restart_count == 0)
		return 0;
	err = go_to_restart(it, it->restart_count - 1);
	return err < 0 ? err : last_before(it, NULL);
}

/*
 * Goes to the last restart whose entry is before key: 1, or 0 if there is none.
 * Keys at restarts are compared where they are.
 */
static int find_restart(struct block_iter *it, struct bytes key)
{
	uint32_t low = 0, high = it->restart_count;
	int err;

	if (it->heads)
		block_heads_find(it->heads, key, &low, &high);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct block_entry e;

		err = go_to_restart(it, middle);
		if (err < 0)
			return err;
		if (!block_entry_parse(it->data + it->next, it->data + it->end,
				       &e) ||
		    e.shared > 0)
			return malformed(it, it->next);
		if (bytes_compare(bytes_of(e.key, e.unshared), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	err = go_to_restart(it, low - 1);
	return err < 0 ? err : 1;
}

/*
 * Reads on from the restart at it->next to the first entry that is not before
 * key. Keys are not put together on the way: an entry that shares more with the
 * one before it than that one does with key comes before key as that one did;
 * any other begins with bytes of key, so that its own tell.
 */
static int scan_to(struct block_iter *it, struct bytes key)
{
	const uint8_t *p = it->data + it->next, *end = it->data + it->end;
	const uint8_t *first = p, *next;
	struct block_entry e;
	size_t match = 0; /* bytes that key and the last entry share */
	size_t ahead, same;

	/* Entries are read one by one, but wait for memory together. */
	for (ahead = 64; ahead <= SCAN_AHEAD; ahead += 64)
		__builtin_prefetch(p + ahead);
	for (; p < end; p = next) {
		struct bytes own, rest;

		next = block_entry_parse(p, end, &e);
		/* The search key may be longer than the buffer. */
		if (!next || e.shared > KEY_SIZE_MAX ||
		    (p == first && e.shared > 0))
			return malformed(it, (uint32_t)(p - it->data));
		if (e.shared > match)
			continue;
		own = bytes_of(e.key, e.unshared);
		rest = bytes_after(key, e.shared);
		same = bytes_shared(own, rest);
		if (same == rest.size ||
		    (same < own.size && own.data[same] > rest.data[same]))
			break;
		match = e.shared + same;
	}
	if (p >= end) {
		it->next = it->end;
		return 0;
	}
	/* What e shares with the entry before it, key has as well. */
	if (e.shared > 0 && it->buffer) {
		memcpy(it->buffer, key.data, e.shared);
		it->key = bytes_of(it->buffer, e.shared);
	}
	return show(it, (uint32_t)(p - it->data), next, &e);
}

int block_iter_seek(struct block_iter *it, struct bytes key)
{
	int result = find_restart(it, key);

	if (result < 0)
		return result;
	/* Then key is at or before the first restart, which is the start. */
	if (result == 0)
		it->next = 0;
	return scan_to(it, key);
}

int block_iter_before(struct block_iter *it, struct bytes key)
{
	int result = find_restart(it, key);

	return result <= 0 ? result : last_before(it, &key);
}

/* The last restart after position in an unbroken run of same-row restarts; 0 if
 * the next restart begins or follows a new row, or there is none. */
static uint32_t far_restart(const struct block_iter *it, uint32_t position)
{
	uint32_t low = 0, high = it->restart_count, first;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (restart_offset(it, middle) <= position)
			low = middle + 1;
		else
			high = middle;
	}
	for (first = low; low < it->restart_count; low++) {
		if (!(restart_at(it, low) & BLOCK_RESTART_SAME_ROW))
			break;
	}
	return low > first ? low - 1 : 0;
}

/* By flags, key by key in a short row; in a long one the restarts tell how far
 * it goes at least, once, and what is left is less than a restart's entries. */
int block_iter_next_row(struct block_iter *it)
{
	const uint8_t *end = it->data + it->end, *next;
	struct block_entry e;
	int steps;

	for (steps = 0; it->next < it->end; steps++) {
		next = block_entry_parse(it->data + it->next, end, &e);
		if (!next)
			return malformed(it, it->next);
		if (!(e.flags & BLOCK_SAME_ROW))
			return show(it, it->next, next, &e);
		if (steps == STEPS_MAX) {
			uint32_t far = far_restart(it, it->next);
			uint32_t offset = far ? restart_offset(it, far) : 0;

			/* Only ever forward, whatever the block says. */
			if (offset > it->next && offset < it->end) {
				it->next = offset;
				continue;
			}
		}
		it->next = (uint32_t)(next - it->data);
	}
	return 0;
}

/* Of each restart: that it is at an entry which shares nothing, the first one
 * at the first entry, and what its bit says of the entries since the restart
 * before. */
int block_iter_verify(struct block_iter *it)
{
	uint32_t count = 0, wanted;
	bool same_row = false;
	int result = block_iter_first(it);

	if (result > 0 && restart_offset(it, 0) != 0)
		return fail(ERR_block_malformed, "restart 0 is at %u, not 0",
			    restart_offset(it, 0));
	while (result > 0) {
		same_row = same_row && (it->flags & BLOCK_SAME_ROW);
		if (count < it->restart_count &&
		    restart_offset(it, count) == it->position) {
			wanted = it->position |
				 (same_row ? BLOCK_RESTART_SAME_ROW : 0);
			if (restart_at(it, count) != wanted)
				return fail(ERR_block_malformed,
					    "restart %u says %x, not %x", count,
					    restart_at(it, count), wanted);
			/* Its key is in the block if it shares nothing. */
			if (it->key.size > 0 && it->key.data == it->buffer)
				return malformed(it, it->position);
			count++;
			same_row = true;
		}
		result = block_iter_next(it);
	}
	if (result == 0 && count < it->restart_count)
		return fail(ERR_block_malformed, "restart %u is at no entry",
			    count);
	return result;
}

int block_check(struct bytes stored, enum block_compression *compression,
		size_t *size)
{
	uint32_t wanted, found;

	if (stored.size < BLOCK_TRAILER_SIZE)
		return fail(ERR_block_malformed, "stored block of %zu bytes",
			    stored.size);
	stored.size -= 4;
	wanted = get_u32le(stored.data + stored.size);
	found = crc32c(0, stored);
	if (wanted != found)
		return fail(ERR_block_checksum, "checksum is %08x, not %08x",
			    found, wanted);
	stored.size--;
	*compression = (enum block_compression)stored.data[stored.size];
	*size = stored.size;
	/* An enum from disk: it is one of the two from here on. */
	if (*compression == BLOCK_RAW)
		return 0;
	if (*compression != BLOCK_LZ4)
		return fail(ERR_block_malformed, "unknown compression %d",
			    (int)*compression);
	if (stored.size < 4)
		return fail(ERR_block_malformed, "stored block is cut off");
	*size = get_u32le(stored.data);
	if (*size > BLOCK_SIZE_MAX || *size / LZ4_RATIO_MAX > stored.size)
		return fail(ERR_block_malformed, "%zu bytes from %zu", *size,
			    stored.size);
	return 0;
}

int block_expand(struct bytes stored, uint8_t *out, size_t size)
{
	size_t rest = stored.size - BLOCK_TRAILER_SIZE - 4;
	int n;

	assert(stored.size >= BLOCK_TRAILER_SIZE + 4);
	assert(size <= BLOCK_SIZE_MAX);
	n = LZ4_decompress_safe((const char *)stored.data + 4, (char *)out,
				(int)rest, (int)size);
	if (n < 0 || (size_t)n != size)
		return fail(ERR_block_malformed, "LZ4 gives %d bytes, not %zu",
			    n, size);
	return 0;
}
