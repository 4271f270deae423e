#include <lz4frame.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tools/input/input_buffer.h"

/* lz4: one frame behind the other, with what checksums the writer made. */

struct lz4 {
	LZ4F_dctx *context;
	bool between; /* frames */
};

/* For input_kind. */
static int begin(struct input *in)
{
	struct lz4 *s = calloc(1, sizeof(*s));

	if (!s || LZ4F_isError(LZ4F_createDecompressionContext(&s->context,
							       LZ4F_VERSION))) {
		free(s);
		return -ENOMEM;
	}
	in->state = s;
	return 0;
}

/* For input_kind. */
static ssize_t read_lz4(struct input *in, uint8_t *out, size_t size)
{
	struct lz4 *s = in->state;
	size_t made = 0, used, more;
	int err;

	while (made == 0) {
		err = input_fill(in, 1);
		if (err < 0)
			return err;
		used = in->end - in->at;
		if (used == 0 && s->between)
			return 0;
		made = size;
		more = LZ4F_decompress(s->context, out, &made,
				       in->buffer + in->at, &used, NULL);
		if (LZ4F_isError(more))
			return fail(ERR_bad_argument,
				    "%s: offset %llu: lz4: %s", in->path,
				    (unsigned long long)(in->taken -
							 (in->end - in->at)),
				    LZ4F_getErrorName(more));
		if (made == 0 && used == 0)
			return input_damaged(in, "lz4: it ends too early");
		in->at += used;
		s->between = more == 0;
	}
	return (ssize_t)made;
}

/* For input_kind. */
static void end(struct input *in)
{
	struct lz4 *s = in->state;

	LZ4F_freeDecompressionContext(s->context);
	free(s);
}

const struct input_kind input_lz4 = { begin, read_lz4, end };
