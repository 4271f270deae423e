#include <assert.h>
#include <lz4.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/format/blob.h"

#define MAGIC "tfs-blob"
#define VERSION 1

enum {
	/* Where the fields of a file's header are. */
	VERSION_AT = 8,
	FEATURES_AT = 12,
	ID_AT = 16,
	HEADER_CRC_AT = BLOB_HEADER_SIZE - 4,
	/* Of a chunk's head. */
	SIZE_AT = 4,
	RAW_SIZE_AT = 8,
	CODEC_AT = 12,
	/* The least that a reference takes in a list: three varints and a crc.
	 */
	REFERENCE_SIZE_MIN = 7,
};

static_assert(sizeof(MAGIC) - 1 == VERSION_AT, "the version follows the magic");
static_assert(CODEC_AT + 4 == BLOB_HEAD_SIZE, "the codec ends the head");
static_assert(BLOB_CHUNK_SIZE_MAX <= INT32_MAX, "LZ4 takes sizes as int");

enum codec {
	CODEC_RAW = 0,
	CODEC_LZ4 = 1,
};

uint32_t blob_chunk_raw_size(const struct blob_list *l, uint32_t index)
{
	uint64_t start = (uint64_t)index * l->chunk_size;

	assert(index < l->count);
	return l->size - start < l->chunk_size ? (uint32_t)(l->size - start)
					       : l->chunk_size;
}

int blob_list_encode(const struct blob_list *l, struct buf *out)
{
	uint32_t i;
	int err = buf_add_varint(out, l->size);

	if (!err)
		err = buf_add_varint(out, l->chunk_size);
	for (i = 0; i < l->count && !err; i++) {
		const struct blob_chunk *c = &l->chunks[i];

		err = buf_add_varint(out, c->file);
		if (!err)
			err = buf_add_varint(out, c->offset);
		if (!err)
			err = buf_add_varint(out, c->size);
		if (!err)
			err = buf_add_u32le(out, c->crc);
	}
	return err;
}

/* One reference from the front of *in. An offset fits an off_t. */
static bool take_chunk(struct bytes *in, struct blob_chunk *c)
{
	uint64_t size;

	if (!take_varint(in, &c->file) || !take_varint(in, &c->offset) ||
	    !take_varint(in, &size) || !take_u32le(in, &c->crc))
		return false;
	c->size = (uint32_t)size;
	return size > 0 && size <= BLOB_CHUNK_SIZE_MAX &&
	       c->offset >= BLOB_HEADER_SIZE && c->offset <= INT64_MAX;
}

int blob_list_decode(struct bytes in, struct blob_list *l)
{
	uint64_t chunk_size, count;
	uint32_t i;

	*l = (struct blob_list)BLOB_LIST_INIT;
	if (!take_varint(&in, &l->size) || !take_varint(&in, &chunk_size) ||
	    l->size == 0 || l->size > BLOB_VALUE_SIZE_MAX || chunk_size == 0 ||
	    chunk_size > BLOB_CHUNK_SIZE_MAX)
		goto damaged;
	count = (l->size + chunk_size - 1) / chunk_size;
	/* So that no few bytes can ask for much memory. */
	if (count > in.size / REFERENCE_SIZE_MIN)
		goto damaged;
	l->chunks = malloc(count * sizeof(*l->chunks));
	if (!l->chunks)
		return -ENOMEM;
	l->chunk_size = (uint32_t)chunk_size;
	l->count = (uint32_t)count;
	/* What LZ4 does not make smaller is stored raw, so that no payload is
	 * larger than what it holds. */
	for (i = 0; i < l->count; i++)
		if (!take_chunk(&in, &l->chunks[i]) ||
		    l->chunks[i].size > blob_chunk_raw_size(l, i))
			goto damaged;
	if (in.size == 0)
		return 0;
damaged:
	blob_list_release(l);
	return fail(ERR_blob_damaged, "references to a large value are "
				      "malformed");
}

int blob_list_copy(const struct blob_list *from, struct blob_list *to)
{
	*to = *from;
	/* One more byte, as malloc may give NULL for none. */
	to->chunks = malloc(from->count * sizeof(*to->chunks) + 1);
	if (!to->chunks) {
		*to = (struct blob_list)BLOB_LIST_INIT;
		return -ENOMEM;
	}
	memcpy(to->chunks, from->chunks, from->count * sizeof(*to->chunks));
	return 0;
}

