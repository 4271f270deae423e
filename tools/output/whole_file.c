#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/output/whole_file.h"

/* What is added waits until it has so many bytes. */
#define PIECE_SIZE ((size_t)64 << 10)

struct whole_file {
	int fd;
	struct stat st;
	struct buf waiting; /* owned; not written yet */
	size_t ended;       /* of waiting: up to where records are whole */
	off_t size;         /* of a regular file: what was written */
	off_t whole;        /* and up to where records are whole */
	int failed;         /* errno */
};

int whole_file_open(const char *path, struct whole_file **out)
{
	struct whole_file *f = calloc(1, sizeof(*f));
	int code;

	*out = NULL;
	if (!f)
		return -1;
	f->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (f->fd >= 0 && fstat(f->fd, &f->st) == 0) {
		f->size = f->whole = f->st.st_size;
		*out = f;
		return 0;
	}
	code = errno;
	if (f->fd >= 0)
		close(f->fd);
	free(f);
	errno = code;
	return -1;
}

void whole_file_stat(const struct whole_file *f, struct stat *out)
{
	*out = f->st;
}

static int fails(struct whole_file *f, int code)
{
	f->failed = f->failed ? f->failed : code;
	errno = f->failed;
	return -1;
}

/* Nothing stays behind size. */
static int cut(struct whole_file *f, off_t size)
{
	if (!S_ISREG(f->st.st_mode))
		return 0;
	if (ftruncate(f->fd, size) < 0)
		return fails(f, errno);
	f->size = f->whole = size;
	return 0;
}

int whole_file_empty(struct whole_file *f)
{
	return cut(f, 0);
}

/* Where the last line of a file that is open to be read ends, or -1. */
static off_t end_of_lines(int in, off_t size)
{
	char piece[4096];
	off_t end = size;
	ssize_t n;

	while (end > 0) {
		off_t at = end > (off_t)sizeof(piece)
				   ? end - (off_t)sizeof(piece)
				   : 0;

		n = pread(in, piece, (size_t)(end - at), at);
		if (n < 0)
			return -1;
		for (end = at; n > 0; n--)
			if (piece[n - 1] == '\n')
				return at + n;
	}
	return 0;
}

int whole_file_mend(struct whole_file *f, uint64_t *cut_size)
{
	char path[32];
	off_t end;
	int in, code;

	*cut_size = 0;
	if (!S_ISREG(f->st.st_mode) || f->size == 0)
		return 0;
	/* The same file, which is open only to be written. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return fails(f, errno);
	end = end_of_lines(in, f->size);
	code = errno;
	close(in);
	if (end < 0)
		return fails(f, code);
	*cut_size = (uint64_t)(f->size - end);
	return end == f->size ? 0 : cut(f, end);
}

/* Of what was taken, a record that is not whole is taken back. */
static int write_waiting(struct whole_file *f)
{
	struct bytes rest = buf_bytes(&f->waiting);
	int code;
	ssize_t n;

	if (f->failed)
		return fails(f, 0);
	while (rest.size > 0) {
		n = write(f->fd, rest.data, rest.size);
		if (n < 0 && errno != EINTR) {
			code = errno;
			cut(f, f->whole);
			return fails(f, code);
		}
		rest = bytes_after(rest, n > 0 ? (size_t)n : 0);
	}
	if (f->ended > 0)
		f->whole = f->size + (off_t)f->ended;
	f->size += (off_t)f->waiting.size;
	f->ended = 0;
	buf_reset(&f->waiting);
	return 0;
}

int whole_file_add(struct whole_file *f, struct bytes text)
{
	if (f->failed)
		return fails(f, 0);
	if (buf_add_bytes(&f->waiting, text) < 0)
		return fails(f, ENOMEM);
	return f->waiting.size < PIECE_SIZE ? 0 : write_waiting(f);
}

void whole_file_end(struct whole_file *f)
{
	f->ended = f->waiting.size;
	if (f->ended == 0)
		f->whole = f->size;
}

int whole_file_flush(struct whole_file *f)
{
	return write_waiting(f);
}

int whole_file_close(struct whole_file *f)
{
	int code;

	if (!f)
		return 0;
	f->waiting.size = f->ended;
	write_waiting(f);
	if (!f->failed && f->whole < f->size)
		cut(f, f->whole);
	if (close(f->fd) < 0)
		fails(f, errno);
	code = f->failed;
	buf_release(&f->waiting);
	free(f);
	errno = code;
	return code ? -1 : 0;
}
