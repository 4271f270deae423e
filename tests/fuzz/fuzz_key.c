#include "store/format/key.h"
#include "tests/fuzz/target.h"

/* A key that is accepted encodes again to itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes key = bytes_of(data, size), part;
	struct buf again = BUF_INIT, scratch = BUF_INIT;
	struct key_parts parts;
	size_t offset = KEY_TABLE_SIZE;
	int i;

	if (key_split(key, &parts) < 0)
		return 0;
	MUST(key_row_end(key) == parts.row_end);
	MUST(key_add_table(&again, key_table(key)) == 0);
	for (i = 0; i < 3; i++) {
		MUST(key_part(key, offset, &scratch, &part, &offset) == 0);
		MUST(key_add_part(&again, part) == 0);
	}
	MUST(offset == parts.column_end);
	MUST(key_add_timestamp(&again, key_timestamp(key)) == 0);
	MUST(key_add_trailer(&again, key_seq(key), key_kind(key)) == 0);
	MUST(bytes_equal(buf_bytes(&again), key));
	buf_release(&again);
	buf_release(&scratch);
	return 0;
}
