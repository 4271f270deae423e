#include "fs/state/name.h"
#include "tests/fuzz/target.h"

/* Every key has one name, every name that is accepted is its key's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf key = BUF_INIT, name = BUF_INIT;
	struct bytes input;
	enum name_level level;
	uint64_t hash;
	int form;

	if (size == 0)
		return 0;
	level = (enum name_level)(data[0] % (NAME_VALUE + 1));
	input = bytes_of(data + 1, size - 1);

	form = name_decode(level, input, &key, &hash);
	if (form == NAME_WHOLE) {
		MUST(name_encode(level, buf_bytes(&key), &name) == 0);
		MUST(bytes_equal(buf_bytes(&name), input));
	}
	buf_reset(&key);
	buf_reset(&name);
	MUST(name_encode(level, input, &name) == 0);
	MUST(name.size <= NAME_SIZE_MAX);
	form = name_decode(level, buf_bytes(&name), &key, &hash);
	MUST(form == NAME_WHOLE || form == NAME_CUT);
	if (form == NAME_WHOLE)
		MUST(bytes_equal(buf_bytes(&key), input));
	else
		MUST(hash == name_hash(input));
	buf_release(&key);
	buf_release(&name);
	return 0;
}
