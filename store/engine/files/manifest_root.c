#include <string.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/engine/files/manifest_root.h"

#define MAGIC "tabletfs"
#define OLD_FORMAT 1

/* Where the fields are. */
enum {
	AT_FORMAT = 8,
	AT_INCOMPATIBLE = 12,
	AT_EPOCH = 16,
	AT_EDITS_ID = 20,
	AT_READ_ONLY = 28,
	AT_OPTIONAL = 32,
	AT_ID = 36,
	AT_PARENT = AT_ID + STORE_ID_SIZE,
	AT_PARENT_SEQUENCE = AT_PARENT + STORE_ID_SIZE,
	AT_CRC = AT_PARENT_SEQUENCE + 8,
	OLD_AT_CRC = 28,
};

static_assert(AT_CRC + 4 == MANIFEST_ROOT_SIZE, "it ends with its checksum");
static_assert(sizeof(MAGIC) - 1 == AT_FORMAT, "the magic comes first");

void manifest_root_encode(const struct manifest_root *root,
			  uint8_t raw[MANIFEST_ROOT_SIZE])
{
	const struct identity *i = &root->identity;

	memcpy(raw, MAGIC, AT_FORMAT);
	put_u32le(raw + AT_FORMAT, MANIFEST_FORMAT);
	put_u32le(raw + AT_INCOMPATIBLE, i->features.incompatible);
	put_u32le(raw + AT_EPOCH, root->epoch);
	put_u64le(raw + AT_EDITS_ID, root->edits_id);
	put_u32le(raw + AT_READ_ONLY, i->features.read_only);
	put_u32le(raw + AT_OPTIONAL, i->features.optional);
	memcpy(raw + AT_ID, i->id.bytes, STORE_ID_SIZE);
	memcpy(raw + AT_PARENT, i->parent.bytes, STORE_ID_SIZE);
	put_u64le(raw + AT_PARENT_SEQUENCE, i->parent_sequence);
	put_u32le(raw + AT_CRC, crc32c(0, bytes_of(raw, AT_CRC)));
}

static void decode_identity(const uint8_t *raw, struct identity *out)
{
	out->features.read_only = get_u32le(raw + AT_READ_ONLY);
	out->features.optional = get_u32le(raw + AT_OPTIONAL);
	memcpy(out->id.bytes, raw + AT_ID, STORE_ID_SIZE);
	memcpy(out->parent.bytes, raw + AT_PARENT, STORE_ID_SIZE);
	out->parent_sequence = get_u64le(raw + AT_PARENT_SEQUENCE);
}

/* A later format is told apart from damage by the magic alone, as the numbers
 * that follow it may be all that this program can read. */
int manifest_root_decode(const char *path, struct bytes raw,
			 struct manifest_root *root)
{
	uint32_t format, features, crc;
	size_t size;

	*root = (struct manifest_root){ .epoch = 0 };
	if (raw.size < OLD_AT_CRC + 4 ||
	    memcmp(raw.data, MAGIC, AT_FORMAT) != 0)
		return fail(ERR_manifest_damaged,
			    "%s: root: %zu bytes, not those of a store", path,
			    raw.size);
	/* Before size and checksum, which a later format may have elsewhere. */
	format = get_u32le(raw.data + AT_FORMAT);
	features = get_u32le(raw.data + AT_INCOMPATIBLE);
	if (format < OLD_FORMAT || format > MANIFEST_FORMAT || features != 0)
		return fail(
			ERR_format_newer,
			"%s: root: format %u with features %x is newer than "
			"this program, which reads %u",
			path, format, features, MANIFEST_FORMAT);
	size = format == MANIFEST_FORMAT ? AT_CRC : OLD_AT_CRC;
	crc = raw.size == size + 4 ? crc32c(0, bytes_of(raw.data, size)) : 0;
	if (raw.size != size + 4 || get_u32le(raw.data + size) != crc)
		return fail(ERR_manifest_damaged,
			    "%s: root: checksum of %zu bytes does not match",
			    path, raw.size);
	root->epoch = get_u32le(raw.data + AT_EPOCH);
	root->edits_id = get_u64le(raw.data + AT_EDITS_ID);
	if (format == MANIFEST_FORMAT)
		decode_identity(raw.data, &root->identity);
	return 0;
}

int manifest_root_writable(const char *path, const struct features *f)
{
	if (f->read_only == 0)
		return 0;
	return fail(ERR_format_newer,
		    "%s: root: features %x are newer than this program, which "
		    "may only read the store",
		    path, f->read_only);
}