void blob_list_release(struct blob_list *l)
{
	free(l->chunks);
	*l = (struct blob_list)BLOB_LIST_INIT;
}

uint64_t blob_list_value_size(struct bytes in)
{
	uint64_t size;

	return take_varint(&in, &size) ? size : 0;
}

void blob_header_encode(uint64_t file, uint8_t *raw)
{
	memset(raw, 0, BLOB_HEADER_SIZE);
	memcpy(raw, MAGIC, VERSION_AT);
	put_u32le(raw + VERSION_AT, VERSION);
	put_u64le(raw + ID_AT, file);
	put_u32le(raw + HEADER_CRC_AT, crc32c(0, bytes_of(raw, HEADER_CRC_AT)));
}

uint64_t blob_header_id(const uint8_t *raw)
{
	return get_u64le(raw + ID_AT);
}

/* A wrong magic is told before the checksum, but a newer version after it: a
 * damaged byte must not look like one. */
int blob_header_check(const uint8_t *raw, uint64_t file, const char *path)
{
	uint32_t crc;

	if (memcmp(raw, MAGIC, VERSION_AT) != 0)
		return fail(ERR_blob_damaged,
			    "%s: no blob file by its first bytes", path);
	crc = crc32c(0, bytes_of(raw, HEADER_CRC_AT));
	if (get_u32le(raw + HEADER_CRC_AT) != crc)
		return fail(ERR_blob_damaged,
			    "%s: header checksum is %08x, not %08x", path, crc,
			    get_u32le(raw + HEADER_CRC_AT));
	if (get_u32le(raw + VERSION_AT) != VERSION ||
	    get_u32le(raw + FEATURES_AT) != 0)
		return fail(
			ERR_format_newer,
			"%s: blob file version %u with features %x is newer "
			"than this program, which reads %u",
			path, get_u32le(raw + VERSION_AT),
			get_u32le(raw + FEATURES_AT), VERSION);
	if (get_u64le(raw + ID_AT) != file)
		return fail(ERR_blob_damaged,
			    "%s: is blob file %016llx, not %016llx", path,
			    (unsigned long long)get_u64le(raw + ID_AT),
			    (unsigned long long)file);
	return 0;
}

int blob_chunk_encode(struct bytes raw, struct buf *out)
{
	int limit = (int)(raw.size - raw.size / 8), n;
	int err;

	assert(raw.size > 0 && raw.size <= BLOB_CHUNK_SIZE_MAX);
	buf_reset(out);
	err = buf_reserve(out, BLOB_HEAD_SIZE + raw.size);
	if (err < 0)
		return err;
	put_u32le(out->data + RAW_SIZE_AT, (uint32_t)raw.size);
	put_u32le(out->data + CODEC_AT, CODEC_LZ4);
	/* LZ4 gives up where its result would be longer than limit. */
	n = LZ4_compress_default((const char *)raw.data,
				 (char *)out->data + BLOB_HEAD_SIZE,
				 (int)raw.size, limit);
	if (n <= 0) {
		put_u32le(out->data + CODEC_AT, CODEC_RAW);
		n = (int)raw.size;
		memcpy(out->data + BLOB_HEAD_SIZE, raw.data, raw.size);
	}
	put_u32le(out->data + SIZE_AT, (uint32_t)n);
	out->size = BLOB_HEAD_SIZE + (size_t)n;
	/* The payload's sum for now: placing the chunk is to be quick. */
	put_u32le(out->data,
		  crc32c(0, bytes_after(buf_bytes(out), BLOB_HEAD_SIZE)));
	return 0;
}

/* Goes on from the sum of the payload over the head and the chunk's place,
 * which are few bytes: the sum of the payload can be made before the place is
 * known. A chunk that lies elsewhere, because a write was misplaced, does not
 * match. */
static uint32_t sum_place(uint32_t crc, const uint8_t *head, uint64_t file,
			  uint64_t offset)
{
	uint8_t rest[BLOB_HEAD_SIZE - SIZE_AT + 16];

	memcpy(rest, head + SIZE_AT, BLOB_HEAD_SIZE - SIZE_AT);
	put_u64le(rest + BLOB_HEAD_SIZE - SIZE_AT, file);
	put_u64le(rest + BLOB_HEAD_SIZE - SIZE_AT + 8, offset);
	return crc32c(crc, bytes_of(rest, sizeof(rest)));
}

