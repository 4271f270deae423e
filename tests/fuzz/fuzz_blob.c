#include <stdlib.h>

#include "store/format/blob.h"
#include "tests/fuzz/target.h"

/* References that are accepted say the same after encoding and decoding. What
 * is read as a chunk is within bounds, whatever it holds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = BUF_INIT;
	struct blob_list l, again;
	struct blob_chunk c = { 1, BLOB_HEADER_SIZE, 0, 0 };
	uint8_t raw[300];

	if (size > BLOB_HEAD_SIZE) {
		memcpy(&c.crc, data, 4);
		c.size = (uint32_t)(size - BLOB_HEAD_SIZE);
		blob_chunk_decode(bytes_of(data, size), &c, sizeof(raw), raw,
				  "fuzz");
	}
	if (size >= BLOB_HEADER_SIZE)
		blob_header_check(data, 1, "fuzz");
	if (blob_list_decode(bytes_of(data, size), &l) < 0)
		return 0;
	MUST(blob_list_value_size(bytes_of(data, size)) == l.size);
	MUST(blob_list_encode(&l, &first) == 0);
	MUST(blob_list_decode(buf_bytes(&first), &again) == 0);
	MUST(again.count == l.count && again.size == l.size);
	blob_list_release(&l);
	blob_list_release(&again);
	buf_release(&first);
	return 0;
}
