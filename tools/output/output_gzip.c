#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tools/output/output_file.h"

/* gzip, of one member. */

#define PIECE_SIZE (64 << 10)

struct gzip {
	struct isal_zstream stream;
	uint8_t level[ISAL_DEF_LVL1_DEFAULT];
	uint8_t piece[PIECE_SIZE];
};

/* For output_kind. */
static int begin(struct output *o)
{
	struct gzip *g = calloc(1, sizeof(*g));

	o->state = g;
	if (!g)
		return -ENOMEM;
	isal_deflate_init(&g->stream);
	g->stream.gzip_flag = IGZIP_GZIP;
	g->stream.level = 1;
	g->stream.level_buf = g->level;
	g->stream.level_buf_size = sizeof(g->level);
	return 0;
}

/* Compresses data and writes what comes of it; with last, also what ends it. */
static int deflate(struct output *o, struct bytes data, bool last)
{
	struct gzip *g = o->state;
	struct isal_zstream *s = &g->stream;
	int err = 0;

	do {
		uint32_t n = data.size < UINT32_MAX / 2 ? (uint32_t)data.size
							: UINT32_MAX / 2;

		/* The library changes nothing there. */
		s->next_in = (uint8_t *)(uintptr_t)data.data;
		s->avail_in = n;
		s->end_of_stream = last && n == data.size;
		data = bytes_after(data, n);
		do {
			s->next_out = g->piece;
			s->avail_out = PIECE_SIZE;
			if (isal_deflate(s) != COMP_OK)
				return fail(EIO, "%s: gzip failed", o->path);
			err = output_put(
				o,
				bytes_of(g->piece, PIECE_SIZE - s->avail_out));
		} while (!err && s->avail_out == 0);
	} while (!err && data.size > 0);
	return err;
}

/* For output_kind. */
static int write_gzip(struct output *o, struct bytes data)
{
	return data.size > 0 ? deflate(o, data, false) : 0;
}

/* For output_kind. */
static int finish(struct output *o)
{
	return deflate(o, BYTES_NONE, true);
}

/* For output_kind. */
static void end(struct output *o)
{
	free(o->state);
}

const struct output_kind output_gzip = { begin, write_gzip, finish, end };
