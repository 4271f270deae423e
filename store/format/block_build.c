#include <assert.h>
#include <lz4.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/format/block_build.h"

void block_builder_release(struct block_builder *b)
{
	buf_release(&b->data);
	buf_release(&b->restarts);
}

void block_builder_reset(struct block_builder *b)
{
	buf_reset(&b->data);
	buf_reset(&b->restarts);
	b->entry_count = 0;
}

int block_builder_add(struct block_builder *b, struct bytes key, size_t shared,
		      bool same_row, struct bytes value)
{
	uint8_t head[3 * VARINT_MAX_SIZE + 1];
	uint8_t *p = head;
	int err;

	assert(b->restart_interval > 0);
	assert(shared <= key.size);
	if (block_builder_size(b) + key.size + value.size + sizeof(head) + 4 >
	    BLOCK_SIZE_MAX)
		return fail(ERR_bad_argument, "value of %zu bytes in a block",
			    value.size);
	/* Room for all of it first, so that nothing is added by half. */
	err = buf_reserve(&b->data, sizeof(head) + key.size + value.size);
	if (!err)
		err = buf_reserve(&b->restarts, 4);
	if (err < 0)
		return err;
	b->same_row = b->same_row && same_row;
	if (b->entry_count % b->restart_interval == 0) {
		uint32_t restart = (uint32_t)b->data.size;

		/* Of the first restart there is nothing that it could tell. */
		if (b->entry_count > 0 && b->same_row)
			restart |= BLOCK_RESTART_SAME_ROW;
		buf_add_u32le(&b->restarts, restart);
		b->same_row = true;
		shared = 0;
	}
	b->entry_count++;
	p = put_varint(p, shared);
	p = put_varint(p, key.size - shared);
	p = put_varint(p, value.size);
	*p++ = same_row ? BLOCK_SAME_ROW : 0;
	buf_add(&b->data, head, (size_t)(p - head));
	buf_add_bytes(&b->data, bytes_after(key, shared));
	buf_add_bytes(&b->data, value);
	return 0;
}

int block_builder_finish(struct block_builder *b, struct bytes *block)
{
	uint32_t count = (uint32_t)(b->restarts.size / 4);
	int err = buf_reserve(&b->data, b->restarts.size + 4);

	assert(b->restarts.size % 4 == 0);
	if (err < 0)
		return err;
	buf_add_bytes(&b->data, buf_bytes(&b->restarts));
	buf_add_u32le(&b->data, count);
	*block = buf_bytes(&b->data);
	return 0;
}

/* Appends the size and the LZ4 form of block to out if that saves an eighth,
 * else leaves it empty. */
static int add_compressed(struct bytes block, struct buf *out)
{
	size_t limit = block.size - block.size / 8;
	int err, n;

	if (limit <= 4 || block.size > LZ4_MAX_INPUT_SIZE)
		return 0;
	err = buf_reserve(out, limit);
	if (err < 0)
		return err;
	n = LZ4_compress_default((const char *)block.data,
				 (char *)out->data + 4, (int)block.size,
				 (int)(limit - 4));
	if (n <= 0)
		return 0;
	put_u32le(out->data, (uint32_t)block.size);
	out->size = (size_t)n + 4;
	return 0;
}

int block_store(struct bytes block, bool compress, struct buf *out)
{
	uint8_t compression = BLOCK_LZ4;
	int err = 0;

	buf_reset(out);
	if (compress)
		err = add_compressed(block, out);
	if (!err && out->size == 0) {
		compression = BLOCK_RAW;
		err = buf_add_bytes(out, block);
	}
	if (!err)
		err = buf_add_byte(out, compression);
	if (!err)
		err = buf_add_u32le(out, crc32c(0, buf_bytes(out)));
	return err;
}