void blob_chunk_place(struct buf *chunk, uint64_t file, uint64_t offset,
		      struct blob_chunk *c)
{
	uint8_t *head = chunk->data;

	assert(chunk->size > BLOB_HEAD_SIZE);
	assert(offset >= BLOB_HEADER_SIZE);
	c->file = file;
	c->offset = offset;
	c->size = get_u32le(head + SIZE_AT);
	c->crc = sum_place(get_u32le(head), head, file, offset);
	put_u32le(head, c->crc);
}

/* The one message for a chunk that cannot be used. */
static int damaged(const struct blob_chunk *c, const char *path,
		   const char *what)
{
	return fail(ERR_blob_damaged,
		    "%s: offset %llu: chunk of a large value: %s", path,
		    (unsigned long long)c->offset, what);
}

int blob_chunk_decode(struct bytes stored, const struct blob_chunk *c,
		      uint32_t raw_size, void *raw, const char *path)
{
	struct bytes payload;
	uint32_t crc;
	int n;

	assert(stored.size == blob_stored_size(c));
	payload = bytes_after(stored, BLOB_HEAD_SIZE);
	crc = sum_place(crc32c(0, payload), stored.data, c->file, c->offset);
	if (crc != get_u32le(stored.data))
		return fail(ERR_blob_damaged,
			    "%s: offset %llu: chunk of a large value: checksum "
			    "is %08x, not %08x",
			    path, (unsigned long long)c->offset, crc,
			    get_u32le(stored.data));
	/* It is whole; but is it what the reference was made for? */
	if (crc != c->crc || get_u32le(stored.data + SIZE_AT) != c->size ||
	    get_u32le(stored.data + RAW_SIZE_AT) != raw_size)
		return damaged(c, path, "is not the one that is referred to");
	switch (get_u32le(stored.data + CODEC_AT)) {
	case CODEC_RAW:
		if (payload.size != raw_size)
			return damaged(c, path, "sizes differ");
		memcpy(raw, payload.data, raw_size);
		return 0;
	case CODEC_LZ4:
		n = LZ4_decompress_safe((const char *)payload.data, raw,
					(int)payload.size, (int)raw_size);
		if (n < 0 || (uint32_t)n != raw_size)
			return damaged(c, path, "cannot be expanded");
		return 0;
	default:
		return fail(ERR_format_newer, "%s: offset %llu: codec %u", path,
			    (unsigned long long)c->offset,
			    get_u32le(stored.data + CODEC_AT));
	}
}

bool blob_head_read(const uint8_t *raw, uint64_t file, uint64_t offset,
		    struct blob_chunk *c, uint32_t *raw_size, bool known)
{
	uint32_t codec = get_u32le(raw + CODEC_AT);

	c->file = file;
	c->offset = offset;
	c->crc = get_u32le(raw);
	c->size = get_u32le(raw + SIZE_AT);
	*raw_size = get_u32le(raw + RAW_SIZE_AT);
	/* LZ4 is taken where it saves, so that no payload is larger. */
	return c->size > 0 && c->size <= *raw_size &&
	       *raw_size <= BLOB_CHUNK_SIZE_MAX &&
	       (!known || (codec == CODEC_RAW && c->size == *raw_size) ||
		(codec == CODEC_LZ4 && c->size < *raw_size));
}

void blob_tally_release(struct blob_tally *t)
{
	blob_list_release(&t->last);
	free(t->shares);
	*t = (struct blob_tally){ NULL, 0, BLOB_LIST_INIT };
}

/* An array in order, as an sst refers to few files. */
static int add_share(struct blob_tally *t, const struct blob_chunk *c)
{
	struct blob_share *grown;
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->shares[middle].file < c->file)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->count || t->shares[low].file != c->file) {
		grown = realloc(t->shares, (t->count + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		t->shares = grown;
		memmove(grown + low + 1, grown + low,
			(t->count - low) * sizeof(*grown));
		grown[low] = (struct blob_share){ c->file, 0 };
		t->count++;
	}
	t->shares[low].size += blob_stored_size(c);
	return 0;
}

int blob_tally_add(struct blob_tally *t, struct blob_list *list, bool begins)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++)
		if (begins || i >= t->last.count ||
		    !blob_chunk_equal(&list->chunks[i], &t->last.chunks[i]))
			err = add_share(t, &list->chunks[i]);
	blob_list_release(&t->last);
	t->last = *list;
	*list = (struct blob_list)BLOB_LIST_INIT;
	return err;
}
