#include <stdlib.h>

#include "store/base/err.h"
#include "store/format/sst/sst_find.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_salvage.h"

/*
 * Reading what is left of a damaged file. Its index tells where the blocks are;
 * without it they are found one after another, by sst_find.h, and are told
 * apart by what is in them.
 */
struct rescue {
	struct sst sst; /* as far as it can be opened */
	const struct salvage *to;
	struct buf last;      /* the key given last */
	bool tombstones_done; /* given, or there are none */
	uint8_t buffer[KEY_SIZE_MAX];
};

/* Tells of what is lost between the key given last and before, with the reason
 * that is in err_detail(). */
static int lose(struct rescue *r, struct bytes before)
{
	return r->to->lost(r->to->context, err_detail(), buf_bytes(&r->last),
			   before);
}

/* Errors that are no damage of the file. Everything else, errors of reading it
 * too, is taken for damage. */
static bool is_final(int err)
{
	return err == -ENOMEM || err == -ERR_format_newer;
}

/* An entry goes to the receiver if its key is valid and after all that were
 * given: entries that damage has put in the wrong place would break the file
 * that is made of them. */
static int give_entry(struct rescue *r, const struct block_iter *it)
{
	struct key_parts parts;
	int err = key_split(it->key, &parts);

	if (err == 0 && bytes_compare(buf_bytes(&r->last), it->key) >= 0)
		err = fail(ERR_key_malformed, "%s: keys are not in order",
			   r->sst.reader->path);
	if (err < 0)
		return err;
	err = r->to->entry(r->to->context, it->key, it->value);
	return err < 0 ? err : buf_set(&r->last, it->key);
}

/* The entries of a block up to the first that is bad. *told is what the
 * receiver refused with, which ends the salvage, as opposed to the block's own
 * damage in the result. */
static int give_block(struct rescue *r, struct bytes block, int *told)
{
	struct block_iter it;
	int result = block_iter_init(&it, block, NULL, r->buffer);

	*told = 0;
	if (result == 0)
		result = block_iter_first(&it);
	while (result > 0) {
		result = give_entry(r, &it);
		if (result < 0 && result != -ERR_key_malformed)
			*told = result;
		if (result == 0)
			result = block_iter_next(&it);
	}
	return result;
}

/* A data block, which is lost from the first bad entry on if it cannot be read;
 * before: a key after all of its keys, or none if it is not known. */
static int rescue_block(struct rescue *r, struct sst_handle handle,
			struct bytes before)
{
	struct cache_block *block;
	int err, told = 0;

	err = sst_read_block(&r->sst, handle, SST_READ_VOLUME, &block);
	if (err == 0) {
		err = give_block(r, block->bytes, &told);
		if (err < 0 && told == 0)
			err = sst_fail(&r->sst, handle.offset, err);
		cache_put(NULL, block);
	}
	if (told < 0 || is_final(err))
		return told < 0 ? told : err;
	return err < 0 ? lose(r, before) : 0;
}

/* All tombstones of a block or, if it does not parse, none and the error of
 * that; else what the receiver said. */
static int give_tombstones(struct rescue *r, struct bytes block)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	size_t i;
	int err = tombstone_decode(block, &list), told = 0;

	for (i = 0; i < list.count && err == 0 && told == 0; i++)
		told = r->to->tombstone(r->to->context, &list.items[i]);
	tombstone_list_release(&list);
	return told < 0 ? told : err;
}

/* The tombstones that the footer points to; they need neither index nor data.
 */
static int rescue_tombstones(struct rescue *r)
{
	struct sst_handle handle =
		sst_footer_part(&r->sst.footer, SST_TOMBSTONES);
	struct cache_block *block;
	int err;

	r->tombstones_done = true;
	if (handle.size == 0)
		return 0;
	err = sst_read_block(&r->sst, handle, SST_READ_VOLUME, &block);
	if (err == 0) {
		err = give_tombstones(r, block->bytes);
		cache_put(NULL, block);
	}
	if (err == 0 || is_final(err))
		return err;
	return r->to->undeleted(r->to->context, err_detail());
}

/* 1, or 0 if the index cannot be read, the reason in err_detail(). An index
 * that turns out bad on the way is enough as far as it went: the rest is lost,
 * as a walk from the start would give what was given again. */
