#include <lz4frame.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tools/output/output_file.h"

/* lz4, of one frame with a checksum of its content. */

#define PIECE_SIZE ((size_t)64 << 10)

struct lz4 {
	LZ4F_cctx *context;
	struct buf made; /* with room for what a piece becomes */
};

static const LZ4F_preferences_t preferences = {
	.frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled },
};

static int lz4_failed(const struct output *o, size_t code)
{
	return fail(EIO, "%s: lz4: %s", o->path, LZ4F_getErrorName(code));
}

/* Writes the n bytes that were made, unless n is an error. */
static int put(struct output *o, size_t n)
{
	struct lz4 *s = o->state;

	return LZ4F_isError(n) ? lz4_failed(o, n)
			       : output_put(o, bytes_of(s->made.data, n));
}

/* For output_kind. */
static void end(struct output *o)
{
	struct lz4 *s = o->state;

	LZ4F_freeCompressionContext(s->context);
	buf_release(&s->made);
	free(s);
}

/* For output_kind. */
static int begin(struct output *o)
{
	struct lz4 *s = calloc(1, sizeof(*s));
	int err;

	o->state = s;
	if (!s)
		return -ENOMEM;
	err = buf_reserve(&s->made,
			  LZ4F_compressBound(PIECE_SIZE, &preferences) +
				  LZ4F_HEADER_SIZE_MAX);
	if (!err && LZ4F_isError(LZ4F_createCompressionContext(&s->context,
							       LZ4F_VERSION)))
		err = -ENOMEM;
	if (!err)
		err = put(o,
			  LZ4F_compressBegin(s->context, s->made.data,
					     s->made.capacity, &preferences));
	if (err < 0)
		end(o);
	return err;
}

/* For output_kind. */
static int write_lz4(struct output *o, struct bytes data)
{
	struct lz4 *s = o->state;
	int err = 0;

	while (!err && data.size > 0) {
		size_t n = data.size < PIECE_SIZE ? data.size : PIECE_SIZE;

		err = put(o, LZ4F_compressUpdate(s->context, s->made.data,
						 s->made.capacity, data.data, n,
						 NULL));
		data = bytes_after(data, n);
	}
	return err;
}

/* For output_kind. */
static int finish(struct output *o)
{
	struct lz4 *s = o->state;

	return put(o, LZ4F_compressEnd(s->context, s->made.data,
				       s->made.capacity, NULL));
}

const struct output_kind output_lz4 = { begin, write_lz4, finish, end };
