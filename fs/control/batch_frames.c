#include <stdio.h>

#include "fs/control/batch_frames.h"

/* A position's text is shorter. */
#define POSITION_MAX 1024

void batch_frames_release(struct batch_frames *b)
{
	buf_release(&b->position);
}

static int wrong(const char *why)
{
	return fail(ERR_bad_argument,
		    "a batch is \"rows SIZE POSITION_SIZE\", lines and a "
		    "position: %s",
		    why);
}

/* A whole first line, which is a string. */
static int begin_frame(struct batch_frames *b)
{
	unsigned long long rows, position;
	int end = 0;

	if (sscanf(b->head, "rows %20llu %20llu%n", &rows, &position, &end) !=
		    2 ||
	    b->head[end])
		return wrong("the first line is another");
	if (rows > INT64_MAX || position > POSITION_MAX)
		return wrong("a size is too large");
	b->in_frame = true;
	b->rows_left = rows;
	b->position_left = position;
	buf_reset(&b->position);
	return 0;
}

/* The first line, or a part of it. */
static int take_head(struct batch_frames *b, struct bytes *data)
{
	while (data->size > 0) {
		char c = (char)data->data[0];

		*data = bytes_after(*data, 1);
		if (c == '\n') {
			b->head[b->head_size] = 0;
			b->head_size = 0;
			return begin_frame(b);
		}
		if (c == 0 || b->head_size == sizeof(b->head) - 1)
			return wrong("the first line has no end");
		b->head[b->head_size++] = c;
	}
	return 0;
}

/* Takes up to *left bytes off the front. */
static struct bytes take(struct bytes *data, uint64_t *left)
{
	size_t size = data->size < *left ? data->size : (size_t)*left;
	struct bytes taken = bytes_of(data->data, size);

	*data = bytes_after(*data, size);
	*left -= size;
	return taken;
}

int batch_frames_take(struct batch_frames *b, struct bytes *data,
		      struct bytes *rows, struct import_position *upto)
{
	int err;

	if (!b->in_frame) {
		err = take_head(b, data);
		if (err < 0 || !b->in_frame)
			return err;
	}
	if (b->rows_left > 0) {
		if (data->size == 0)
			return 0;
		*rows = take(data, &b->rows_left);
		return BATCH_ROWS;
	}
	err = buf_add_bytes(&b->position, take(data, &b->position_left));
	if (err < 0 || b->position_left > 0)
		return err;
	b->in_frame = false;
	err = import_position_parse(buf_bytes(&b->position), upto);
	return err < 0 ? err : BATCH_POSITION;
}