static int rescue_by_index(struct rescue *r)
{
	struct sst_handle handle = sst_footer_part(&r->sst.footer, SST_INDEX);
	struct sst_index_entry entry;
	struct cache_block *block;
	struct block_iter it;
	int result, err = 0;

	result = sst_read_block(&r->sst, handle, SST_READ_VOLUME, &block);
	if (result < 0)
		return is_final(result) ? result : 0;
	result = block_iter_init(&it, block->bytes, NULL, NULL);
	if (result == 0)
		result = block_iter_first(&it);
	while (result > 0 && err == 0) {
		result = sst_index_decode(it.value, &entry);
		if (result == 0)
			err = rescue_block(r, entry.block, it.key);
		if (result == 0 && err == 0)
			result = block_iter_next(&it);
	}
	if (result < 0 && err == 0) {
		sst_fail(&r->sst, handle.offset, result);
		err = lose(r, BYTES_NONE);
	}
	cache_put(NULL, block);
	return err < 0 ? err : 1;
}

/* Whether these are the properties of a file with so much data and without
 * tombstones: proof that none were lost. */
static bool says_none(struct bytes block, uint64_t data_size)
{
	struct sst_properties p;
	struct blob_share *blobs;
	bool none = sst_properties_decode(block, &p, &blobs) == 0 &&
		    p.data_size == data_size && p.tombstone_count == 0;

	free(blobs);
	return none;
}

/* One whole block of the walk; *in_data is whether only data came so far, and
 * *data_size how much of it. With the footer, data is all that is walked:
 * tombstones_done is set. */
static int walk_block(struct rescue *r, struct sst_handle handle,
		      uint64_t first_size, bool *in_data, uint64_t *data_size)
{
	struct cache_block *block;
	int err = sst_read_block(&r->sst, handle, SST_READ_VOLUME, &block);

	if (err < 0)
		return is_final(err) ? err : lose(r, BYTES_NONE);
	if (*in_data && !r->tombstones_done)
		*in_data = sst_is_data(block->bytes, first_size, r->buffer);
	if (*in_data) {
		*data_size += handle.size;
		err = rescue_block(r, handle, BYTES_NONE);
	} else if (!r->tombstones_done) {
		/* Other parts do not parse as tombstones. */
		err = give_tombstones(r, block->bytes);
		r->tombstones_done =
			err == 0 || says_none(block->bytes, *data_size);
		if (err == -ERR_block_malformed)
			err = 0;
	}
	cache_put(NULL, block);
	return err;
}

/* From block to block of the file's first size bytes, which end where a block
 * should, to the first that is not whole. The data have ended well where other
 * parts begin or the footer says; if they have not, what follows is lost up to
 * an unknown key. Tombstones that were not met count as lost unless the
 * properties say there are none. */
static int walk(struct rescue *r, uint64_t size)
{
	struct sst_handle handle = { 0, 0 };
	uint64_t first_size = 0, data_size = 0;
	bool in_data = true;
	int err = 0;

	while (err == 0 && handle.offset < size) {
		err = sst_find_block(r->sst.reader, handle.offset, size,
				     &handle.size);
		if (err < 0 || handle.size == 0)
			break;
		if (first_size == 0)
			first_size = handle.size;
		err = walk_block(r, handle, first_size, &in_data, &data_size);
		handle.offset += handle.size;
	}
	if (err < 0 ||
	    (r->tombstones_done && (!in_data || handle.offset == size)))
		return err;
	fail(ERR_sst_malformed,
	     "%s: offset %llu: no whole block, and neither footer nor index",
	     r->sst.reader->path, (unsigned long long)handle.offset);
	if (in_data)
		err = lose(r, BYTES_NONE);
	if (err == 0 && !r->tombstones_done)
		err = r->to->undeleted(r->to->context, err_detail());
	return err;
}

/* With a footer: tombstones, then entries by the index or else by walking the
 * data. Without one the whole file is walked: it may have been cut, so that its
 * last 64 bytes are as good as others. */
int sst_salvage(struct reader *reader, const struct salvage *to)
{
	struct rescue *r = calloc(1, sizeof(*r));
	uint8_t raw[SST_FOOTER_SIZE];
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->sst.reader = reader;
	r->to = to;
	if (reader->size < SST_FOOTER_SIZE)
		err = fail(ERR_sst_malformed, "%s: %llu bytes are no sst",
			   reader->path, (unsigned long long)reader->size);
	if (err == 0)
		err = reader->ops->pread(reader, reader->size - SST_FOOTER_SIZE,
					 raw, SST_FOOTER_SIZE);
	if (err == 0)
		err = sst_footer_decode(raw, reader->size, reader->path,
					&r->sst.footer);
	if (is_final(err))
		goto free_rescue;
	if (err < 0) {
		err = walk(r, reader->size);
		goto free_rescue;
	}
	err = rescue_tombstones(r);
	if (err == 0)
		err = rescue_by_index(r);
	if (err == 0)
		err = walk(r, r->sst.footer.data_size);
free_rescue:
	buf_release(&r->last);
	free(r);
	return err < 0 ? err : 0;
}
