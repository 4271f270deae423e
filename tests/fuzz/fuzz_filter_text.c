#include "store/text/filter/filter_text.h"
#include "tests/fuzz/target.h"

/* Any text is a filter, or is refused with a reason. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filter *f;
	int err;

	if (size > 10000)
		return 0;
	err = filter_parse(bytes_of(data, size), &f);
	MUST((err == 0) == (f != NULL));
	MUST(err == 0 || err == -ERR_bad_argument);
	MUST(err == 0 || err_detail()[0]);
	filter_free(f);
	return 0;
}
