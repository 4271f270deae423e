#include "store/model/model.h"
#include "store/model/schema.h"
#include "store/model/schema_record.h"
#include "tests/fuzz/target.h"

/* A schema record that is accepted encodes to one that says the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct bytes name = BYTES_LITERAL("t");
	struct schema *schema, *again;

	MUST(schema_new(&schema) == 0);
	MUST(schema_new(&again) == 0);
	if (table_decode(schema, name, 1, bytes_of(data, size)) == 0) {
		MUST(table_encode(&schema->tables[0], &first) == 0);
		MUST(table_decode(again, name, 1, buf_bytes(&first)) == 0);
		MUST(table_encode(&again->tables[0], &second) == 0);
		MUST(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
	}
	schema_put(schema);
	schema_put(again);
	buf_release(&first);
	buf_release(&second);
	return 0;
}
