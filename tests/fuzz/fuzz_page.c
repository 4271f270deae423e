#include "store/base/err.h"
#include "tests/fuzz/target.h"
#include "tools/data/page.h"

/* A token is that of one row only, any row has one, and what is none is refused
 * with a reason. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = bytes_of(data, size);
	struct buf row = BUF_INIT, token = BUF_INIT;

	err_clear();
	if (page_parse(input, &row) == 0) {
		MUST(page_print(buf_bytes(&row), &token) == 0);
		MUST(bytes_equal(buf_bytes(&token), input));
	} else {
		MUST(err_detail()[0]);
	}
	if (size > 0) {
		buf_reset(&row);
		buf_reset(&token);
		MUST(page_print(input, &token) == 0);
		MUST(page_parse(buf_bytes(&token), &row) == 0);
		MUST(bytes_equal(buf_bytes(&row), input));
		/* Cut off, it is no token. */
		token.size--;
		buf_reset(&row);
		MUST(page_parse(buf_bytes(&token), &row) < 0);
	}
	buf_release(&row);
	buf_release(&token);
	return 0;
}
