#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/format/bloom.h"
#include "store/format/sst/sst_find.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_verify.h"
#include "store/format/sst/sst_walk.h"

/*
 * Each part is looked at for itself, so that what is wrong with one hides no
 * other. Data blocks are where the index says; without it they are found one
 * after another, up to the first that is damaged. Where nothing was wrong with
 * the parts, sst_verify holds them against one another.
 */
#define NAME_SIZE 64

struct walk {
	struct sst sst; /* as far as it can be opened */
	const struct sst_walk *to;
	uint64_t wrong_count;
	bool is_newer;   /* the footer says so */
	struct buf last; /* key of the data */
	uint8_t buffer[KEY_SIZE_MAX];
};

/* Blocks of entries that follow one another, with an index behind them. */
struct run {
	const char *name, *index_name;
	struct sst_handle index;
	uint64_t start, end; /* in the file; the index counts from start */
	uint64_t next;       /* where the next block is */
	uint64_t count;      /* of blocks so far */
	bool is_data;        /* else of the row directory */
};

static const char *const part_names[SST_PARTS] = {
	"row directory", "tombstones", "filter", "index", "properties",
};

/* What err_detail() says without the path and the place, which are told by
 * other means. */
static const char *reason(const struct walk *w, uint64_t offset)
{
	const char *text = err_detail(), *path = w->sst.reader->path;
	char place[64];
	size_t n = strlen(path);

	if (strncmp(text, path, n) != 0 || strncmp(text + n, ": ", 2) != 0)
		return text;
	text += n + 2;
	n = (size_t)snprintf(place, sizeof(place), "block at offset %llu: ",
			     (unsigned long long)offset);
	return strncmp(text, place, n) == 0 ? text + n : text;
}

/* Tells of the error err, which must be the thread's last: 0, or an error that
 * is not one of the file. */
static int tell(struct walk *w, const char *name, struct sst_handle at, int err)
{
	if (err == -ENOMEM)
		return err;
	w->wrong_count++;
	return w->to->wrong(w->to->context, name, at.offset, at.size,
			    reason(w, at.offset));
}

/* Reads and tells of a block: 1 and *out, to be put; 0 after it was told that
 * it is damaged; or an error. */
static int get_block(struct walk *w, const char *name, struct sst_handle at,
		     struct cache_block **out)
{
	int err = sst_read_block(&w->sst, at, SST_READ_VOLUME, out);

	if (err < 0)
		return tell(w, name, at, err);
	err = w->to->block(w->to->context, name, at.offset, at.size,
			   (*out)->bytes.size);
	if (err < 0) {
		cache_put(NULL, *out);
		*out = NULL;
	}
	return err < 0 ? err : 1;
}

/* What the bounds point at is memory of the walk. */
static int walk_properties(struct walk *w)
{
	struct sst_handle at = sst_footer_part(&w->sst.footer, SST_PROPERTIES);
	struct cache_block *block;
	int err = get_block(w, "properties", at, &block);

	if (err <= 0)
		return err;
	err = buf_add_bytes(&w->sst.property_memory, block->bytes);
	cache_put(NULL, block);
	if (err == 0)
		err = sst_properties_decode(buf_bytes(&w->sst.property_memory),
					    &w->sst.properties, &w->sst.blobs);
	return err < 0 ? tell(w, "properties", at, err)
		       : w->to->properties(w->to->context, &w->sst.properties);
}

static int walk_tombstones(struct walk *w)
{
	struct sst_handle at = sst_footer_part(&w->sst.footer, SST_TOMBSTONES);
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct cache_block *block;
	size_t i;
	int err = at.size ? get_block(w, "tombstones", at, &block) : 0;

	if (err <= 0)
		return err;
	err = tombstone_decode(block->bytes, &list);
	cache_put(NULL, block);
	if (err < 0)
		return tell(w, "tombstones", at, err);
	for (i = 0; i < list.count && err == 0; i++)
		err = w->to->tombstone(w->to->context, &list.items[i]);
	tombstone_list_release(&list);
	return err;
}

static int walk_filter(struct walk *w)
{
	struct sst_handle at = sst_footer_part(&w->sst.footer, SST_FILTER);
	struct cache_block *block;
	int err = at.size ? get_block(w, "filter", at, &block) : 0;

	if (err <= 0)
		return err;
	/* Any hash does: a filter that is none says so of each. */
	err = bloom_may_contain(block->bytes, 0);
	cache_put(NULL, block);
	return err < 0 ? tell(w, "filter", at, err) : 0;
}

/* One entry of the data, *told being what the receiver said. */
static int take_entry(struct walk *w, const struct block_iter *it, int *told)
{
	struct key_parts parts;
	int err = key_split(it->key, &parts);

	if (err < 0)
		return err;
	if (bytes_compare(buf_bytes(&w->last), it->key) >= 0)
		return fail(ERR_key_malformed, "keys are not in order");
	*told = w->to->entry(w->to->context, it->key, it->value);
	return *told < 0 ? *told : buf_set(&w->last, it->key);
}

