#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/input/input_buffer.h"

/* How long who wants to be told of waiting is not. */
#define WAIT_MS 200

/* A signal that has a handler ends the import. */
static int cannot_read(const struct input *in)
{
	return fail(errno, "%s: offset %llu: cannot read", in->path,
		    (unsigned long long)in->taken);
}

int input_poll(struct input *in, struct pollfd *ready, nfds_t count)
{
	int n, err = 0;

	do {
		n = poll(ready, count, in->waiting ? WAIT_MS : -1);
		if (n == 0)
			err = in->waiting(in->context);
	} while (n == 0 && !err);
	return n < 0 ? cannot_read(in) : err;
}

int input_fill(struct input *in, size_t count)
{
	assert(count <= INPUT_BUFFER_SIZE);
	if (in->end - in->at >= count)
		return 0;
	memmove(in->buffer, in->buffer + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	while (in->end < count && !in->ended) {
		struct pollfd ready = { in->fd, POLLIN, 0 };
		int err = input_poll(in, &ready, 1);
		ssize_t n;

		if (err < 0)
			return err;
		n = read(in->fd, in->buffer + in->end,
			 INPUT_BUFFER_SIZE - in->end);
		if (n < 0)
			return cannot_read(in);
		in->ended = n == 0;
		in->end += (size_t)n;
		in->taken += (uint64_t)n;
	}
	return 0;
}

int input_damaged(const struct input *in, const char *what)
{
	return fail(ERR_bad_argument, "%s: offset %llu: %s", in->path,
		    (unsigned long long)(in->taken - (in->end - in->at)), what);
}

void input_fail(struct input *in, int err)
{
	in->failed = err;
	strncpy(in->why, err_detail(), sizeof(in->why) - 1);
}
