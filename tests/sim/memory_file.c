#include <errno.h>
#include <stdlib.h>

#include "tests/sim/memory_file.h"

struct memory_writer {
	struct segment_writer base;
	struct buf *content;
};

struct memory_reader {
	struct reader base;
	const struct buf *content;
};

static int append(struct segment_writer *w, struct bytes data)
{
	int err = buf_add_bytes(((struct memory_writer *)w)->content, data);

	if (!err)
		w->size += data.size;
	return err;
}

static int finish(struct segment_writer *w)
{
	free(w);
	return 0;
}

static void abandon(struct segment_writer *w)
{
	buf_reset(((struct memory_writer *)w)->content);
	free(w);
}

static int read_at(struct reader *r, uint64_t offset, void *data, size_t size)
{
	const struct buf *content = ((struct memory_reader *)r)->content;

	if (offset > content->size || size > content->size - offset)
		return -EIO;
	if (size > 0)
		memcpy(data, content->data + offset, size);
	return 0;
}

static void close_reader(struct reader *r)
{
	free(r);
}

static const struct volume_ops memory_ops = {
	.segment_append = append,
	.segment_finish = finish,
	.segment_abandon = abandon,
	.pread = read_at,
	.reader_close = close_reader,
};

int memory_file_writer(struct buf *content, struct segment_writer **out)
{
	struct memory_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->base.ops = &memory_ops;
	w->base.path = "memory";
	w->content = content;
	*out = &w->base;
	return 0;
}

int memory_file_reader(const struct buf *content, struct reader **out)
{
	struct memory_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->base.ops = &memory_ops;
	r->base.size = content->size;
	r->base.path = "memory";
	r->content = content;
	*out = &r->base;
	return 0;
}
