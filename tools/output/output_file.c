#include <unistd.h>

#include "store/base/err.h"
#include "tools/output/output_file.h"
#include "tools/verb/stop.h"

int output_put(struct output *o, struct bytes data)
{
	while (data.size > 0) {
		ssize_t n = write(o->fd, data.data, data.size);

		if (n < 0 && errno != EINTR)
			return fail(errno, "%s: cannot write", o->path);
		/* Also after a part of it. */
		if (stop_came())
			return stop_check();
		data = bytes_after(data, n > 0 ? (size_t)n : 0);
	}
	return 0;
}
