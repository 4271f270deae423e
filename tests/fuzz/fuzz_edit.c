#include "store/engine/files/edit.h"
#include "store/engine/files/manifest.h"
#include "tests/fuzz/target.h"

/* An edit that is accepted says the same after encoding and decoding. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct edit e, again;

	if (edit_decode(bytes_of(data, size), &e) < 0)
		return 0;
	MUST(edit_encode(&e, &first) == 0);
	MUST(edit_decode(buf_bytes(&first), &again) == 0);
	MUST(edit_encode(&again, &second) == 0);
	MUST(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
	edit_release(&e);
	edit_release(&again);
	buf_release(&first);
	buf_release(&second);
	return 0;
}
