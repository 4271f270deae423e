#ifndef TESTS_FUZZ_CHUNKS_H
#define TESTS_FUZZ_CHUNKS_H

#include "store/engine/log/wal_chunk.h"

/* Makes the chunks of a log, one after another as their sizes are, those of the
 * log with this id: those of format 1 by name, all by checksum. */
static inline void chunks_put_right(uint8_t *data, size_t size, uint64_t id)
{
	size_t at = 0;

	while (at + WAL_HEADER_SIZE <= size) {
		bool is_old = data[at + WAL_AT_TYPE] <= CHUNK_OLD_PROMISE;
		size_t head = is_old ? WAL_OLD_HEADER_SIZE : WAL_HEADER_SIZE;
		size_t left = wal_left_in_block(at), payload;

		if (left < WAL_BLOCK_END) {
			at += left;
			continue;
		}
		payload = get_u16le(data + at + WAL_AT_SIZE);
		if (payload + head > left || payload + head > size - at)
			return;
		if (is_old)
			put_u64le(data + at + WAL_OLD_AT_LOG_ID, id);
		put_u32le(data + at,
			  crc32c(is_old ? 0 : wal_place_crc(id, at),
				 bytes_of(data + at + WAL_AT_SIZE,
					  head - WAL_AT_SIZE + payload)));
		at += head + payload;
	}
}

#endif
