#include <stdlib.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/base/volume/volume_copy.h"
#include "store/format/sst/sst_find.h"

/* Bytes read at once. */
#define PIECE_SIZE (64 << 10)

/* The place in a piece of the trailer that a block's checksum so far fits to;
 * size if there is none. That a wrong one fits happens once in 2^32 tries, of
 * which only bytes 0 and 1 are any. */
static size_t find_trailer(const uint8_t *piece, size_t size, uint32_t *crc)
{
	size_t n;

	for (n = 0; n + 4 < size; n++) {
		*crc = crc32c(*crc, bytes_of(piece + n, 1));
		if (piece[n] <= BLOCK_LZ4 && get_u32le(piece + n + 1) == *crc)
			return n;
	}
	return size;
}

/* A piece is read once more from its last four bytes on, which may be half of a
 * trailer. */
int sst_find_block(struct reader *reader, uint64_t offset, uint64_t end,
		   uint64_t *size)
{
	uint8_t *piece = malloc(PIECE_SIZE);
	uint64_t at = offset;
	uint32_t crc = 0;
	size_t n, have;

	*size = 0;
	if (!piece)
		return -ENOMEM;
	while (at < end && end - at > 4) {
		have = end - at < PIECE_SIZE ? (size_t)(end - at) : PIECE_SIZE;
		volume_read_damaged(reader, at, piece, have);
		n = find_trailer(piece, have, &crc);
		if (n < have) {
			*size = at - offset + n + BLOCK_TRAILER_SIZE;
			break;
		}
		at += have - 4;
	}
	free(piece);
	return 0;
}

/* The row directory's keys are no full keys, and other parts are no blocks of
 * entries. */
bool sst_is_data(struct bytes block, uint64_t first_size, uint8_t *buffer)
{
	struct sst_index_entry entry;
	struct key_parts parts;
	struct block_iter it;

	return block_iter_init(&it, block, NULL, buffer) == 0 &&
	       block_iter_first(&it) == 1 && key_split(it.key, &parts) == 0 &&
	       (sst_index_decode(it.value, &entry) < 0 ||
		entry.block.offset != 0 || entry.block.size != first_size);
}
