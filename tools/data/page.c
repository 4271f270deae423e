#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/text/value/base64.h"
#include "tools/data/page.h"

/* The row's bytes and their CRC-32C, little-endian, in base64. */
#define SUM_SIZE 4

int page_print(struct bytes row, struct buf *out)
{
	struct buf raw = BUF_INIT;
	uint8_t sum[SUM_SIZE];
	int err = buf_set(&raw, row);

	put_u32le(sum, crc32c(0, row));
	if (!err)
		err = buf_add(&raw, sum, SUM_SIZE);
	if (!err)
		err = base64_encode(buf_bytes(&raw), out);
	buf_release(&raw);
	return err;
}

int page_parse(struct bytes token, struct buf *out)
{
	int err = base64_decode(token, out);

	if (err == -ENOMEM)
		return err;
	if (err < 0 || out->size <= SUM_SIZE)
		goto wrong;
	out->size -= SUM_SIZE;
	if (get_u32le(out->data + out->size) == crc32c(0, buf_bytes(out)))
		return 0;
wrong:
	return fail(ERR_bad_argument,
		    "page=%.*s is no whole token of a page; the first is "
		    "page=first",
		    (int)token.size, (const char *)token.data);
}
