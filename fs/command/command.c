#include <errno.h>
#include <string.h>

#include "fs/command/command.h"
#include "store/base/err.h"
#include "store/text/print/text_stream.h"

/* The largest value as base64, and what stands beside it: restore-from. */
#define REQUEST_SIZE_MAX (UINT32_C(160) << 20)
/* "w", ten digits, a newline: a length has come whole by then. */
#define HEAD_SIZE_MAX 12

int command_find(struct bytes in, struct bytes *words)
{
	const uint8_t *end = memchr(in.data, '\n', in.size);
	uint64_t size = 0;
	const uint8_t *at = in.data + 1;

	if (!end && in.data[0] == 'w' && in.size < HEAD_SIZE_MAX)
		return 0;
	while (end && end - in.data < HEAD_SIZE_MAX && *at >= '0' && *at <= '9')
		size = size * 10 + (uint64_t)(*at++ - '0');
	if (in.data[0] != 'w' || at != end || size == 0)
		return fail(EINVAL, "a request begins with w, the length of "
				    "its words, and a newline; tabletfs VERB "
				    "sends it so");
	if (size > REQUEST_SIZE_MAX)
		return fail(EINVAL, "a request of more than %u bytes",
			    REQUEST_SIZE_MAX);
	*words = bytes_after(in, (size_t)(end + 1 - in.data));
	if (words->size > size)
		return fail(EINVAL, "a request that is longer than it says");
	return words->size == size;
}

int command_split(struct bytes request, char **words)
{
	char *at = (char *)(uintptr_t)request.data, *end = at + request.size;
	int count = 0;

	if (request.size == 0 || end[-1] != '\0')
		return fail(EINVAL, "a request is words, each ended by NUL");
	while (at < end) {
		if (count == COMMAND_WORDS_MAX)
			return fail(EINVAL, "more than %d words",
				    COMMAND_WORDS_MAX);
		words[count++] = at;
		at += strlen(at) + 1;
	}
	words[count] = NULL;
	return count;
}

/* As cookie_write_function_t: 0 is an error. */
static ssize_t write_frame(void *cookie, const char *data, size_t size)
{
	struct command_stream *s = cookie;
	char head[32];
	int n = snprintf(head, sizeof(head), "%c%zu\n", s->letter, size);

	return s->write(s->context, bytes_of(head, (size_t)n)) &&
			       s->write(s->context, bytes_of(data, size))
		       ? (ssize_t)size
		       : 0;
}

FILE *command_open(struct command_stream *s)
{
	cookie_io_functions_t functions = { .write = write_frame };
	FILE *f = fopencookie(s, "w", functions);

	/* A frame for each line of errors; of output, for each full buffer. */
	if (f && s->letter == 'e')
		setvbuf(f, NULL, _IOLBF, BUFSIZ);
	return f;
}

/* Appends a frame. */
static int add_frame(char letter, struct bytes text, struct buf *out)
{
	int err = buf_printf(out, "%c%zu\n", letter, text.size);

	return err < 0 ? err : buf_add_bytes(out, text);
}

int command_next(struct text_stream **stream, struct buf *out)
{
	const char *doing = (*stream)->doing;
	struct buf text = BUF_INIT;
	int got = (*stream)->next(*stream, &text), err;

	if (got < 0) {
		buf_reset(&text);
		err = buf_printf(&text, "tabletfs: %s: %s\n", doing,
				 got == -ENOMEM ? err_text(got) : err_detail());
		err = err ? err : add_frame('e', buf_bytes(&text), out);
	} else {
		err = add_frame('o', buf_bytes(&text), out);
	}
	buf_release(&text);
	if (!err && got <= 0)
		err = buf_printf(out, "x %d\n", got < 0);
	if (err < 0 || got <= 0) {
		/* Nor is a reply gone on with that lacks a piece. */
		(*stream)->close(*stream);
		*stream = NULL;
	}
	return err;
}