/* One entry of the row directory; the same. */
static int take_row(struct walk *w, const struct block_iter *it, int *told)
{
	struct row_summary summary = { 0 };
	int err = row_summary_decode(it->value, &summary);

	if (err == 0 && (it->key.size == 0 || key_row_end(it->key) == 0))
		err = fail(ERR_key_malformed, "a row's key is malformed");
	if (err < 0)
		return err;
	*told = w->to->row(w->to->context, it->key, &summary);
	return *told;
}

/* All entries of a block, up to the first that is wrong, of the data or else of
 * the row directory. */
static int walk_entries(struct walk *w, const char *name, struct sst_handle at,
			struct bytes block, bool is_data)
{
	struct block_iter it;
	int result = block_iter_init(&it, block, NULL, w->buffer), told = 0;

	if (result == 0)
		result = block_iter_first(&it);
	while (result > 0) {
		result = is_data ? take_entry(w, &it, &told)
				 : take_row(w, &it, &told);
		if (result == 0)
			result = block_iter_next(&it);
	}
	/* Stepping does not meet the restarts. */
	if (result == 0)
		result = block_iter_verify(&it);
	if (told < 0)
		return told;
	return result < 0 ? tell(w, name, at, result) : 0;
}

/* The next block of a run, whole or not. */
static int walk_block(struct walk *w, struct run *run, struct sst_handle at)
{
	struct cache_block *block;
	char name[NAME_SIZE];
	int err;

	snprintf(name, sizeof(name), "%s block %llu", run->name,
		 (unsigned long long)run->count++);
	run->next = at.offset + at.size;
	err = get_block(w, name, at, &block);
	if (err <= 0)
		return err;
	err = walk_entries(w, name, at, block->bytes, run->is_data);
	cache_put(NULL, block);
	return err;
}

/* A block by its entry in the index: 0, 1 if the index is wrong from here on,
 * which was told, or an error. Blocks follow one another. */
static int walk_indexed(struct walk *w, struct run *run, struct bytes value)
{
	struct sst_index_entry entry;
	struct sst_handle *at = &entry.block;
	int err = sst_index_decode(value, &entry);

	if (err == 0 && (at->offset != run->next - run->start ||
			 at->size > run->end - run->next || at->size == 0))
		err = fail(ERR_sst_malformed,
			   "%s block %llu does not lie where the one before "
			   "ends, at %llu",
			   run->name, (unsigned long long)run->count,
			   (unsigned long long)run->next);
	if (err < 0) {
		err = tell(w, run->index_name, run->index, err);
		return err < 0 ? err : 1;
	}
	at->offset = run->next;
	return walk_block(w, run, *at);
}

/* The blocks of a run, as far as its index is whole. */
static int walk_by_index(struct walk *w, struct run *run)
{
	struct cache_block *block;
	struct block_iter it;
	int result, err = get_block(w, run->index_name, run->index, &block);

	if (err <= 0)
		return err;
	result = block_iter_init(&it, block->bytes, NULL, NULL);
	if (result == 0)
		result = block_iter_first(&it);
	err = 0;
	while (result > 0 && err == 0) {
		err = walk_indexed(w, run, it.value);
		if (err == 0)
			result = block_iter_next(&it);
	}
	cache_put(NULL, block);
	if (err == 0 && result == 0 && run->next != run->end)
		result =
			fail(ERR_sst_malformed,
			     "the blocks end at %llu, what they are of at %llu",
			     (unsigned long long)run->next,
			     (unsigned long long)run->end);
	if (err == 0 && result < 0)
		err = tell(w, run->index_name, run->index, result);
	return err < 0 ? err : 0;
}

/* What its index did not tell of a run of data, by looking for blocks up to the
 * first that is not whole. */
static int walk_unindexed(struct walk *w, struct run *run)
{
	struct sst_handle at;
	int err = 0;

	while (err == 0 && run->next < run->end) {
		at.offset = run->next;
		err = sst_find_block(w->sst.reader, at.offset, run->end,
				     &at.size);
		if (err == 0 && at.size == 0) {
			at.size = run->end - at.offset;
			err = fail(ERR_sst_malformed, "no whole block from "
						      "here on, and no index");
			return tell(w, run->name, at, err);
		}
		if (err == 0)
			err = walk_block(w, run, at);
	}
	return err;
}

static int walk_data(struct walk *w)
{
	struct run run = { .name = "data",
			   .index_name = "index",
			   .index = sst_footer_part(&w->sst.footer, SST_INDEX),
			   .end = w->sst.footer.data_size,
			   .is_data = true };
	int err = walk_by_index(w, &run);

	return err < 0 ? err : walk_unindexed(w, &run);
}

static int walk_rows(struct walk *w)
{
	struct sst_handle part =
		sst_footer_part(&w->sst.footer, SST_ROW_DIRECTORY);
	struct run run = { .name = "row directory",
			   .index_name = "row directory index",
			   .index = sst_footer_row_index(&w->sst.footer),
			   .start = part.offset,
			   .next = part.offset };

	if (part.size == 0)
		return 0;
	run.end = run.index.offset;
	return walk_by_index(w, &run);
}

