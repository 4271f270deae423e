#include "store/engine/core/identity.h"
#include "tests/fuzz/target.h"

/* A head or a position that is accepted is written as it was read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = bytes_of(data, size);
	char text[POSITION_TEXT_SIZE];
	struct buf again = BUF_INIT;
	struct position position;
	struct head head;

	if (head_decode("head", in, &head) == 0 && head.format == HEAD_FORMAT) {
		MUST(head_encode(&head, &again) == 0);
		MUST(bytes_equal(in, buf_bytes(&again)));
	}
	if (position_parse(in, &position) == 0) {
		position_text(&position, text);
		MUST(bytes_equal(in, bytes_string(text)));
	}
	buf_release(&again);
	return 0;
}
