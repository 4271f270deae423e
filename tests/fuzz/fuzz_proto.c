#include "store/base/err.h"
#include "tests/fuzz/target.h"
#include "tools/serve/proto/messages.h"

/* Any bytes are a message, or are refused with a reason. What was taken encodes
 * to bytes that decode to the same, as encoding that again tells. The first
 * byte chooses the message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct proto_arena arena = { .limit = 1 << 22 };
	const struct proto_type *type;
	size_t count = 0;
	void *message;
	int err;

	if (size == 0)
		return 0;
	while (proto_types[count])
		count++;
	type = proto_types[data[0] % count];
	err_clear();
	err = proto_decode(type, bytes_of(data + 1, size - 1), &arena,
			   &message);
	MUST(err == 0 || err == -EBADMSG || err == -E2BIG ||
	     err == -ERR_bad_argument);
	MUST((err == 0) == (message != NULL));
	MUST(err == 0 || err_detail()[0]);
	if (err == 0) {
		MUST(proto_encode(type, message, &first) == 0);
		MUST(first.size == proto_size(type, message));
		proto_arena_reset(&arena);
		MUST(proto_decode(type, buf_bytes(&first), &arena, &message) ==
		     0);
		MUST(proto_encode(type, message, &second) == 0);
		MUST(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
	}
	proto_arena_release(&arena);
	buf_release(&first);
	buf_release(&second);
	return 0;
}
