#include "store/text/track/import_position.h"
#include "tests/fuzz/target.h"

/* What is taken prints as a text that reads as the same; what is refused says
 * why. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_position p, again;
	struct buf text = BUF_INIT;

	if (import_position_parse(bytes_of(data, size), &p) < 0) {
		MUST(err_detail()[0]);
		return 0;
	}
	MUST(import_position_print(&p, &text) == 0);
	MUST(import_position_parse(buf_bytes(&text), &again) == 0);
	MUST(import_position_equal(&p, &again));
	buf_release(&text);
	return 0;
}
