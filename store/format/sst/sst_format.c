#include <assert.h>
#include <stdlib.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/format/sst/sst_format.h"

/* Offsets in the footer; the version comes right behind the magic, and the
 * checksum ends it, in every version there will be. */
enum {
	VERSION_AT = 8,
	FEATURES_AT = 12,
	DATA_SIZE_AT = 16,
	SIZES_AT = 24,
	ROW_INDEX_AT = SIZES_AT + 4 * SST_PARTS,
	ZERO_AT = ROW_INDEX_AT + 4,
	CRC_AT = SST_FOOTER_SIZE - 4,
};

static_assert(sizeof(SST_MAGIC) - 1 == VERSION_AT, "magic is 8 bytes");
static_assert(ZERO_AT + 12 == CRC_AT, "footer is 64 bytes");

/* Features are not the caller's to choose: they follow from what the file has.
 */
uint32_t sst_footer_features(const struct sst_footer *f)
{
	return (f->row_index_size ? SST_FEATURE_ROWS : 0) |
	       (f->has_blobs ? SST_FEATURE_BLOBS : 0) |
	       (f->is_past ? SST_FEATURE_PAST : 0);
}

void sst_footer_encode(const struct sst_footer *f, uint8_t *raw)
{
	int i;

	assert((f->row_index_size > 0) ==
	       (f->part_size[SST_ROW_DIRECTORY] > 0));
	memset(raw, 0, SST_FOOTER_SIZE);
	memcpy(raw, SST_MAGIC, VERSION_AT);
	put_u32le(raw + VERSION_AT, SST_VERSION);
	put_u32le(raw + FEATURES_AT, sst_footer_features(f));
	put_u32le(raw + ROW_INDEX_AT, f->row_index_size);
	put_u64le(raw + DATA_SIZE_AT, f->data_size);
	for (i = 0; i < SST_PARTS; i++)
		put_u32le(raw + SIZES_AT + 4 * i, f->part_size[i]);
	put_u32le(raw + CRC_AT, crc32c(0, bytes_of(raw, CRC_AT)));
}

/* The checksum is looked at before the version, since damage may have changed
 * that; a newer program keeps magic, checksum and the places of version and
 * features. Sizes are added in 64 bits, where six of 32 bits cannot overflow,
 * so that the data's size is what the file has left, whatever the footer
 * claims. */
int sst_footer_decode(const uint8_t *raw, uint64_t file_size, const char *path,
		      struct sst_footer *f)
{
	uint64_t total = SST_FOOTER_SIZE;
	uint32_t crc, version, features;
	int i;

	if (memcmp(raw, SST_MAGIC, VERSION_AT) != 0)
		return fail(ERR_sst_malformed, "%s: no sst by its last bytes",
			    path);
	crc = crc32c(0, bytes_of(raw, CRC_AT));
	if (get_u32le(raw + CRC_AT) != crc)
		return fail(ERR_sst_malformed,
			    "%s: footer checksum is %08x, not %08x", path, crc,
			    get_u32le(raw + CRC_AT));
	version = get_u32le(raw + VERSION_AT);
	features = get_u32le(raw + FEATURES_AT);
	if (version != SST_VERSION || (features & ~SST_FEATURES_KNOWN) != 0)
		return fail(ERR_format_newer,
			    "%s: sst version %u with features %x is newer than "
			    "this program, which reads %u with %x",
			    path, version, features, SST_VERSION,
			    SST_FEATURES_KNOWN);
	f->has_blobs = features & SST_FEATURE_BLOBS;
	f->is_past = features & SST_FEATURE_PAST;
	f->data_size = get_u64le(raw + DATA_SIZE_AT);
	for (i = 0; i < SST_PARTS; i++) {
		f->part_size[i] = get_u32le(raw + SIZES_AT + 4 * i);
		total += f->part_size[i];
	}
	f->row_index_size = get_u32le(raw + ROW_INDEX_AT);
	if (f->row_index_size > f->part_size[SST_ROW_DIRECTORY] ||
	    (f->row_index_size > 0) != ((features & SST_FEATURE_ROWS) != 0) ||
	    (f->row_index_size > 0) != (f->part_size[SST_ROW_DIRECTORY] > 0))
		return fail(ERR_sst_malformed,
			    "%s: row directory of %u bytes, its index %u", path,
			    f->part_size[SST_ROW_DIRECTORY], f->row_index_size);
	if (total > file_size || f->data_size != file_size - total)
		return fail(ERR_sst_malformed,
			    "%s: the parts do not fill %llu bytes", path,
			    (unsigned long long)file_size);
	return 0;
}

struct sst_handle sst_footer_part(const struct sst_footer *f,
				  enum sst_part part)
{
	struct sst_handle handle = { f->data_size, f->part_size[part] };
	int i;

