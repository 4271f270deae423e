#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/input/input_buffer.h"

int input_fill(struct input *in, size_t count)
{
	assert(count <= INPUT_BUFFER_SIZE);
	if (in->end - in->at >= count)
		return 0;
	memmove(in->buffer, in->buffer + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	while (in->end < count && !in->ended) {
		ssize_t n = read(in->fd, in->buffer + in->end,
				 INPUT_BUFFER_SIZE - in->end);

		/* A signal that has a handler ends the import. */
		if (n < 0)
			return fail(errno, "%s: offset %llu: cannot read",
				    in->path, (unsigned long long)in->taken);
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
