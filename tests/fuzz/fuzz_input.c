#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/base/buf.h"
#include "store/base/err.h"
#include "tests/fuzz/target.h"
#include "tools/input/input.h"

/* A small file may hold much. */
#define CONTENT_MAX (4 << 20)

static int read_all(const char *path, size_t size, struct buf *out)
{
	uint8_t *piece = malloc(size);
	struct input *in;
	ssize_t n = 1;
	int err = input_open(path, &in);

	while (!err && out->size < CONTENT_MAX &&
	       (n = input_read(in, piece, size)) > 0)
		MUST(buf_add(out, piece, (size_t)n) == 0);
	MUST(err == 0 && (n >= 0 || err_detail()[0]));
	input_close(in);
	free(piece);
	return n < 0;
}

/* A descriptor that has text, which comes in packets of size at the least: a
 * pipe has room for 256. */
static int packets(struct bytes text, size_t size)
{
	size_t at, n;
	int fd[2];

	if (size < text.size / 250 + 1)
		size = text.size / 250 + 1;
	MUST(pipe2(fd, O_DIRECT | O_NONBLOCK) == 0);
	MUST(fcntl(fd[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20);
	for (at = 0; at < text.size; at += n) {
		n = text.size - at < size ? text.size - at : size;
		MUST(write(fd[1], text.data + at, n) == (ssize_t)n);
	}
	close(fd[1]);
	return fd[0];
}

/* Compressed files: in what pieces they come and are read makes no difference.
 * Those that a program undoes are left to it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = bytes_of(data, size);
	struct buf whole = BUF_INIT, pieces = BUF_INIT;
	char path[32];
	int fd, failed;

	if (bytes_starts_with(text, BYTES_LITERAL("BZh")) ||
	    bytes_starts_with(text, BYTES_LITERAL("\xfd"
						  "7zXZ")) ||
	    bytes_starts_with(text, BYTES_LITERAL("\x28\xb5\x2f\xfd")))
		return 0;
	fd = memfd_create("input", 0);
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	failed = read_all(path, 1 << 20, &whole);
	close(fd);
	fd = packets(text, 1 + size % 7);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	MUST(read_all(path, 1 + size % 1000, &pieces) == failed ||
	     pieces.size >= CONTENT_MAX);
	if (whole.size > pieces.size)
		whole.size = pieces.size;
	if (pieces.size > whole.size)
		pieces.size = whole.size;
	MUST(bytes_equal(buf_bytes(&whole), buf_bytes(&pieces)));
	close(fd);
	buf_release(&whole);
	buf_release(&pieces);
	return 0;
}
