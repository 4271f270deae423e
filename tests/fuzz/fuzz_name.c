#include "fs/state/name.h"
#include "tests/fuzz/target.h"

/* Whether some key must have this name: it fits, no byte is raw that is written
 * %XX, and no leading dot is reserved. */
static bool must_decode(enum name_level level, struct bytes name)
{
	size_t i;

	if (name.size == 0 || name.size > NAME_SIZE_MAX)
		return false;
	for (i = 0; i < name.size; i++)
		if (name.data[i] < 0x20 || name.data[i] == 0x7f ||
		    name.data[i] == '/')
			return false;
	if (name.data[0] != '.')
		return true;
	return level >= NAME_QUALIFIER &&
	       !bytes_equal(name, BYTES_LITERAL(".")) &&
	       !bytes_equal(name, BYTES_LITERAL("..")) &&
	       !bytes_equal(name, BYTES_LITERAL(".versions"));
}

/* Every key has one name, every name that is not refused is its key's, and none
 * is refused without need. */
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
	MUST(form >= 0 || !must_decode(level, input));
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
		MUST(bytes_starts_with(input, buf_bytes(&key)) &&
		     hash == name_hash(input));
	buf_release(&key);
	buf_release(&name);
	return 0;
}
