#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_reader.h"

struct posix_reader {
	struct reader reader; /* first, so that it can be cast */
	char *path;           /* owned */
	int fd;
};

int posix_reader_open(struct posix_volume *v, const char *name,
		      struct reader **out)
{
	struct posix_reader *r = calloc(1, sizeof(*r));
	struct stat st;
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->fd = -1;
	r->path = posix_path(v, name);
	if (!r->path) {
		err = -ENOMEM;
		goto free_reader;
	}
	/* A pipe would wait for a writer. */
	r->fd = openat(v->directory, name,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st) < 0) {
		err = fail(errno, "%s: cannot open", r->path);
		goto free_reader;
	}
	if (!S_ISREG(st.st_mode)) {
		err = fail(EIO, "%s: not a regular file", r->path);
		goto free_reader;
	}
	r->reader.ops = v->volume.ops;
	r->reader.size = (uint64_t)st.st_size;
	r->reader.path = r->path;
	*out = &r->reader;
	return 0;

free_reader:
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	free(r);
	return err;
}

/* pread moves no offset, so that one reader serves all threads. */
int posix_pread(struct reader *reader, uint64_t offset, void *data, size_t size)
{
	struct posix_reader *r = (struct posix_reader *)reader;
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(r->fd, (uint8_t *)data + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(errno, "%s: offset %llu: cannot read",
				    r->path,
				    (unsigned long long)(offset + done));
		if (n == 0)
			return fail(EIO,
				    "%s: ends at %llu, wanted %zu bytes at "
				    "%llu",
				    r->path,
				    (unsigned long long)(offset + done), size,
				    (unsigned long long)offset);
		done += (size_t)n;
	}
	return 0;
}

void posix_reader_close(struct reader *reader)
{
	struct posix_reader *r = (struct posix_reader *)reader;

	close(r->fd);
	free(r->path);
	free(r);
}
