#include "store/format/tombstone.h"
#include "tests/fuzz/target.h"

/* A list that is accepted encodes again to itself, unless a number in it is
 * longer than it need be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct tombstone_list again = TOMBSTONE_LIST_INIT;
	struct tombstone span;
	struct buf out = BUF_INIT;
	size_t i;

	if (tombstone_decode(bytes_of(data, size), &list) < 0)
		return 0;
	tombstone_cover(&list, bytes_of(data, size), UINT64_MAX, &span);
	for (i = 0; i < list.count; i++)
		MUST(tombstone_encode(&list.items[i], &out) == 0);
	MUST(out.size <= size);
	MUST(tombstone_decode(buf_bytes(&out), &again) == 0);
	MUST(again.count == list.count);
	for (i = 0; i < list.count; i++)
		MUST(bytes_equal(list.items[i].start, again.items[i].start) &&
		     bytes_equal(list.items[i].end, again.items[i].end) &&
		     list.items[i].seq == again.items[i].seq);
	buf_release(&out);
	tombstone_list_release(&again);
	tombstone_list_release(&list);
	return 0;
}
