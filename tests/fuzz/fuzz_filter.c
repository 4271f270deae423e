#include "store/base/coding.h"
#include "store/format/bloom.h"
#include "tests/fuzz/target.h"

/* Any bytes may be asked for anything; what a filter was built of it has. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t hashes[64], hash = size >= 8 ? get_u64le(data) : 0;
	struct bytes all = bytes_of(data, size);
	struct buf filter = BUF_INIT;
	size_t count = 0;

	bloom_prefetch(all, hash);
	MUST(bloom_may_contain(all, hash) <= 1);
	for (; size >= 8 && count < 64; data += 8, size -= 8)
		hashes[count++] = get_u64le(data);
	MUST(bloom_build(hashes, count, 10, &filter) == 0);
	MUST(filter.size == bloom_size(count, 10));
	while (count-- > 0)
		MUST(bloom_may_contain(buf_bytes(&filter), hashes[count]) == 1);
	buf_release(&filter);
	return 0;
}
