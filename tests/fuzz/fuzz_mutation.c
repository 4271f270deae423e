#include "store/text/json/json_mutation.h"
#include "store/text/print/print_result.h"
#include "tests/fuzz/store.h"

static bool is_empty(struct store *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	struct cell c;
	int more;

	MUST(scan_open(s, NULL, &range, &scan) == 0);
	more = scan_next(scan, CURSOR_VERSION, &c);
	scan_close(scan);
	MUST(more >= 0);
	return more == 0;
}

/* Any text is a mutation, or is refused with a reason and changes nothing; what
 * says that it only deletes adds nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = bytes_of(data, size);
	struct json_result result = JSON_RESULT_INIT;
	struct buf told = BUF_INIT;
	struct store *s;
	uint64_t seq;
	int err;

	if (size > 10000)
		return 0;
	s = fuzz_store();
	seq = store_seq(s);
	err = mutation_run_json(s, BYTES_LITERAL("t"), BYTES_NONE, text, false,
				&result);
	MUST(err == 0 || store_seq(s) == seq);
	/* What is told of it is JSON. */
	if (err == 0)
		MUST(print_result_line(&result, 1, &told) == 0);
	if (told.size > 0) {
		struct json j = { 0 };
		int wrong;

		told.size--;
		MUST(json_parse(&j, buf_bytes(&told), &wrong));
		json_release(&j);
	}
	buf_release(&told);
	json_result_release(&result);
	MUST(err == 0 || err_detail()[0]);
	MUST(mutation_adds(text) || is_empty(s));
	MUST(store_close(s) == 0);
	return 0;
}
