#include "store/format/sst/rowdir.h"
#include "tests/fuzz/target.h"

/* A row's summary that is accepted encodes again to itself, unless a number in
 * it is longer than it need be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct row_summary summary = { 0 }, again = { 0 };
	struct buf out = BUF_INIT;

	if (row_summary_decode(bytes_of(data, size), &summary) < 0)
		return 0;
	MUST(row_summary_encode(&summary, &out) == 0);
	MUST(out.size <= size);
	MUST(row_summary_decode(buf_bytes(&out), &again) == 0);
	MUST(again.flags == summary.flags && again.seq == summary.seq &&
	     again.timestamp == summary.timestamp);
	MUST(bytes_equal(again.family, summary.family));
	buf_release(&out);
	return 0;
}
