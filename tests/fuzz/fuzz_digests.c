#include <inttypes.h>

#include "store/base/backups/digests.h"
#include "store/base/hash.h"
#include "tests/fuzz/target.h"

/* Digests of a backup: the input are lines of files, to which the first and the
 * last line are made. What is taken is written, and taken again as the same. */
static bool take(struct bytes text, struct backup_digests *d)
{
	int err = backup_digests_decode("fuzz", text, d);

	MUST(err == 0 || d->count == 0);
	return err == 0;
}

static void again(const struct backup_digests *d)
{
	struct buf text = BUF_INIT;
	struct backup_digests same;
	size_t i;

	MUST(backup_digests_encode(d, &text) == 0);
	MUST(take(buf_bytes(&text), &same) && same.count == d->count);
	for (i = 0; i < d->count; i++) {
		MUST(backup_digests_find(&same, d->files[i].name));
		MUST(same.files[i].size == d->files[i].size);
	}
	backup_digests_release(&same);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct backup_digests d;
	struct buf text = BUF_INIT;
	int err;

	if (take(bytes_of(data, size), &d))
		backup_digests_release(&d);
	err = buf_add_string(&text, "tabletfs-digests 1\n");
	if (err == 0)
		err = buf_add(&text, data, size);
	if (err == 0)
		err = buf_printf(&text, "end %016" PRIx64 "\n",
				 hash64(buf_bytes(&text)));
	if (err == 0 && take(buf_bytes(&text), &d)) {
		again(&d);
		backup_digests_release(&d);
	}
	buf_release(&text);
	return 0;
}