/* Without a footer only sizes and checksums tell where the parts are; data come
 * first, and what follows is named no closer. */
static int walk_all(struct walk *w, uint64_t end)
{
	struct run run = { .name = "data", .end = end, .is_data = true };
	struct sst_handle at = { 0, 0 };
	struct cache_block *block;
	uint64_t first_size = 0, raw_size;
	int err = 0;

	for (; err == 0 && at.offset < end; at.offset += at.size) {
		err = sst_find_block(w->sst.reader, at.offset, end, &at.size);
		if (err < 0 || at.size == 0)
			break;
		if (at.offset == 0)
			first_size = at.size;
		err = sst_read_block(&w->sst, at, SST_READ_VOLUME, &block);
		if (err < 0)
			break;
		run.is_data = run.is_data &&
			      sst_is_data(block->bytes, first_size, w->buffer);
		raw_size = block->bytes.size;
		cache_put(NULL, block);
		err = run.is_data ? walk_block(w, &run, at)
				  : w->to->block(w->to->context,
						 "block of another part",
						 at.offset, at.size, raw_size);
	}
	if (err == 0 && at.offset < end) {
		at.size = end - at.offset;
		err = fail(ERR_sst_malformed,
			   "no whole block from here on, and no footer");
	}
	return err < 0 ? tell(w, run.is_data ? "data" : "other parts", at, err)
		       : 0;
}

/* What the parts say of one another, where each is whole. */
static int walk_together(struct walk *w)
{
	struct sst_handle whole = { 0, w->sst.reader->size };
	struct sst *sst;
	int err = sst_open(w->sst.reader, NULL, 0, &sst);

	if (err == 0) {
		err = sst_verify(sst);
		sst->reader = NULL; /* the caller's */
		sst_close(sst);
	}
	return err < 0 ? tell(w, "file", whole, err) : 0;
}

static int walk_parts(struct walk *w)
{
	const struct sst_walk *to = w->to;
	const struct sst_footer *f = &w->sst.footer;
	struct sst_handle at = { 0, f->data_size };
	int err = to->format(to->context, SST_VERSION, sst_footer_features(f));
	enum sst_part part;

	if (err == 0)
		err = to->part(to->context, "data", at.offset, at.size);
	for (part = 0; part < SST_PARTS && err == 0; part++) {
		at = sst_footer_part(f, part);
		if (at.size > 0)
			err = to->part(to->context, part_names[part], at.offset,
				       at.size);
	}
	if (err == 0)
		err = to->part(to->context, "footer", at.offset + at.size,
			       SST_FOOTER_SIZE);
	if (err == 0)
		err = walk_properties(w);
	if (err == 0)
		err = walk_tombstones(w);
	if (err == 0)
		err = walk_filter(w);
	if (err == 0)
		err = walk_data(w);
	if (err == 0)
		err = walk_rows(w);
	return err == 0 && w->wrong_count == 0 ? walk_together(w) : err;
}

/* Reads the footer; 1 if there is none that can be used, which was told. */
static int walk_footer(struct walk *w)
{
	struct sst_handle at = { 0, w->sst.reader->size };
	uint8_t raw[SST_FOOTER_SIZE];
	int err;

	if (at.size < SST_FOOTER_SIZE) {
		err = fail(ERR_sst_malformed, "%llu bytes are no sst",
			   (unsigned long long)at.size);
	} else {
		at.offset = at.size - SST_FOOTER_SIZE;
		at.size = SST_FOOTER_SIZE;
		err = w->sst.reader->ops->pread(w->sst.reader, at.offset, raw,
						sizeof(raw));
		if (err == 0)
			err = sst_footer_decode(raw, w->sst.reader->size,
						w->sst.reader->path,
						&w->sst.footer);
	}
	w->is_newer = err == -ERR_format_newer;
	if (err == 0)
		return 0;
	err = tell(w, "footer", at, err);
	return err < 0 ? err : 1;
}

int sst_is_one(struct reader *reader)
{
	uint8_t raw[sizeof(SST_MAGIC) - 1];
	int err;

	if (reader->size < SST_FOOTER_SIZE)
		return 0;
	err = reader->ops->pread(reader, reader->size - SST_FOOTER_SIZE, raw,
				 sizeof(raw));
	return err < 0 ? err : memcmp(raw, SST_MAGIC, sizeof(raw)) == 0;
}

/* A newer file may have blocks of another form: nothing is made of it. */
int sst_walk(struct reader *reader, const struct sst_walk *to)
{
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->sst.reader = reader;
	w->to = to;
	err = walk_footer(w);
	if (err == 0)
		err = walk_parts(w);
	else if (err > 0 && !w->is_newer && reader->size > SST_FOOTER_SIZE)
		err = walk_all(w, reader->size - SST_FOOTER_SIZE);
	buf_release(&w->sst.property_memory);
	buf_release(&w->last);
	free(w->sst.blobs);
	free(w);
	return err < 0 ? err : 0;
}
