#include "store/base/coding.h"

int buf_add_u32le(struct buf *b, uint32_t v)
{
	uint8_t raw[4];

	put_u32le(raw, v);
	return buf_add(b, raw, sizeof(raw));
}

int buf_add_u64le(struct buf *b, uint64_t v)
{
	uint8_t raw[8];

	put_u64le(raw, v);
	return buf_add(b, raw, sizeof(raw));
}

int buf_add_varint(struct buf *b, uint64_t v)
{
	uint8_t raw[VARINT_MAX_SIZE];

	return buf_add(b, raw, (size_t)(put_varint(raw, v) - raw));
}

int buf_add_sized(struct buf *b, struct bytes s)
{
	int err = buf_reserve(b, VARINT_MAX_SIZE + s.size);

	if (err < 0)
		return err;
	/* There is room for both, so neither can fail. */
	buf_add_varint(b, s.size);
	return buf_add_bytes(b, s);
}

bool take_bytes(struct bytes *in, size_t size, struct bytes *out)
{
	if (in->size < size)
		return false;
	*out = bytes_of(in->data, size);
	*in = bytes_after(*in, size);
	return true;
}

bool take_u32le(struct bytes *in, uint32_t *v)
{
	struct bytes raw;

	if (!take_bytes(in, 4, &raw))
		return false;
	*v = get_u32le(raw.data);
	return true;
}

bool take_u64le(struct bytes *in, uint64_t *v)
{
	struct bytes raw;

	if (!take_bytes(in, 8, &raw))
		return false;
	*v = get_u64le(raw.data);
	return true;
}
