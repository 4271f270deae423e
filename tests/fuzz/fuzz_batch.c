#include "store/engine/files/batch.h"
#include "tests/fuzz/target.h"

/* A log record that is accepted steps to as many records as it says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct batch_record record;
	size_t position = 0;
	uint32_t count = 0;
	struct batch batch;
	uint64_t seq;

	if (batch_parse(bytes_of(data, size), &batch, &seq) < 0)
		return 0;
	while (batch_next(&batch, &position, &record)) {
		MUST(record.key.size <= size && record.value.size <= size);
		count++;
	}
	MUST(count == batch.count);
	return 0;
}
