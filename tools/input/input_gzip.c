#include <assert.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tools/input/input_buffer.h"

/*
 * gzip: one member behind the other, each with a checksum and the size of what
 * it holds, which the library compares. As gzip does, zeros behind the last
 * one are passed over, for tapes end with them.
 *
 * A member's header is read by a call of its own: isal_inflate would read it,
 * too, but forgets from one call to the next which fields are to come, so that
 * a name that is sent in two pieces would be taken for data.
 */
struct gzip {
	struct inflate_state inflate;
	struct isal_gzip_header header; /* as far as it has come */
	bool has_header;                /* all of it */
};

/* Before a member. */
static void begin_member(struct gzip *g)
{
	isal_gzip_header_init(&g->header);
	g->has_header = false;
}

/* For input_kind. */
static int begin(struct input *in)
{
	/* Zeroed, for the library does not: damage may point before the
	 * beginning. */
	struct gzip *g = calloc(1, sizeof(*g));

	in->state = g;
	if (!g)
		return -ENOMEM;
	isal_inflate_init(&g->inflate);
	g->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
	begin_member(g);
	return 0;
}

/* Behind a member: 1 if another follows, 0 at the end, or an error. */
static int next_member(struct input *in)
{
	struct gzip *g = in->state;
	int err;

	for (;;) {
		err = input_fill(in, 2);
		if (err < 0)
			return err;
		if (in->at == in->end)
			return 0;
		if (in->buffer[in->at])
			break;
		in->at++;
	}
	if (in->end - in->at < 2 || in->buffer[in->at] != 0x1f ||
	    in->buffer[in->at + 1] != 0x8b)
		return input_damaged(in, "what follows the end of the gzip is "
					 "none");
	isal_inflate_reset(&g->inflate);
	begin_member(g);
	return 1;
}

static int damaged(const struct input *in, int code)
{
	if (code == ISAL_INCORRECT_CHECKSUM)
		return input_damaged(in, "gzip: the checksum before it is not "
					 "that of the content");
	if (code == ISAL_INVALID_WRAPPER || code == ISAL_UNSUPPORTED_METHOD)
		return input_damaged(in, "gzip: the header before it is "
					 "damaged");
	return input_damaged(in, "gzip: the data before it are damaged");
}

/* Undoes some of what waits: how much, perhaps 0, or an error. */
static ssize_t inflate(struct input *in, uint8_t *out, size_t size)
{
	struct gzip *g = in->state;
	struct inflate_state *s = &g->inflate;
	int code;

	s->next_out = out;
	s->avail_out = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	s->next_in = in->buffer + in->at;
	s->avail_in = (uint32_t)(in->end - in->at);
	if (g->has_header) {
		code = isal_inflate(s);
	} else {
		code = isal_read_gzip_header(s, &g->header);
		g->has_header = code == ISAL_DECOMP_OK;
	}
	in->at = in->end - s->avail_in;
	if (code < 0 || code > ISAL_OUT_OVERFLOW) {
		int err = damaged(in, code);

		if (s->next_out == out)
			return err;
		input_fail(in, err);
	}
	return s->next_out - out;
}

/* For input_kind. */
static ssize_t read_gzip(struct input *in, uint8_t *out, size_t size)
{
	const struct gzip *g = in->state;
	const struct inflate_state *s = &g->inflate;
	bool ended;
	ssize_t n;
	int err;

	do {
		if (s->block_state == ISAL_BLOCK_FINISH) {
			err = next_member(in);
			if (err <= 0)
				return err;
		}
		err = input_fill(in, 1);
		if (err < 0)
			return err;
		ended = in->at == in->end;
		n = inflate(in, out, size);
	} while (n == 0 && (!ended || s->block_state == ISAL_BLOCK_FINISH));
	return n == 0 ? input_damaged(in, "gzip: it ends too early") : n;
}

/* For input_kind. */
static void end(struct input *in)
{
	free(in->state);
}

const struct input_kind input_gzip = { begin, read_gzip, end };
