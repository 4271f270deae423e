#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_read_back.h"

/* A chain: each part is hashed with the digest before it, so that parts which
 * changed places give another digest, and the builder need not keep what it has
 * written. */
uint64_t sst_digest_add(uint64_t digest, struct bytes content)
{
	uint64_t pair[2] = { digest, hash64(content) };

	return hash64(bytes_of(pair, sizeof(pair)));
}

/* The content of one block, read from the volume; the digest is of content, so
 * that it does not depend on how LZ4 compressed it. */
static int add_block(const struct sst *t, struct sst_handle handle,
		     uint64_t *digest)
{
	struct cache_block *block;
	int err = sst_read_block(t, handle, SST_READ_VOLUME, &block);

	if (err < 0)
		return err;
	*digest = sst_digest_add(*digest, block->bytes);
	cache_put(t->cache, block);
	return 0;
}

/* The data blocks in the order of the index, which is that in which the builder
 * wrote them. An error of the index itself is passed on without an offset. */
static int add_data(const struct sst *t, uint64_t *digest)
{
	struct sst_handle handle = sst_footer_part(&t->footer, SST_INDEX);
	struct sst_handle data = { 0 };
	struct cache_block *block;
	struct block_iter it;
	int result = sst_read_block(t, handle, SST_READ_VOLUME, &block);

	if (result < 0)
		return result;
	result = block_iter_init(&it, block->bytes, NULL, NULL);
	if (!result)
		result = block_iter_first(&it);
	while (result > 0) {
		result = sst_index_block(it.value, &data);
		if (!result)
			result = add_block(t, data, digest);
		if (!result)
			result = block_iter_next(&it);
	}
	cache_put(t->cache, block);
	return result;
}

/* The row directory as it is stored: many blocks. */
static int add_rows(const struct sst *t, uint64_t *digest)
{
	struct sst_handle handle =
		sst_footer_part(&t->footer, SST_ROW_DIRECTORY);
	struct cache_block *block;
	int err;

	if (handle.size == 0)
		return 0;
	err = sst_read_stored(t, handle, &block);
	if (err < 0)
		return err;
	*digest = sst_digest_add(*digest, block->bytes);
	cache_put(t->cache, block);
	return 0;
}

/* The footer needs no look: sst_open has checked it, and with wrong sizes in it
 * the parts would not give the digest. Parts after the row directory lie in the
 * file as enum sst_part counts them. */
int sst_read_back(struct sst *t, uint64_t digest)
{
	uint64_t found = 0;
	int part, err = add_data(t, &found);

	if (!err)
		err = add_rows(t, &found);
	for (part = SST_TOMBSTONES; part < SST_PARTS && !err; part++) {
		struct sst_handle handle =
			sst_footer_part(&t->footer, (enum sst_part)part);

		if (handle.size > 0)
			err = add_block(t, handle, &found);
	}
	if (!err && found != digest)
		err = fail(ERR_sst_malformed,
			   "%s: what is read is not what was written",
			   t->reader->path);
	return err;
}
