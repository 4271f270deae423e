#include "store/format/tombstone.h"
#include "tests/fuzz/target.h"

/* A list that is accepted encodes again to itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct tombstone span;
	struct buf again = BUF_INIT;
	size_t i;

	if (tombstone_decode(bytes_of(data, size), &list) < 0)
		return 0;
	tombstone_cover(&list, bytes_of(data, size), UINT64_MAX, &span);
	for (i = 0; i < list.count; i++)
		MUST(tombstone_encode(&list.items[i], &again) == 0);
	MUST(bytes_equal(buf_bytes(&again), bytes_of(data, size)));
	buf_release(&again);
	tombstone_list_release(&list);
	return 0;
}
