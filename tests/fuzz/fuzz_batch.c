#include "store/engine/files/batch.h"
#include "tests/fuzz/target.h"

/* A log record that is accepted steps to as many records as it says. */
static void look(struct bytes in, bool is_old)
{
	struct batch_record record;
	size_t position = 0;
	uint32_t count = 0;
	struct batch batch;
	uint64_t seq;

	if (batch_parse(in, is_old, &batch, &seq) < 0)
		return;
	while (batch_next(&batch, &position, &record)) {
		MUST(record.key.size <= in.size &&
		     record.value.size <= in.size);
		count++;
	}
	MUST(count == batch.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look(bytes_of(data, size), false);
	look(bytes_of(data, size), true);
	return 0;
}
