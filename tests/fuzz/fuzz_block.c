#include "store/format/block.h"
#include "tests/fuzz/target.h"

/* Every way through a block of any bytes ends, inside its bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buffer[KEY_SIZE_MAX];
	struct bytes probe = bytes_of(data, size < 9 ? size : 9);
	struct block_iter it;
	size_t total = 0;

	if (block_iter_init(&it, bytes_of(data, size), buffer) < 0)
		return 0;
	if (block_iter_first(&it) > 0)
		do
			total += it.value.size;
		while (block_iter_next(&it) > 0);
	MUST(total <= size);
	if (block_iter_seek(&it, probe) > 0) {
		MUST(bytes_compare(it.key, probe) >= 0);
		block_iter_next_row(&it);
	}
	if (block_iter_before(&it, probe) > 0)
		MUST(bytes_compare(it.key, probe) < 0);
	block_iter_last(&it);
	block_iter_verify(&it);
	return 0;
}
