#include "store/base/err.h"
#include "store/engine/log/wal_read.h"
#include "tests/fuzz/chunks.h"
#include "tests/fuzz/target.h"

/*
 * A log that holds anything. The first byte tells whether it was finished, and
 * whether checksums of chunks are put right before it is replayed, without
 * which nothing but the first chunk would ever be looked into.
 */
enum {
	LOG_ID = 7,
};

static struct bytes content;

static int memory_open(struct volume *v, const char *name, struct reader **out)
{
	static struct reader reader;

	(void)name;
	reader = (struct reader){ v->ops, content.size, "memory" };
	*out = &reader;
	return 0;
}

static int memory_pread(struct reader *r, uint64_t offset, void *data,
			size_t size)
{
	(void)r;
	MUST(offset <= content.size && size <= content.size - offset);
	memcpy(data, content.data + offset, size);
	return 0;
}

static void memory_close(struct reader *r)
{
	(void)r;
}

static const struct volume_ops memory_ops = {
	.open = memory_open,
	.pread = memory_pread,
	.reader_close = memory_close,
};

static int count(void *context, struct bytes record)
{
	size_t *total = context;

	*total += record.size;
	return 0;
}

static int lost(void *context, const char *problem)
{
	(void)context;
	MUST(problem[0]);
	return 0;
}

/* Zeros alone are room that was held, and nothing is cut. */
static bool is_room(struct bytes b)
{
	while (b.size > 0 && !b.data[0])
		b = bytes_after(b, 1);
	return b.size == 0;
}

/* Salvage gives at least what a replay gives. */
static void salvage(struct volume *volume, uint64_t final_size, size_t replayed)
{
	struct wal_replay result;
	struct reader *reader;
	size_t total = 0;

	MUST(volume->ops->open(volume, "log", &reader) == 0);
	MUST(wal_salvage(reader, LOG_ID, final_size, count, lost, &total,
			 &result) == 0);
	MUST(total >= replayed);
	volume->ops->reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct volume volume = { .ops = &memory_ops, .path = "memory" };
	struct wal_replay result = { 0 };
	uint64_t final_size, promised;
	size_t total = 0;
	uint8_t *copy;
	int err;

	if (size < 1)
		return 0;
	copy = malloc(size);
	MUST(copy);
	memcpy(copy, data + 1, size - 1);
	if (*data & 1)
		chunks_put_right(copy, size - 1, LOG_ID);
	content = bytes_of(copy, size - 1);
	final_size = *data & 2 ? size - 1 : 0;
	err = wal_replay(&volume, "log", LOG_ID, final_size, count, &total,
			 &result);
	MUST(err == 0 || err == -ERR_wal_damaged);
	MUST(total <= content.size && result.good_size <= content.size);
	if (err == 0 && result.good_size + result.cut_size != content.size)
		MUST(is_room(bytes_after(content, result.good_size)) &&
		     result.cut_size == 0);
	salvage(&volume, final_size, total);
	MUST(wal_promised(&volume, "log", LOG_ID, final_size, &promised) == 0);
	free(copy);
	return 0;
}
