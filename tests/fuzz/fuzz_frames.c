#include "fs/control/batch_frames.h"
#include "tests/fuzz/target.h"

/* What came of some frames: their rows, and behind those of each its position.
 */
struct outcome {
	struct buf text;
	int err;
};

/* Takes data in pieces of that size. */
static void take(struct bytes data, size_t size, struct outcome *o)
{
	struct batch_frames b = { 0 };
	struct import_position upto;
	struct bytes piece, rows;
	int got = 0;

	while (data.size > 0 && got >= 0) {
		piece = bytes_of(data.data,
				 size < data.size ? size : data.size);
		data = bytes_after(data, piece.size);
		while ((got = batch_frames_take(&b, &piece, &rows, &upto)) > 0)
			MUST((got == BATCH_ROWS
				      ? buf_add_bytes(&o->text, rows)
				      : import_position_print(&upto,
							      &o->text)) == 0);
		MUST(got < 0 || piece.size == 0);
	}
	MUST(got == 0 || err_detail()[0]);
	o->err = got;
	batch_frames_release(&b);
}

/* In whichever pieces frames come, they are the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole = { .text = BUF_INIT },
		       parts = { .text = BUF_INIT };

	if (size == 0)
		return 0;
	take(bytes_of(data + 1, size - 1), size, &whole);
	take(bytes_of(data + 1, size - 1), data[0] % 64 + 1, &parts);
	MUST(whole.err == parts.err);
	MUST(bytes_equal(buf_bytes(&whole.text), buf_bytes(&parts.text)));
	buf_release(&whole.text);
	buf_release(&parts.text);
	return 0;
}
