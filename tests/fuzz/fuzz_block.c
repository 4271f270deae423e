#include <stdlib.h>

#include "store/format/block.h"
#include "store/format/block_heads.h"
#include "tests/fuzz/target.h"

static void use(struct bytes block, const struct block_heads *heads)
{
	static uint8_t buffer[KEY_SIZE_MAX];
	struct bytes probe =
		bytes_of(block.data, block.size < 9 ? block.size : 9);
	struct block_iter it;
	size_t total = 0;

	if (block_iter_init(&it, block, heads, buffer) < 0)
		return;
	if (block_iter_first(&it) > 0)
		do
			total += it.value.size;
		while (block_iter_next(&it) > 0);
	MUST(total <= block.size);
	if (block_iter_seek(&it, probe) > 0) {
		MUST(bytes_compare(it.key, probe) >= 0);
		block_iter_next_row(&it);
	}
	if (block_iter_before(&it, probe) > 0)
		MUST(bytes_compare(it.key, probe) < 0);
	block_iter_last(&it);
	block_iter_verify(&it);
}

/* Every way through a block of any bytes ends, inside its bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes block = bytes_of(data, size);
	struct block_heads *heads = block_heads_new(block);

	use(block, NULL);
	use(block, heads);
	free(heads);
	return 0;
}