	assert(part < SST_PARTS);
	for (i = 0; i < (int)part; i++)
		handle.offset += f->part_size[i];
	return handle;
}

struct sst_handle sst_footer_row_index(const struct sst_footer *f)
{
	struct sst_handle handle = sst_footer_part(f, SST_ROW_DIRECTORY);

	handle.offset += handle.size - f->row_index_size;
	handle.size = f->row_index_size;
	return handle;
}

/* Numbers in the order in which sst_properties_decode takes them; references to
 * blob files go on to the block's end. */
int sst_properties_encode(const struct sst_properties *p, struct buf *b)
{
	const uint64_t numbers[] = {
		p->smallest_seq,  p->largest_seq,     p->min_timestamp,
		p->max_timestamp, p->put_count,       p->delete_count,
		p->row_count,     p->tombstone_count, p->data_size,
		p->level,
	};
	size_t i;
	int err = buf_add_sized(b, p->smallest);

	if (!err)
		err = buf_add_sized(b, p->largest);
	if (!err)
		err = buf_add_byte(b, p->largest_exclusive);
	for (i = 0; !err && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		err = buf_add_varint(b, numbers[i]);
	for (i = 0; !err && i < p->blob_count; i++) {
		err = buf_add_varint(b, p->blobs[i].file);
		if (!err)
			err = buf_add_varint(b, p->blobs[i].size);
	}
	return err;
}

/* The rest of the properties: files ascend. A reference takes two bytes at
 * least, so rest.size of them is room enough, and what a hostile size can ask
 * for is bounded by the block that is in memory already. */
static int decode_blobs(struct bytes rest, struct sst_properties *p,
			struct blob_share **out)
{
	struct blob_share *blobs = malloc(rest.size * sizeof(*blobs) + 1);
	size_t count = 0;

	if (!blobs)
		return -ENOMEM;
	for (; rest.size > 0; count++)
		if (!take_varint(&rest, &blobs[count].file) ||
		    !take_varint(&rest, &blobs[count].size) ||
		    (count > 0 && blobs[count].file <= blobs[count - 1].file)) {
			free(blobs);
			return fail(ERR_block_malformed,
				    "bad references to blob files");
		}
	p->blobs = *out = blobs;
	p->blob_count = count;
	return 0;
}

/* Not one number is judged here but for its width: what they say is held
 * against the content by sst_verify. */
int sst_properties_decode(struct bytes block, struct sst_properties *p,
			  struct blob_share **blobs)
{
	uint64_t level = 0;
	uint64_t *const numbers[] = {
		&p->smallest_seq,  &p->largest_seq,
		&p->min_timestamp, &p->max_timestamp,
		&p->put_count,     &p->delete_count,
		&p->row_count,     &p->tombstone_count,
		&p->data_size,     &level,
	};
	struct bytes exclusive;
	size_t i;
	bool good;

	*blobs = NULL;
	p->blobs = NULL;
	p->blob_count = 0;
	good = take_sized(&block, &p->smallest) &&
	       take_sized(&block, &p->largest) &&
	       p->smallest.size <= KEY_SIZE_MAX &&
	       p->largest.size <= KEY_SIZE_MAX &&
	       take_bytes(&block, 1, &exclusive) && exclusive.data[0] <= 1;
	for (i = 0; good && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		good = take_varint(&block, numbers[i]);
	if (!good || level > UINT32_MAX)
		return fail(ERR_block_malformed, "bad properties");
	p->largest_exclusive = exclusive.data[0] != 0;
	p->level = (uint32_t)level;
	return block.size > 0 ? decode_blobs(block, p, blobs) : 0;
}

/* Times as the least one and the difference, which is short in a block of one
 * time. In the row directory both are 0. */
uint8_t *sst_index_encode(const struct sst_index_entry *e, uint8_t *p)
{
	assert(e->min_timestamp <= e->max_timestamp);
	p = put_varint(p, e->block.offset);
	p = put_varint(p, e->block.size);
	p = put_varint(p, e->min_timestamp);
	return put_varint(p, e->max_timestamp - e->min_timestamp);
}

int sst_index_block(struct bytes value, struct sst_handle *block)
{
	if (!take_varint(&value, &block->offset) ||
	    !take_varint(&value, &block->size))
		return fail(ERR_block_malformed, "bad index entry");
	return 0;
}

/* A range that overflows wraps around: such an entry is wrong under a checksum
 * that is right, and sst_verify tells. */
int sst_index_decode(struct bytes value, struct sst_index_entry *e)
{
	uint64_t range;

	if (!take_varint(&value, &e->block.offset) ||
	    !take_varint(&value, &e->block.size) ||
	    !take_varint(&value, &e->min_timestamp) ||
	    !take_varint(&value, &range) || value.size > 0)
		return fail(ERR_block_malformed, "bad index entry");
	e->max_timestamp = e->min_timestamp + range;
	return 0;
}
