#include "store/base/cache.h"
#include "store/base/coding.h"
#include "store/format/block_build.h"
#include "store/format/sst/sst_format.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_read_back.h"
#include "store/format/sst/sst_salvage.h"
#include "store/format/sst/sst_verify.h"
#include "tests/fuzz/target.h"

/*
 * A file whose parts hold anything, under checksums that are right: the input
 * is six sizes, u16 each, of a data block, a block of the row directory, its
 * index, tombstones, filter and index; these; and the properties.
 */
struct memory_reader {
	struct reader reader;
	struct buf content;
};

static int memory_pread(struct reader *r, uint64_t offset, void *data,
			size_t size)
{
	struct memory_reader *m = (struct memory_reader *)r;

	MUST(offset <= m->content.size && size <= m->content.size - offset);
	memcpy(data, m->content.data + offset, size);
	return 0;
}

static void memory_close(struct reader *r)
{
	(void)r;
}

static const struct volume_ops memory_ops = {
	.pread = memory_pread,
	.reader_close = memory_close,
};

/* Appends the part that input begins with, stored. */
static uint32_t add_part(struct buf *file, struct bytes *input, size_t size)
{
	struct buf stored = BUF_INIT;
	uint32_t stored_size;

	if (size > input->size)
		size = input->size;
	MUST(block_store(bytes_of(input->data, size), size % 2, &stored) == 0);
	MUST(buf_add_bytes(file, buf_bytes(&stored)) == 0);
	stored_size = (uint32_t)stored.size;
	buf_release(&stored);
	*input = bytes_after(*input, size);
	return stored_size;
}

static void build(struct buf *file, struct bytes input)
{
	struct sst_footer footer = { 0 };
	uint8_t raw[SST_FOOTER_SIZE];
	const uint8_t *sizes = input.data;
	bool has_rows = get_u16le(sizes + 4) > 0;
	int i;

	input = bytes_after(input, 12);
	footer.data_size = add_part(file, &input, get_u16le(sizes));
	if (has_rows) {
		footer.part_size[SST_ROW_DIRECTORY] =
			add_part(file, &input, get_u16le(sizes + 2));
		footer.row_index_size =
			add_part(file, &input, get_u16le(sizes + 4));
		footer.part_size[SST_ROW_DIRECTORY] += footer.row_index_size;
	}
	for (i = 0; i < 3; i++)
		if (i > 0 || get_u16le(sizes + 6) > 0)
			footer.part_size[SST_TOMBSTONES + i] = add_part(
				file, &input, get_u16le(sizes + 6 + 2 * i));
	footer.part_size[SST_PROPERTIES] = add_part(file, &input, input.size);
	sst_footer_encode(&footer, raw);
	MUST(buf_add(file, raw, sizeof(raw)) == 0);
}

static void walk(struct iter *it, struct bytes probe)
{
	int result = iter_seek(it, BYTES_NONE), steps;

	for (steps = 0; result > 0 && steps < 10000; steps++)
		result = iter_next(it);
	result = iter_seek(it, probe);
	if (result > 0)
		iter_skip(it, probe);
	iter_before(it, probe);
	iter_close(it);
}

static void use(struct sst *t, struct bytes probe)
{
	struct iter *it;

	sst_may_contain(t, probe.size);
	if (sst_iter_new(t, true, &it) == 0)
		walk(it, probe);
	if (sst_has_rows(t) && sst_rows_new(t, &it) == 0)
		walk(it, probe);
	sst_verify(t);
	sst_read_back(t, 0);
}

/* What salvage gives has to be good for building an sst. */
static int take_entry(void *context, struct bytes key, struct bytes value)
{
	struct buf *last = context;
	struct key_parts parts;

	(void)value;
	MUST(key_split(key, &parts) == 0);
	MUST(bytes_compare(buf_bytes(last), key) < 0);
	MUST(buf_set(last, key) == 0);
	return 0;
}

static int take_tombstone(void *context, const struct tombstone *t)
{
	(void)context;
	MUST(bytes_compare(t->start, t->end) < 0);
	return 0;
}

static int take_loss(void *context, const char *problem, struct bytes after,
		     struct bytes before)
{
	(void)context;
	(void)after;
	(void)before;
	MUST(problem[0]);
	return 0;
}

static int take_undeleted(void *context, const char *problem)
{
	(void)context;
	MUST(problem[0]);
	return 0;
}

static void salvage(struct reader *reader)
{
	struct buf last = BUF_INIT;
	const struct salvage to = { take_entry, take_tombstone, take_loss,
				    take_undeleted, &last };

	MUST(sst_salvage(reader, &to) == 0);
	buf_release(&last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_reader m = { .reader = { .ops = &memory_ops,
					       .path = "memory" },
				   .content = BUF_INIT };
	struct cache *cache;
	struct sst *t;

	if (size < 12 || size > 100000)
		return 0;
	MUST(cache_new(1 << 20, &cache) == 0);
	build(&m.content, bytes_of(data, size));
	m.reader.size = m.content.size;
	if (sst_open(&m.reader, cache, 1, &t) == 0) {
		use(t, bytes_of(data + 12, size - 12 < 30 ? size - 12 : 30));
		sst_close(t);
	}
	cache_free(cache);
	/* With the footer, and with it damaged. */
	salvage(&m.reader);
	m.content.data[m.content.size - 1] ^= 1;
	salvage(&m.reader);
	buf_release(&m.content);
	return 0;
}
